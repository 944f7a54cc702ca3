// Keeps the analyses of functions, gives their loops places for probes, and writes the probes of a plan. Called by Pass.cpp and
// by all strategies. See Strategy.h.
#include "Strategy.h"
#include "llvm/IR/Dominators.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace caudal {

Analyses Functions::analysesOf(Function &function) const {
  return {manager_.getResult<LoopAnalysis>(function), manager_.getResult<ScalarEvolutionAnalysis>(function),
          manager_.getResult<BlockFrequencyAnalysis>(function), manager_.getResult<BranchProbabilityAnalysis>(function),
          manager_.getResult<TargetIRAnalysis>(function)};
}

void Functions::changed(Function &function, bool hasChanged) const {
  if (hasChanged)
    manager_.invalidate(function, PreservedAnalyses::none());
}

void Functions::prepareLoops(Function &function) const {
  LoopInfo &loops = manager_.getResult<LoopAnalysis>(function);
  DominatorTree &dominators = manager_.getResult<DominatorTreeAnalysis>(function);
  bool hasChanged = false;
  for (Loop *loop : loops.getLoopsInPreorder())
    if (!loop->getHeader()->isEHPad()) {
      if (!loop->getLoopPreheader())
        hasChanged |= InsertPreheaderForLoop(loop, &dominators, &loops, nullptr, /*PreserveLCSSA=*/false) != nullptr;
      hasChanged |= formDedicatedExitBlocks(loop, &dominators, &loops, nullptr, /*PreserveLCSSA=*/false);
    }
  changed(function, hasChanged);
}

void Strategy::insert(Function &, const Plan &plan, ProbeWriter &writer) {
  for (const Site &site : plan.sites)
    writer.probe(site.before, site.expected.inCycles(), site.isSeldom);
}

} // namespace caudal
