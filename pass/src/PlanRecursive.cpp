#include "PlanRecursive.h"
#include "CarryCalls.h"
#include "TailCalls.h"
#include <limits>
#include <optional>

using namespace llvm;

namespace caudal {

/// Less than `part` if others rely on every function's; then with room for what may come to stand for it.
Cost keptBy(const Function &early, Cost part, const Limits &limits) {
  return isOwn(early) ? part : std::min(part, beforeStanding(limits.call));
}

/// Whether a function of these returns by another's return: no probe can stand between the two.
static bool endInTailCalls(ArrayRef<Function *> functions) {
  return any_of(functions, [](const Function *function) {
    return any_of(*function, [](const BasicBlock &block) {
      const CallInst *call = jumpOf(block);
      return call && isWrittenJump(*call);
    });
  });
}

/// As if the early ones kept to `part` in all ways; null: they do not.
static std::optional<std::vector<Plan>> planWith(const Circle &circle, Cost part, const Limits &all, Calls &calls,
                                                 PlanOne planOne) {
  for (const Function *function : circle.early)
    calls.expect(*function, keptBy(*function, part, all));
  std::vector<Plan> plans;
  for (Function *function : circle.functions) {
    Limits limits = all;
    bool isEarly = circle.early.contains(function);
    if (isEarly)
      limits.call = keptBy(*function, part, all);
    plans.push_back(planOne(*function, limits));
    if (isEarly && plans.back().ways.longest() > limits.call)
      return std::nullopt;
    calls.learn(*function, plans.back().ways);
  }
  return plans;
}

/// Where no part is kept to: every function's, and what exceeds it is reported.
static CirclePlans planRegardless(const Circle &circle, const Limits &limits, Calls &calls, PlanOne planOne) {
  CirclePlans regardless;
  regardless.isKept = false;
  for (const Function *function : circle.early)
    calls.expect(*function, limits.call);
  for (Function *function : circle.functions) {
    regardless.plans.push_back(planOne(*function, limits));
    calls.learn(*function, regardless.plans.back().ways);
  }
  return regardless;
}

/// The part is ours to choose: much, and there is a probe around each call; little, and there is one wherever a function
/// does something else. Tries some, and each again with what it turned out to need; the plans that execute the fewest
/// probes count.
CirclePlans planRecursive(const Circle &circle, const Limits &limits, Calls &calls, PlanOne planOne) {
  CirclePlans best;
  double fewest = std::numeric_limits<double>::infinity();
  auto consider = [&](Cost part) {
    std::optional<std::vector<Plan>> plans = planWith(circle, part, limits, calls, planOne);
    if (!plans)
      return part;
    Cost needed = Cost::cycles(1);
    double executed = 0;
    for (auto [function, plan] : zip(circle.functions, *plans)) {
      executed += plan.executed;
      if (circle.early.contains(function))
        needed = longer(needed, plan.ways.longest());
    }
    if (executed < fewest) {
      fewest = executed;
      best = {std::move(*plans), part};
    }
    return needed;
  };
  Cost most = endInTailCalls(circle.functions) ? limits.call : limits.loop;
  for (int64_t divisor : {1, 2, 4, 8}) {
    Cost part = Cost::units(most.inUnits() / divisor);
    if (Cost needed = consider(part); needed < part)
      consider(needed);
  }
  return best.plans.empty() ? planRegardless(circle, limits, calls, planOne) : std::move(best);
}

} // namespace caudal
