// Gives an inner loop some slack, so that the loop around it notices first that the quantum is over. BudgetInLoops.cpp makes a Slack
// for each loop that it chooses, once all probes of the function are written, and has it written; BudgetVariable.cpp takes the slack
// off around calls. See DeferredChecks.h.
#include "insert/DeferredChecks.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace caudal {

/// The slack of each loop, in units of the budget: the most that x86-64 adds with an immediate value of one byte.
static constexpr int64_t slackUnits = 128;

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

Slack::Slack(Loop &nest, ArrayRef<const BasicBlock *> loopsWithSlack, ArrayRef<const BasicBlock *> probed, DominatorTree &dominators,
             LoopInfo &loops)
    : loops_(loops) {
  SmallVector<Loop *, 8> chosen;
  for (Loop *loop : nest.getLoopsInPreorder())
    if (loop->getParentLoop() && is_contained(loopsWithSlack, loop->getHeader()) && hasProbeAround(*loop, probed, loops))
      chosen.push_back(loop);
  for (Loop *loop : chosen) {
    if (!loop->getLoopPreheader())
      InsertPreheaderForLoop(loop, &dominators, &loops, nullptr, /*PreserveLCSSA=*/false);
    formDedicatedExitBlocks(loop, &dominators, &loops, nullptr, /*PreserveLCSSA=*/false);
  }
  for (const Loop *loop : chosen)
    if (loop->getLoopPreheader() && loop->hasDedicatedExits())
      withSlack_.insert(loop);
}

int64_t Slack::at(const BasicBlock &block) const {
  int64_t units = 0;
  for (const Loop *loop = loops_.getLoopFor(&block); loop; loop = loop->getParentLoop())
    units += withSlack_.contains(loop) ? slackUnits : 0;
  return units;
}

static void add(AllocaInst &left, Instruction *before, int64_t units) {
  IRBuilder<> builder(before);
  Type *type = left.getAllocatedType();
  Value *sum = builder.CreateAdd(builder.CreateLoad(type, &left), ConstantInt::getSigned(type, units));
  builder.CreateStore(sum, &left);
}

void Slack::write(AllocaInst &left, ArrayRef<CallBase *> spending) const {
  for (const Loop *loop : withSlack_) {
    add(left, loop->getLoopPreheader()->getTerminator(), slackUnits);
    for (BasicBlock *exit : exitsOf(*loop))
      if (!isReturnOf(*exit, spending))
        add(left, &*exit->getFirstInsertionPt(), -slackUnits);
  }
}

} // namespace caudal
