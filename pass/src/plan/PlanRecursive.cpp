// Plans functions that call each other in circles, of which none can be planned first. Bounded.cpp calls it for each such circle once
// its functions are prepared. It changes no function. See PlanRecursive.h.
#include "plan/PlanRecursive.h"
#include "analysis/Jumps.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <limits>
#include <optional>

using namespace llvm;

namespace caudal {

namespace {

/// The limits of early functions if such functions are allowed some part.
class Keeping {
public:
  Keeping(const Circle &circle, const Limits &limits);
  Cost of(const Function &early, Cost part) const;

private:
  const Limits &limits_;
  SmallPtrSet<const Function *, 4> jumping_, jumpedTo_;
};

Keeping::Keeping(const Circle &circle, const Limits &limits) : limits_(limits) {
  for (const Function *function : circle.functions)
    for (const BasicBlock &block : *function)
      if (const CallInst *call = jumpOf(block)) {
        jumping_.insert(function);
        if (const Function *callee = call->getCalledFunction())
          jumpedTo_.insert(callee);
      }
}

/// Less than `part` if others rely on every function's.
Cost Keeping::of(const Function &early, Cost part) const {
  // Its return is a callee's, which keeps to that, and no probe can stand between the two.
  if (jumping_.contains(&early))
    return limits_.call;
  // The return of a function that something jumps to is also that of what jumps to it.
  return !isOwn(early) || jumpedTo_.contains(&early) ? std::min(part, limits_.call) : part;
}

} // namespace

/// As if the early ones kept to `part` in all ways; null: they do not.
static std::optional<std::vector<Plan>> planWith(const Circle &circle, Cost part, const Keeping &keeping, const Limits &all,
                                                 Calls &calls, PlanOne planOne) {
  for (const Function *function : circle.early)
    calls.expect(*function, keeping.of(*function, part));
  std::vector<Plan> plans;
  for (Function *function : circle.functions) {
    Limits limits = all;
    bool isEarly = circle.early.contains(function);
    if (isEarly)
      limits.call = keeping.of(*function, part);
    plans.push_back(planOne(*function, limits));
    if (isEarly && plans.back().paths.longest() > limits.call)
      return std::nullopt;
    calls.learn(*function, plans.back().paths);
  }
  return plans;
}

/// Where no part is kept to: every function's, and what exceeds it is reported.
static CirclePlans planRegardless(const Circle &circle, const Limits &limits, Calls &calls, PlanOne planOne) {
  CirclePlans regardless;
  for (const Function *function : circle.early) {
    regardless.keeps[function] = limits.call;
    calls.expect(*function, limits.call);
  }
  for (Function *function : circle.functions) {
    regardless.plans.push_back(planOne(*function, limits));
    calls.learn(*function, regardless.plans.back().paths);
  }
  return regardless;
}

/// The part is ours to choose: much, and there is a probe around each call; little, and there is one wherever a function
/// does something else. Tries some, and each again with what it turned out to need; the plans that execute the fewest
/// probes count.
CirclePlans planRecursive(const Circle &circle, const Limits &limits, Calls &calls, PlanOne planOne) {
  Keeping keeping(circle, limits);
  CirclePlans best;
  double fewest = std::numeric_limits<double>::infinity();
  auto consider = [&](Cost part) {
    std::optional<std::vector<Plan>> plans = planWith(circle, part, keeping, limits, calls, planOne);
    if (!plans)
      return part;
    Cost needed = Cost::cycles(1);
    double executed = 0;
    for (auto [function, plan] : zip(circle.functions, *plans)) {
      executed += plan.executed;
      if (circle.early.contains(function))
        needed = longer(needed, plan.paths.longest());
    }
    if (executed < fewest) {
      fewest = executed;
      best.plans = std::move(*plans);
      for (const Function *function : circle.early)
        best.keeps[function] = keeping.of(*function, part);
    }
    return needed;
  };
  for (int64_t divisor : {1, 2, 4, 8}) {
    Cost part = Cost::units(limits.loop.inUnits() / divisor);
    if (Cost needed = consider(part); needed < part)
      consider(needed);
  }
  return best.plans.empty() ? planRegardless(circle, limits, calls, planOne) : std::move(best);
}

} // namespace caudal
