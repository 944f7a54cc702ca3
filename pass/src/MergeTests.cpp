#include "MergeTests.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"

using namespace llvm;

namespace caudal {

namespace {

/// A latch that ends in a probe and the loop's own test.
struct Latch {
  CallInst *probe = nullptr;
  ICmpInst *test = nullptr;
  BranchInst *jump = nullptr;
  BasicBlock *header = nullptr;
};

} // namespace

/// The loop's latch, if it ends in a carried probe and the loop's test, with nothing in between; else without a probe.
static Latch latchOf(const Loop &loop) {
  BasicBlock *block = loop.getLoopLatch();
  auto *jump = block ? dyn_cast<BranchInst>(block->getTerminator()) : nullptr;
  if (!jump || !jump->isConditional() || !loop.isLoopExiting(block))
    return {};
  auto *test = dyn_cast<ICmpInst>(jump->getCondition());
  if (!test || !test->hasOneUse() || test->getParent() != block)
    return {};
  for (Instruction *before = jump->getPrevNode(); before; before = before->getPrevNode()) {
    if (isInlineProbe(*before) && ProbeWriter::isCarried(cast<CallInst>(*before)))
      return {cast<CallInst>(before), test, jump, loop.getHeader()};
    if (before != test && !before->isDebugOrPseudoInst())
      return {};
  }
  return {};
}

/// The block that is left for when something is due, or the loop has ended, or both: a probe, and the loop's own test.
static BasicBlock *lookBlock(const Latch &latch) {
  BasicBlock *block = latch.jump->getParent();
  BasicBlock *look =
      BasicBlock::Create(block->getContext(), block->getName() + ".look", block->getParent(), block->getNextNode());
  Instruction *test = latch.test->clone(), *jump = latch.jump->clone();
  test->insertInto(look, look->end());
  jump->insertInto(look, look->end());
  cast<BranchInst>(jump)->setCondition(test);
  jump->setMetadata(LLVMContext::MD_prof, nullptr);
  return look;
}

/// The latch's own jump: to the header as long as the loop goes on and there is something left.
static void jumpUnlessDue(const Latch &latch, Value *left, BasicBlock *look, bool again) {
  IRBuilder<> builder(latch.jump);
  Constant *due = ConstantInt::getAllOnesValue(left->getType());
  auto *chosen = SelectInst::Create(latch.test, again ? left : due, again ? due : left, "caudal.left", latch.jump->getIterator());
  chosen->setDebugLoc(latch.jump->getDebugLoc());
  // Else code generation may make two jumps of it again.
  chosen->setMetadata(LLVMContext::MD_unpredictable, MDNode::get(left->getContext(), {}));
  Value *isDue = builder.CreateICmpSLT(chosen, ConstantInt::get(left->getType(), 0), "caudal.due");
  BranchInst *merged = builder.CreateCondBr(isDue, look, latch.header);
  merged->setMetadata(LLVMContext::MD_prof, latch.jump->getMetadata(LLVMContext::MD_prof));
  if (again)
    merged->swapProfMetadata();
}

static void merge(const Latch &latch, ProbeWriter &writer) {
  BasicBlock *block = latch.jump->getParent();
  bool again = latch.jump->getSuccessor(0) == latch.header; // what the test says when the loop goes on
  BasicBlock *exit = latch.jump->getSuccessor(again ? 1 : 0);
  BasicBlock *look = lookBlock(latch);
  CallInst *left = writer.spendOnly(latch.probe);
  CallInst *looked = writer.lookAt(left, &look->front());
  jumpUnlessDue(latch, left, look, again);

  for (PHINode &phi : latch.header->phis()) {
    int from = phi.getBasicBlockIndex(block);
    bool isLeft = phi.getIncomingValue(from) == latch.probe;
    phi.addIncoming(isLeft ? looked : phi.getIncomingValue(from), look);
    if (isLeft)
      phi.setIncomingValue(from, left);
  }
  for (PHINode &phi : exit->phis())
    phi.setIncomingBlock(phi.getBasicBlockIndex(block), look);
  latch.jump->eraseFromParent();
  latch.probe->replaceAllUsesWith(looked); // all others are behind the loop
  latch.probe->eraseFromParent();
}

/// Whether `count` is `most` at most by what it is made of alone: its parts may have any value of their types.
static bool isLimited(const SCEV *count, unsigned most) {
  if (const auto *wide = dyn_cast<SCEVZeroExtendExpr>(count)) {
    unsigned bits = wide->getOperand()->getType()->getIntegerBitWidth();
    return (bits < 32 && most >= (1u << bits) - 1) || isLimited(wide->getOperand(), most);
  }
  if (const auto *same = dyn_cast<SCEVCastExpr>(count))
    return isLimited(same->getOperand(), most);
  if (const auto *part = dyn_cast<SCEVUDivExpr>(count))
    return isLimited(part->getLHS(), most);
  if (const auto *sum = dyn_cast<SCEVAddExpr>(count))
    return sum->getNumOperands() == 2 && isa<SCEVConstant>(sum->getOperand(0)) && isLimited(sum->getOperand(1), most);
  if (const auto *least = dyn_cast<SCEVUMinExpr>(count))
    return any_of(least->operands(), [&](const SCEV *one) { return isLimited(one, most); });
  return isa<SCEVConstant>(count);
}

/// Whether `count` is made of what changes from one iteration of a loop to the next: how large that gets, only that loop's count
/// may say.
static bool hasRecurrence(const SCEV *count) {
  return SCEVExprContains(count, [](const SCEV *part) {
    const auto *unknown = dyn_cast<SCEVUnknown>(part);
    return isa<SCEVAddRecExpr>(part) || (unknown && isa<PHINode>(unknown->getValue()));
  });
}

/// Whether `loop` may be within the bound because of how often another loop goes around: that a merged test does not say.
static bool leansOnOthers(const Loop &loop, ScalarEvolution &scev, const Limits &limits) {
  unsigned most = scev.getSmallConstantMaxTripCount(&loop);
  if (most == 0 || most > limits.bound.inUnits())
    return false;
  for (const BasicBlock *block : {loop.getHeader(), loop.getLoopLatch()})
    if (block && any_of(*block, isInlineProbe))
      return false;
  SmallVector<BasicBlock *, 4> leaving;
  loop.getExitingBlocks(leaving);
  return none_of(leaving, [&](BasicBlock *block) {
    const SCEV *count = scev.getExitCount(&loop, block);
    return !isa<SCEVCouldNotCompute>(count) && (isLimited(count, most) || !hasRecurrence(count));
  });
}

void mergeTests(Function &function, FunctionAnalysisManager &analyses, ProbeWriter &writer, const Limits &limits,
                const Headers &borrowing) {
  LoopInfo &loops = analyses.getResult<LoopAnalysis>(function);
  SmallVector<Latch, 4> found;
  for (const Loop *loop : loops.getLoopsInPreorder()) {
    // An innermost loop is mostly left after a few iterations, and its jumps are few: what a look takes at its end is more. One
    // that borrows is expected to be short, too: as long as it is, the jump of its probe is never taken.
    if (loop->isInnermost() || borrowing.contains(loop->getHeader()))
      continue;
    if (Latch latch = latchOf(*loop); latch.probe)
      found.push_back(latch);
  }
  if (found.empty())
    return;
  ScalarEvolution &scev = analyses.getResult<ScalarEvolutionAnalysis>(function);
  if (any_of(loops.getLoopsInPreorder(), [&](const Loop *loop) { return leansOnOthers(*loop, scev, limits); }))
    return;
  for (const Latch &latch : found)
    merge(latch, writer);
}

} // namespace caudal
