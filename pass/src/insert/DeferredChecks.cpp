// Lends an inner loop some of the budget, so that the loop around it notices first that the quantum is over. Called by
// BudgetInLoops.cpp; BudgetVariable.cpp takes account of what is lent. See DeferredChecks.h.
#include "insert/DeferredChecks.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace caudal {

/// To each loop, in units of the budget: the most that x86-64 adds with an immediate value of one byte.
static constexpr int64_t lentUnits = 128;

bool isReturnOf(const BasicBlock &block, ArrayRef<CallBase *> calls) {
  return any_of(calls, [&](const CallBase *call) {
    const auto *invoke = dyn_cast<InvokeInst>(call);
    return invoke && invoke->getNormalDest() == &block && block.getSinglePredecessor();
  });
}

/// Whether `loop` has a probe within, and the loop around it one of its own.
static bool hasProbeAround(const Loop &loop, ArrayRef<const BasicBlock *> probed, const LoopInfo &loops) {
  return any_of(probed, [&](const BasicBlock *block) { return loop.contains(block); }) &&
         any_of(probed, [&](const BasicBlock *block) { return loops.getLoopFor(block) == loop.getParentLoop(); });
}

Loans::Loans(Loop &nest, ArrayRef<const BasicBlock *> borrowers, ArrayRef<const BasicBlock *> probed, DominatorTree &dominators,
             LoopInfo &loops)
    : loops_(loops) {
  SmallVector<Loop *, 8> chosen;
  for (Loop *loop : nest.getLoopsInPreorder())
    if (loop->getParentLoop() && is_contained(borrowers, loop->getHeader()) && hasProbeAround(*loop, probed, loops))
      chosen.push_back(loop);
  for (Loop *loop : chosen) {
    if (!loop->getLoopPreheader())
      InsertPreheaderForLoop(loop, &dominators, &loops, nullptr, /*PreserveLCSSA=*/false);
    formDedicatedExitBlocks(loop, &dominators, &loops, nullptr, /*PreserveLCSSA=*/false);
  }
  for (const Loop *loop : chosen)
    if (loop->getLoopPreheader() && loop->hasDedicatedExits())
      borrowing_.insert(loop);
}

int64_t Loans::lentAt(const BasicBlock &block) const {
  int64_t units = 0;
  for (const Loop *loop = loops_.getLoopFor(&block); loop; loop = loop->getParentLoop())
    units += borrowing_.contains(loop) ? lentUnits : 0;
  return units;
}

static void add(AllocaInst &left, Instruction *before, int64_t units) {
  IRBuilder<> builder(before);
  Type *type = left.getAllocatedType();
  Value *sum = builder.CreateAdd(builder.CreateLoad(type, &left), ConstantInt::getSigned(type, units));
  builder.CreateStore(sum, &left);
}

void Loans::write(AllocaInst &left, ArrayRef<CallBase *> spending) const {
  for (const Loop *loop : borrowing_) {
    add(left, loop->getLoopPreheader()->getTerminator(), lentUnits);
    for (BasicBlock *exit : exitsOf(*loop))
      if (!isReturnOf(*exit, spending))
        add(left, &*exit->getFirstInsertionPt(), -lentUnits);
  }
}

} // namespace caudal
