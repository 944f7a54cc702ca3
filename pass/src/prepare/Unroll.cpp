// Copies the bodies of short loops, so that several iterations share one jump. Bounded.cpp calls it for each function before it is
// planned, as the last of the preparations. It changes the function. See Unroll.h.
#include "prepare/Unroll.h"
#include "analysis/Cost.h"
#include "analysis/LoopFacts.h"
#include "analysis/Size.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/Dominators.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/UnrollLoop.h"

using namespace llvm;

namespace caudal {

// An unrolled body is about as long as this.
static constexpr Cost wanted = Cost::cycles(12);
// Longer iterations of a counted loop hardly feel a probe each.
static constexpr Cost shortestCounted = Cost::cycles(3), longestCounted = Cost::cycles(5);
// Most copies need no exit there.
static constexpr unsigned mostCopies = 4, mostOfCounted = 56;
// Without a count each copy has its own exits, and more than one copy more seldom brings anything.
static constexpr unsigned mostUncounted = 2, mostInstructions = 24;

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
      if (instructions > mostOfCounted)
        return Cost::none();
      sum = sum + costs.issue(instruction);
    }
  }
  return sum;
}

/// Whether the loop is one piece of code, for which nothing has to be done.
static bool isShort(Cost iteration, unsigned trips, const Limits &limits) {
  return iteration.inUnits() * trips <= limits.bound.inUnits() * 3 / 4;
}

/// Whether loads and stores, and not what can be begun in a cycle, decide how long an iteration takes: there is room for a probe then.
/// Where vectors are computed not enough is known. `instructions`: how many the loop has.
static bool isBoundByMemory(const Loop &loop, unsigned instructions) {
  unsigned accesses = 0;
  for (const BasicBlock *block : loop.blocks())
    for (const Instruction &instruction : *block) {
      if (instruction.getType()->isVectorTy())
        return false;
      accesses += instruction.mayReadOrWriteMemory();
    }
  return 3 * accesses > instructions;
}

/// Whether a probe in each iteration would make the loop a good deal slower. It would not if iterations wait for the one before: then there
/// is time for a probe. The number of iterations has to be a constant: otherwise another loop would be needed for the rest at the end.
/// Copies of shorter iterations were never measured. `body` is the cost of all branches of the body, which is more than its longest path, by
/// which the planner goes.
static bool feelsProbes(const LoopFacts &facts, unsigned trips, Cost body, Cost recurrence, const Limits &limits) {
  return facts.isCounted && trips != 0 && body >= shortestCounted && body <= longestCounted && body > recurrence &&
         !isShort(body, trips, limits);
}

/// The largest number of copies, up to `most`, that divides `trips`, because the exit is at the latch then; `most` if only 1 does.
static unsigned divisor(unsigned trips, unsigned most) {
  for (unsigned copies = most; copies > 1; copies--)
    if (trips % copies == 0)
      return copies;
  return most;
}

/// The number of copies of its body that the loop is to have; the loop stays as it is if that is less than 2.
static unsigned copies(Loop &loop, ScalarEvolution &scev, const TargetTransformInfo &tti, const CostModel &costs,
                       const Limits &limits, const Options &options) {
  if (!loop.isInnermost() || !loop.getLoopLatch() || !loop.getLoopPreheader() || loop.getHeader()->isEHPad())
    return 0;
  unsigned instructions;
  Cost body = copyable(loop, costs, instructions);
  Cost recurrence = costs.recurrence(loop), iteration = longer(body, recurrence);
  if (body.isNone() || iteration <= Cost::zero() || instructions == 0)
    return 0;
  LoopFacts facts = LoopFacts::of(loop, scev, tti);
  auto most = [&](unsigned copiesAtMost, unsigned instructionsAtMost) {
    return std::min({unsigned(wanted.inUnits() / iteration.inUnits()), copiesAtMost, instructionsAtMost / instructions});
  };
  unsigned trips = scev.getSmallConstantTripCount(&loop);
  if (options.does(Step::UnrollCounted) && feelsProbes(facts, trips, body, recurrence, limits) && !isBoundByMemory(loop, instructions))
    return divisor(trips, most(mostCopies, mostOfCounted));
  // The longest path through a body with branches may be half of it.
  unsigned atMost = scev.getSmallConstantMaxTripCount(&loop);
  if (!options.does(Step::UnrollUncounted) || facts.isCounted || isSearch(loop) || (atMost != 0 && isShort(iteration, (atMost + 1) / 2, limits)))
    return 0;
  return most(mostUncounted, mostInstructions);
}

bool unrollLoops(Function &function, FunctionAnalysisManager &analyses, const Limits &limits, const Options &options) {
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
    unsigned count = copies(*loop, scev, tti, costs, limits, options);
    if (count < 2)
      continue;
    changed |= simplifyLoop(loop, &dominators, &loops, &scev, &assumptions, nullptr, /*PreserveLCSSA=*/false);
    changed |= formLCSSARecursively(*loop, dominators, &loops, &scev);
    UnrollLoopOptions options{};
    options.Count = count;
    options.Force = true;
    LoopUnrollResult result = UnrollLoop(loop, options, &loops, &scev, &dominators, &assumptions, &tti, &remarks,
                                         /*PreserveLCSSA=*/false); // the loops around it need not be in that form
    changed |= result != LoopUnrollResult::Unmodified;
  }
  return changed;
}

} // namespace caudal
