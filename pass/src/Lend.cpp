#include "Lend.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace caudal {

/// In units of the budget. The most that x86-64 adds with an immediate value of one byte.
static constexpr int64_t lent = 128;

bool mayBorrow(const Loop &loop, ScalarEvolution &scev) {
  return loop.getParentLoop() && isa<SCEVCouldNotCompute>(scev.getBackedgeTakenCount(&loop));
}

/// Whether `loop` has a probe within, and the loop around it one of its own.
static bool hasProbeAround(const Loop &loop, ArrayRef<const BasicBlock *> probed, const LoopInfo &loops) {
  return any_of(probed, [&](const BasicBlock *block) { return loop.contains(block); }) &&
         any_of(probed, [&](const BasicBlock *block) { return loops.getLoopFor(block) == loop.getParentLoop(); });
}

static void add(AllocaInst &left, Instruction *before, int64_t units) {
  IRBuilder<> builder(before);
  Type *type = left.getAllocatedType();
  Value *sum = builder.CreateAdd(builder.CreateLoad(type, &left), ConstantInt::getSigned(type, units));
  builder.CreateStore(sum, &left);
}

/// Nothing gets to `block`, or by unwinding.
static bool isNoWayOn(BasicBlock &block) {
  return block.isEHPad() || isa<UnreachableInst>(*block.getFirstNonPHIOrDbg());
}

void lendToInnerLoops(Loop &nest, AllocaInst &left, ArrayRef<const BasicBlock *> probed, DominatorTree &dominators,
                      LoopInfo &loops, ScalarEvolution &scev) {
  SmallVector<Loop *, 8> borrowing;
  for (Loop *loop : nest.getLoopsInPreorder())
    if (mayBorrow(*loop, scev) && hasProbeAround(*loop, probed, loops))
      borrowing.push_back(loop);
  for (Loop *loop : borrowing) {
    if (!loop->getLoopPreheader())
      InsertPreheaderForLoop(loop, &dominators, &loops, nullptr, /*PreserveLCSSA=*/false);
    formDedicatedExitBlocks(loop, &dominators, &loops, nullptr, /*PreserveLCSSA=*/false);
  }
  for (Loop *loop : borrowing) {
    if (!loop->getLoopPreheader() || !loop->hasDedicatedExits())
      continue;
    add(left, loop->getLoopPreheader()->getTerminator(), lent);
    // In front of what has been put there: behind `nest`, what is left goes back to its place.
    SmallVector<BasicBlock *, 8> exits;
    loop->getUniqueExitBlocks(exits);
    for (BasicBlock *exit : exits)
      if (!isNoWayOn(*exit))
        add(left, &*exit->getFirstInsertionPt(), -lent);
  }
}

} // namespace caudal
