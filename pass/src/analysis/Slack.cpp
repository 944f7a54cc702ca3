// Says which loops may look at the budget later. Called by Region.cpp while it plans, and by DeferredChecks.cpp. See Slack.h.
#include "analysis/Slack.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace caudal {

/// Whether nothing gets to `block`.
static bool isUnreachable(const BasicBlock &block) { return isa<UnreachableInst>(*block.getFirstNonPHIOrDbg()); }

SmallVector<BasicBlock *, 8> exitsOf(const Loop &loop) {
  SmallVector<BasicBlock *, 8> exits;
  loop.getUniqueExitBlocks(exits);
  erase_if(exits, [](const BasicBlock *exit) { return exit->isEHPad() || isUnreachable(*exit); });
  return exits;
}

bool mayHaveSlack(const Loop &loop, ScalarEvolution &scev) {
  return loop.getParentLoop() && exitsOf(loop).size() <= 1 && isa<SCEVCouldNotCompute>(scev.getBackedgeTakenCount(&loop));
}

} // namespace caudal
