#include "ShortLoops.h"
#include "Cost.h"
#include "LoopFacts.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace caudal {

// Quicker iterations are cut into strips; in slower ones a probe is little. A short loop takes so long at most.
static constexpr Cost shortest = Cost::cycles(3), longest = Cost::cycles(6), whole = Cost::cycles(55);
static constexpr unsigned fewest = 4, mostInstructions = 20;

namespace {

struct Candidate {
  Loop *loop;
  LoopFacts facts;
  uint64_t trips; ///< of the short version at most
};

} // namespace

/// Issue slots of the body; none: it is not to be copied.
static Cost bodyOf(const Loop &loop, const CostModel &costs) {
  Cost sum = Cost::zero();
  unsigned instructions = 0;
  for (const BasicBlock *block : loop.blocks())
    for (const Instruction &instruction : *block) {
      if (!callsNothing(instruction) || isa<NoAliasScopeDeclInst>(instruction) || instruction.getType()->isTokenTy())
        return Cost::none();
      instructions += !isa<IntrinsicInst>(instruction) && !isa<PHINode>(instruction);
      sum = sum + costs.issue(instruction);
    }
  return instructions > mostInstructions ? Cost::none() : sum;
}

/// Iterations that the short version of `loop` has at most; 0: it gets none.
static uint64_t shortTrips(Loop &loop, const LoopFacts &facts, const CostModel &costs) {
  if (!loop.isInnermost() || !loop.getParentLoop() || !loop.hasDedicatedExits() || !facts.isCounted || facts.mostTrips != 0)
    return 0;
  Cost body = bodyOf(loop, costs);
  if (body.isNone())
    return 0;
  Cost iteration = longer(body, costs.recurrence(loop));
  if (iteration < shortest || iteration >= longest)
    return 0;
  uint64_t trips = uint64_t(whole.inUnits() / iteration.inUnits());
  return trips < fewest ? 0 : trips;
}

/// How far the loop's tested value goes, as a number in front of it.
static Value *distance(const Candidate &candidate, ScalarEvolution &scev, Instruction *at) {
  const auto *tested = cast<SCEVAddRecExpr>(scev.getSCEV(candidate.facts.tested));
  SCEVExpander expander(scev, "caudal.count");
  IRBuilder<> builder(at);
  auto number = [&](const SCEV *value) {
    Value *expanded = expander.expandCodeFor(value, candidate.facts.tested->getType(), at);
    return expanded->getType()->isPointerTy() ? builder.CreatePtrToInt(expanded, builder.getInt64Ty()) : expanded;
  };
  Value *first = number(tested->getStart()), *last = number(candidate.facts.testedLast);
  return candidate.facts.step > 0 ? builder.CreateSub(last, first) : builder.CreateSub(first, last);
}

/// Puts a copy of the loop, its preheader included, beside it; returns the copy's preheader, to which nothing leads yet.
static BasicBlock *copyBeside(Loop &loop, BasicBlock *choice, LoopInfo &loops, DominatorTree &dominators) {
  BasicBlock *preheader = loop.getLoopPreheader(), *exit = loop.getExitBlock(), *latch = loop.getLoopLatch();
  ValueToValueMapTy values;
  SmallVector<BasicBlock *, 4> blocks;
  cloneLoopWithPreheader(exit, choice, &loop, values, ".long", &loops, &dominators, blocks);
  remapInstructionsInBlocks(blocks, values);
  for (PHINode &phi : exit->phis()) {
    Value *value = phi.getIncomingValueForBlock(latch), *copied = values.lookup(value);
    phi.addIncoming(copied ? copied : value, cast<BasicBlock>(values[latch]));
  }
  return cast<BasicBlock>(values[preheader]);
}

static void version(const Candidate &candidate, LoopInfo &loops, DominatorTree &dominators, ScalarEvolution &scev) {
  Loop &loop = *candidate.loop;
  formLCSSA(loop, dominators, &loops, &scev);
  BasicBlock *choice = loop.getLoopPreheader(), *latch = loop.getLoopLatch();
  Value *left = distance(candidate, scev, choice->getTerminator());
  BasicBlock *preheader = SplitBlock(choice, choice->getTerminator(), &dominators, &loops);
  BasicBlock *copy = copyBeside(loop, choice, loops, dominators);

  MDBuilder weights(choice->getContext());
  IRBuilder<> builder(choice->getTerminator());
  builder.SetCurrentDebugLocation(latch->getTerminator()->getDebugLoc());
  uint64_t farthest = uint64_t(std::abs(candidate.facts.step)) * (candidate.trips - 1);
  Value *isLong = builder.CreateICmpUGT(left, ConstantInt::get(left->getType(), farthest), "caudal.long");
  // Not so seldom that code generation neglects it.
  builder.CreateCondBr(isLong, copy, preheader, weights.createBranchWeights(1, 4));
  choice->getTerminator()->eraseFromParent();
  // What is short is taken to be half as long as it may be.
  bool again = latch->getTerminator()->getSuccessor(0) == loop.getHeader();
  auto back = uint32_t(candidate.trips / 2 - 1);
  latch->getTerminator()->setMetadata(LLVMContext::MD_prof, weights.createBranchWeights(again ? back : 1, again ? 1 : back));
}

bool versionShortLoops(Function &function, FunctionAnalysisManager &analyses) {
  auto &loops = analyses.getResult<LoopAnalysis>(function);
  auto &dominators = analyses.getResult<DominatorTreeAnalysis>(function);
  auto &scev = analyses.getResult<ScalarEvolutionAnalysis>(function);
  auto &tti = analyses.getResult<TargetIRAnalysis>(function);
  CostModel costs(tti, loops);
  SmallVector<Candidate, 4> found;
  for (Loop *loop : loops.getLoopsInPreorder()) {
    LoopFacts facts = LoopFacts::of(*loop, scev, tti);
    if (uint64_t trips = shortTrips(*loop, facts, costs))
      found.push_back({loop, facts, trips});
  }
  for (const Candidate &candidate : found)
    version(candidate, loops, dominators, scev);
  return !found.empty();
}

} // namespace caudal
