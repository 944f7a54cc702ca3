// Chooses the probes that are seldom executed, which become short calls. Bounded.cpp calls it for each function, after planning and
// just before the plan's probes are inserted, in modes that have such calls. It changes the plan only. See Seldom.h.
#include "plan/Seldom.h"
#include "analysis/Size.h"

using namespace llvm;

namespace caudal {

/// The cycles by which a call of a probe takes longer than a probe in place: two jumps that are taken, a store and a load.
static constexpr Cost more = Cost::cycles(3);
/// The part of a function's time that its calls of probes may take, in general and in functions that are to be small.
static constexpr double part = 0.02, partOfSmall = 0.05;

/// The most that a callee adds to the expected time: an unknown callee may be a few instructions.
static constexpr Cost fromCall = Cost::cycles(8);

/// The least expected length of an execution of the function, in units.
static double expectedTime(Function &function, const Analyses &analyses, const Calls &calls) {
  CostModel costs(analyses.tti, analyses.loops);
  double sum = 0;
  for (const BasicBlock &block : function) {
    Cost cost = Cost::zero();
    for (const Instruction &instruction : block) {
      cost = cost + costs.issue(instruction);
      if (const auto *call = dyn_cast<CallBase>(&instruction))
        cost = cost + std::min(fromCall, calls.of(*call).expected);
    }
    sum += analyses.frequencyOf(block) * double(cost.inUnits());
  }
  return sum;
}

/// Whether `block` is executed in few iterations of its loop, or is in no loop at all. A block that is executed in each iteration may be
/// most of the function's work, even beside deeper loops, because estimates of iterations are guesses. Estimates of how deep recursion goes
/// are guesses, too: it counts as a loop from the function's entry on.
static bool mayBeSeldom(const BasicBlock &block, const Analyses &analyses, bool isRecursive) {
  static constexpr double few = 1.0 / 16;
  const Loop *loop = analyses.loops.getLoopFor(&block);
  if (!loop && !isRecursive)
    return true;
  const BasicBlock &header = loop ? *loop->getHeader() : block.getParent()->getEntryBlock();
  return analyses.frequencyOf(block) < few * analyses.frequencyOf(header);
}

void chooseSeldom(Function &function, Plan &plan, FunctionAnalysisManager &manager, const Analyses &analyses,
                  const Calls &calls, bool isRecursive) {
  std::vector<Site *> sites;
  for (Site &site : plan.sites)
    if (BasicBlock &block = *site.before->getParent(); isCold(block, manager))
      site.isSeldom = true;
    else if (mayBeSeldom(block, analyses, isRecursive))
      sites.push_back(&site);
  auto executed = [&](const Site *site) { return analyses.frequencyOf(*site->before->getParent()); };
  std::stable_sort(sites.begin(), sites.end(), [&](const Site *a, const Site *b) { return executed(a) < executed(b); });
  double left = (function.hasOptSize() ? partOfSmall : part) * expectedTime(function, analyses, calls) / double(more.inUnits());
  for (Site *site : sites) {
    left -= executed(site);
    if (left < 0)
      return;
    site->isSeldom = true;
  }
}

} // namespace caudal
