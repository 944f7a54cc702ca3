#include "ShortLoops.h"
#include "Compat.h"
#include "Cost.h"
#include "LoopFacts.h"
#include "Size.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace caudal {

// Quicker iterations are cut into strips; in slower ones a probe is little, but in sums that wait for themselves.
static constexpr Cost shortest = Cost::cycles(3), longest = Cost::cycles(6), longestWait = Cost::cycles(9);
// A sum's are few for how long it waits: a row of a sparse matrix times a vector, unrolled by two, has 23.
static constexpr unsigned fewest = 4, mostInstructions = 20, mostOfSum = 24;

/// Marks the jump back of the other version, and names what chooses it.
static constexpr const char *longName = "caudal.long";

/// What a short loop takes at most: with what is around it, it is to stay within the bound.
static Cost whole(const Limits &limits) { return Cost::units(limits.bound.inUnits() * 11 / 50); }

namespace {

struct Candidate {
  Loop *loop;
  LoopFacts facts;
  uint64_t trips;         ///< of the short version at most
  Value *last = nullptr;  ///< the last value that the latch tests
  Value *left = nullptr;  ///< how far it is to there, as a number
};

/// The body of a loop that may be copied.
struct Body {
  Cost issue;                ///< its slots; none: it may not be
  unsigned instructions = 0; ///< that become some
};

} // namespace

static Body bodyOf(const Loop &loop, const CostModel &costs) {
  Body body = {Cost::zero()};
  for (const BasicBlock *block : loop.blocks()) {
    if (block->hasAddressTaken())
      return {};
    for (const Instruction &instruction : *block) {
      if (!callsNothing(instruction) || isa<NoAliasScopeDeclInst, IndirectBrInst>(instruction) ||
          instruction.getType()->isTokenTy())
        return {};
      body.instructions += !isa<IntrinsicInst>(instruction) && !isa<PHINode>(instruction);
      body.issue = body.issue + costs.issue(instruction);
    }
  }
  return body;
}

static bool isInduction(const PHINode &phi, ScalarEvolution &scev) {
  return scev.isSCEVable(phi.getType()) && isa<SCEVAddRecExpr>(scev.getSCEV(const_cast<PHINode *>(&phi)));
}

/// Whether `value`, in front of a loop of `around`, is made of what `around` hands from one iteration to the next, inductions aside.
/// What is loaded is not, wherever from.
static bool isCarried(const Value *value, const Loop &around, ScalarEvolution &scev, unsigned depth = 8) {
  const auto *instruction = dyn_cast<Instruction>(value);
  if (!instruction || !around.contains(instruction) || isa<LoadInst>(instruction))
    return false;
  if (const auto *phi = dyn_cast<PHINode>(instruction); phi && phi->getParent() == around.getHeader())
    return !isInduction(*phi, scev);
  return depth == 0 ||
         any_of(instruction->operands(), [&](const Value *operand) { return isCarried(operand, around, scev, depth - 1); });
}

/// Whether what iterations hand on begins anew each time that the loop is entered, as a sum does, and is no walk along pointers: then
/// what is around short ones goes on beside them, and a probe in each iteration is not little, however long they wait for each other.
static bool isSum(const Loop &loop, const CostModel &costs, ScalarEvolution &scev) {
  SmallPtrSet<const Instruction *, 16> walks;
  costs.addWalks(loop, walks);
  return walks.empty() && none_of(loop.getHeader()->phis(), [&](const PHINode &phi) {
           return !isInduction(phi, scev) &&
                  isCarried(phi.getIncomingValueForBlock(loop.getLoopPreheader()), *loop.getParentLoop(), scev);
         });
}

/// Iterations that the short version of `loop` has at most; 0: it gets none.
static uint64_t shortTrips(Loop &loop, const LoopFacts &facts, const CostModel &costs, ScalarEvolution &scev,
                           const Limits &limits) {
  if (!loop.isInnermost() || !loop.getParentLoop() || !loop.hasDedicatedExits() || !facts.isCounted)
    return 0;
  // Of a constant number it is known by now whether it is short.
  if (scev.getSmallConstantTripCount(&loop))
    return 0;
  Body body = bodyOf(loop, costs);
  if (body.issue.isNone() || body.instructions > mostOfSum || body.issue >= longest)
    return 0;
  Cost iteration = longer(body.issue, costs.recurrence(loop));
  if (iteration < shortest || iteration > longestWait)
    return 0;
  bool isLong = iteration >= longest;
  if (isLong ? !isSum(loop, costs, scev) : body.instructions > mostInstructions)
    return 0;
  uint64_t trips = uint64_t(whole(limits).inUnits() / iteration.inUnits());
  bool isShort = facts.mostTrips != 0 && facts.mostTrips <= trips;
  return trips < fewest || isShort ? 0 : trips;
}

bool isLongVersion(const Loop &loop) {
  const BasicBlock *latch = loop.getLoopLatch();
  return latch && latch->getTerminator()->hasMetadata(longName);
}

void forgetLongVersions(Function &function) {
  for (BasicBlock &block : function)
    block.getTerminator()->setMetadata(longName, nullptr);
}

static uint64_t farthest(const Candidate &candidate) {
  return uint64_t(std::abs(candidate.facts.step)) * (candidate.trips - 1);
}

/// Computes in front of the loop where it ends and how far that is, while nothing has changed yet.
static void prepare(Candidate &candidate, ScalarEvolution &scev) {
  Instruction *at = candidate.loop->getLoopPreheader()->getTerminator();
  const SCEV *start = cast<SCEVAddRecExpr>(scev.getSCEV(candidate.facts.tested))->getStart();
  SCEVExpander expander = expanderOf(scev, "caudal.count", /*closed=*/true);
  IRBuilder<> builder(at);
  Type *type = candidate.facts.tested->getType();
  auto number = [&](Value *value) {
    return type->isPointerTy() ? builder.CreatePtrToInt(value, builder.getIntNTy(unsigned(scev.getTypeSizeInBits(type)))) : value;
  };
  candidate.last = expander.expandCodeFor(candidate.facts.testedLast, type, at);
  Value *first = number(expander.expandCodeFor(start, type, at)), *last = number(candidate.last);
  candidate.left = candidate.facts.step > 0 ? builder.CreateSub(last, first) : builder.CreateSub(first, last);
}

/// Puts a copy of the loop, its preheader included, beside it. Nothing leads to the copy's preheader yet.
static Loop &copyBeside(Loop &loop, BasicBlock *choice, LoopInfo &loops, DominatorTree &dominators) {
  BasicBlock *exit = loop.getExitBlock(), *latch = loop.getLoopLatch();
  ValueToValueMapTy values;
  SmallVector<BasicBlock *, 4> blocks;
  Loop *copied = cloneLoopWithPreheader(exit, choice, &loop, values, ".long", &loops, &dominators, blocks);
  remapInstructionsInBlocks(blocks, values);
  for (PHINode &phi : exit->phis()) {
    Value *value = phi.getIncomingValueForBlock(latch), *other = values.lookup(value);
    phi.addIncoming(other ? other : value, cast<BasicBlock>(values[latch]));
  }
  return *copied;
}

/// The latch leaves the short version at its last value, as the planner and the verifier count it, and is taken to do so after
/// half as many iterations as there may be.
static void leaveAtLast(const Candidate &candidate) {
  Loop &loop = *candidate.loop;
  auto *branch = cast<BranchInst>(loop.getLoopLatch()->getTerminator());
  WeakTrackingVH replaced = branch->getCondition();
  IRBuilder<> builder(branch);
  BasicBlock *exit = loop.getExitBlock();
  branch->setCondition(builder.CreateICmpEQ(candidate.facts.tested, candidate.last));
  branch->setSuccessor(0, exit);
  branch->setSuccessor(1, loop.getHeader());
  branch->setMetadata(LLVMContext::MD_prof,
                      MDBuilder(branch->getContext()).createBranchWeights(1, uint32_t(candidate.trips / 2 - 1)));
  if (replaced)
    RecursivelyDeleteTriviallyDeadInstructions(replaced);
}

static void version(const Candidate &candidate, LoopInfo &loops, DominatorTree &dominators) {
  Loop &loop = *candidate.loop;
  BasicBlock *choice = loop.getLoopPreheader();
  BasicBlock *preheader = SplitBlock(choice, choice->getTerminator(), &dominators, &loops);
  Loop &copy = copyBeside(loop, choice, loops, dominators);
  dominators.changeImmediateDominator(loop.getExitBlock(), choice);
  copy.getLoopLatch()->getTerminator()->setMetadata(longName, MDNode::get(choice->getContext(), {}));
  leaveAtLast(candidate);

  IRBuilder<> builder(choice->getTerminator());
  builder.SetCurrentDebugLocation(loop.getLoopLatch()->getTerminator()->getDebugLoc());
  Constant *most = ConstantInt::get(candidate.left->getType(), farthest(candidate));
  // Not so seldom that code generation neglects it.
  MDNode *weights = MDBuilder(choice->getContext()).createBranchWeights(1, 4);
  builder.CreateCondBr(builder.CreateICmpUGT(candidate.left, most, longName), copy.getLoopPreheader(), preheader,
                       weights);
  choice->getTerminator()->eraseFromParent();
}

bool versionShortLoops(Function &function, FunctionAnalysisManager &analyses, const Limits &limits) {
  auto &loops = analyses.getResult<LoopAnalysis>(function);
  auto &dominators = analyses.getResult<DominatorTreeAnalysis>(function);
  auto &scev = analyses.getResult<ScalarEvolutionAnalysis>(function);
  auto &tti = analyses.getResult<TargetIRAnalysis>(function);
  CostModel costs(tti, loops);
  SmallVector<Candidate, 4> found;
  for (Loop *loop : loops.getLoopsInPreorder()) {
    LoopFacts facts = LoopFacts::of(*loop, scev, tti);
    if (uint64_t trips = shortTrips(*loop, facts, costs, scev, limits); trips && !isToBeSmall(*loop->getHeader(), analyses))
      found.push_back({loop, facts, trips});
  }
  erase_if(found, [&](const Candidate &candidate) {
    return !isUIntN(unsigned(scev.getTypeSizeInBits(candidate.facts.tested->getType())), farthest(candidate));
  });
  // What one begins with may be what another ends with: all is computed while there is one way out of each.
  for (const Candidate &candidate : found)
    formLCSSA(*candidate.loop, dominators, &loops, &scev);
  for (Candidate &candidate : found)
    prepare(candidate, scev);
  for (const Candidate &candidate : found)
    version(candidate, loops, dominators);
  return !found.empty();
}

} // namespace caudal
