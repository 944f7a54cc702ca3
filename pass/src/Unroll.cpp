#include "Unroll.h"
#include "Cost.h"
#include "LoopFacts.h"
#include "Size.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/Dominators.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/UnrollLoop.h"

using namespace llvm;

namespace caudal {

// An unrolled body is about as long as this, and has so many instructions at most.
static constexpr Cost wanted = Cost::cycles(12);
static constexpr unsigned mostCopies = 4, mostInstructions = 36;

/// Issue slots of the body, and how many instructions it has, if nothing in it speaks against copies; none otherwise.
static Cost copyable(const Loop &loop, const CostModel &costs, unsigned &instructions) {
  Cost sum = Cost::zero();
  instructions = 0;
  for (const BasicBlock *block : loop.blocks()) {
    for (const Instruction &instruction : *block) {
      if (!callsNothing(instruction) || isa<IndirectBrInst>(instruction) || instruction.getType()->isTokenTy() ||
          (instruction.isTerminator() && !isa<BranchInst, SwitchInst>(instruction)))
        return Cost::none();
      instructions += !isa<IntrinsicInst>(instruction) && !isa<PHINode>(instruction);
      if (instructions > mostInstructions)
        return Cost::none();
      sum = sum + costs.issue(instruction);
    }
  }
  return sum;
}

/// How many copies of its body the loop is to have; less than 2: it stays as it is.
static unsigned copies(Loop &loop, ScalarEvolution &scev, const TargetTransformInfo &tti, const CostModel &costs) {
  if (!loop.isInnermost() || !loop.getLoopLatch() || !loop.getLoopPreheader() || loop.getHeader()->isEHPad())
    return 0;
  unsigned instructions;
  Cost body = copyable(loop, costs, instructions);
  if (body.isNone() || scev.getSmallConstantMaxTripCount(&loop) != 0)
    return 0;
  if (LoopFacts::of(loop, scev, tti).isCounted)
    return 0;
  Cost iteration = longer(body, costs.recurrence(loop));
  if (iteration <= Cost::zero() || instructions == 0)
    return 0;
  return std::min({unsigned(wanted.inUnits() / iteration.inUnits()), mostInstructions / instructions, mostCopies});
}

bool unrollUncounted(Function &function, FunctionAnalysisManager &analyses) {
  auto &loops = analyses.getResult<LoopAnalysis>(function);
  auto &scev = analyses.getResult<ScalarEvolutionAnalysis>(function);
  auto &tti = analyses.getResult<TargetIRAnalysis>(function);
  auto &dominators = analyses.getResult<DominatorTreeAnalysis>(function);
  auto &assumptions = analyses.getResult<AssumptionAnalysis>(function);
  auto &remarks = analyses.getResult<OptimizationRemarkEmitterAnalysis>(function);
  CostModel costs(tti, loops);
  bool changed = false;
  SmallVector<Loop *, 16> all(loops.getLoopsInPreorder());
  erase_if(all, [&](const Loop *loop) { return isToBeSmall(*loop->getHeader(), analyses); });
  for (Loop *loop : all) {
    unsigned count = copies(*loop, scev, tti, costs);
    if (count < 2)
      continue;
    changed |= simplifyLoop(loop, &dominators, &loops, &scev, &assumptions, nullptr, /*PreserveLCSSA=*/false);
    changed |= formLCSSARecursively(*loop, dominators, &loops, &scev);
    UnrollLoopOptions options{};
    options.Count = count;
    options.Force = true;
    LoopUnrollResult result = UnrollLoop(loop, options, &loops, &scev, &dominators, &assumptions, &tti, &remarks,
                                         /*PreserveLCSSA=*/true);
    changed |= result != LoopUnrollResult::Unmodified;
  }
  return changed;
}

} // namespace caudal
