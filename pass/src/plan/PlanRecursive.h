//===- PlanRecursive.h - Planning functions that call each other in circles ---------------------------------------===//
//
// Plans functions that call each other in circles, of which none can be planned first. Bounded.cpp calls it for each such circle once
// its functions are prepared. It changes no function.
//
// A circle has no callee that could be planned first: some of its functions (`early`, see CallsWithin.h) are called before
// their paths are known. For these, the longest paths from entry to probe, from probe to return and across are chosen beforehand; their
// callers rely on that, and their own plans keep to it.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_PLANRECURSIVE_H
#define CAUDAL_PASS_PLANRECURSIVE_H

#include "analysis/Calls.h"
#include "analysis/CallsWithin.h"
#include "plan/Plan.h"

namespace caudal {

/// Functions that call each other in circles, in the order of planning: callees come first, except those in `early`.
struct Circle {
  llvm::ArrayRef<llvm::Function *> functions;
  const CallsWithin::Set &early;
};

/// The plans of a circle's functions.
struct CirclePlans {
  std::vector<Plan> plans; ///< one a function, in the circle's order
  llvm::DenseMap<const llvm::Function *, Cost> keeps; ///< the bound of all paths of each early function; the verifier reports what exceeds it
};

/// Plans one function with these limits.
using PlanOne = llvm::function_ref<Plan(llvm::Function &, const Limits &)>;

/// Plans the circle with several bounds and returns the plans with the fewest expected executions of probes. `calls` has the paths of the
/// last attempt afterwards: the caller has to put the paths of the returned plans there.
CirclePlans planRecursive(const Circle &circle, const Limits &limits, Calls &calls, PlanOne planOne);

} // namespace caudal

#endif
