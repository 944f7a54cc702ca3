#include "OwnSteps.h"
#include "Probe.h"
#include "StripMine.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
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

/// Whether an address that moves by `step` in each iteration of `loop` can be had from what the loop counts by: x86 multiplies by
/// 1, 2, 4 and 8 in an address.
static bool isFollowed(const SCEV *step, const Loop &loop, ScalarEvolution &scev) {
  return any_of(loop.getHeader()->phis(), [&](PHINode &phi) {
    if (!scev.isSCEVable(phi.getType()))
      return false;
    const auto *counter = dyn_cast<SCEVAddRecExpr>(scev.getSCEV(&phi));
    if (!counter || counter->getLoop() != &loop)
      return false;
    if (counter->getStepRecurrence(scev) == step)
      return true;
    const auto *each = dyn_cast<SCEVConstant>(counter->getStepRecurrence(scev)), *bytes = dyn_cast<SCEVConstant>(step);
    return each && bytes && any_of(ArrayRef<int64_t>{1, 2, 4, 8}, [&](int64_t scale) {
      return each->getAPInt().getSExtValue() * scale == bytes->getAPInt().getSExtValue();
    });
  });
}

/// Loops in which an address is computed by more than what it counts by, a multiplication or a shift: strength reduction spares that
/// (the transform of `pass/bench/programs/fft.c` takes 6 points more time without).
static SmallPtrSet<const Loop *, 8> reducible(const Function &function, const LoopInfo &loops, ScalarEvolution &scev) {
  SmallPtrSet<const Loop *, 8> found;
  for (const BasicBlock &block : function) {
    if (!loops.getLoopFor(&block))
      continue;
    for (const Instruction &instruction : block) {
      const Value *place = getLoadStorePointerOperand(&instruction);
      if (!place)
        continue;
      const auto *steps = dyn_cast<SCEVAddRecExpr>(scev.getSCEV(const_cast<Value *>(place)));
      for (; steps; steps = dyn_cast<SCEVAddRecExpr>(steps->getStart()))
        if (!isFollowed(steps->getStepRecurrence(scev), *steps->getLoop(), scev))
          found.insert(steps->getLoop());
    }
  }
  return found;
}

/// Gives `value` another name for all who use it.
static void rename(Instruction &value) {
  auto *renamed = new FreezeInst(&value, value.getName() + ".own", std::next(value.getIterator()));
  renamed->setDebugLoc(value.getDebugLoc());
  value.replaceUsesWithIf(renamed, [&](const Use &use) { return use.getUser() != renamed; });
}

void keepOwnSteps(Function &function, FunctionAnalysisManager &analyses) {
  ScalarEvolution &scev = analyses.getResult<ScalarEvolutionAnalysis>(function);
  const LoopInfo &loops = analyses.getResult<LoopAnalysis>(function);
  const SmallPtrSet<const Loop *, 8> leftAlone = reducible(function, loops, scev);
  SmallSetVector<Instruction *, 16> values;
  for (Loop *loop : loops.getLoopsInPreorder()) {
    if (Instruction *end = takeStripEnd(*loop))
      values.insert(end);
    if (!loop->getLoopLatch() || leftAlone.contains(loop))
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
