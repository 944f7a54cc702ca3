#include "OwnSteps.h"
#include "Probe.h"
#include "StripMine.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace caudal {

/// What `phi` of `loop`'s header is in the next iteration, if it goes on by steps.
static Instruction *nextOf(PHINode &phi, const Loop &loop, ScalarEvolution &scev) {
  if (!scev.isSCEVable(phi.getType()) || !isa<SCEVAddRecExpr>(scev.getSCEV(&phi)))
    return nullptr;
  auto *next = dyn_cast<Instruction>(phi.getIncomingValueForBlock(loop.getLoopLatch()));
  return next && !isa<PHINode>(next) && loop.contains(next) ? next : nullptr;
}

/// Gives `value` another name for all who use it.
static void rename(Instruction &value) {
  auto *renamed = new FreezeInst(&value, value.getName() + ".own", std::next(value.getIterator()));
  renamed->setDebugLoc(value.getDebugLoc());
  value.replaceUsesWithIf(renamed, [&](const Use &use) { return use.getUser() != renamed; });
}

void keepOwnSteps(Function &function, FunctionAnalysisManager &analyses) {
  ScalarEvolution &scev = analyses.getResult<ScalarEvolutionAnalysis>(function);
  SmallSetVector<Instruction *, 16> values;
  for (Loop *loop : analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder()) {
    if (Instruction *end = takeStripEnd(*loop))
      values.insert(end);
    if (!loop->getLoopLatch())
      continue;
    if (any_of(loop->blocks(), [](const BasicBlock *block) { return any_of(*block, isInlineProbe); }))
      for (PHINode &phi : loop->getHeader()->phis())
        if (Instruction *next = nextOf(phi, *loop, scev))
          values.insert(next);
  }
  for (Instruction *value : values)
    rename(*value);
}

} // namespace caudal
