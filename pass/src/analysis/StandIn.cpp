// Adds to a function's paths what the function costs that stands for it. Called by Bounded.cpp, PlanRecursive.cpp and
// BudgetInCalls.cpp. See StandIn.h.
#include "analysis/StandIn.h"

namespace caudal {

// What a function that stands for another adds to the paths into it and out of it.
static constexpr Cost in = Cost::cycles(6), out = Cost::cycles(2);

Cost afterStanding(Cost part) { return part + in + out; }

Cost beforeStanding(Cost part) {
  // With less, nothing else would have room.
  static constexpr Cost little = Cost::cycles(32);
  return part < little ? part : Cost::units(part.inUnits() - (in + out).inUnits());
}

PathBounds pathsThrough(const PathBounds &function) {
  return {function.prefix + in, function.through + in + out, function.suffix + out, function.expected + in + out};
}

} // namespace caudal
