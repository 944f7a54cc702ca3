//===- PlanRecursive.h - Planning functions that call each other in circles ---------------------------------------===//
//
// Plans functions that call each other in circles, of which none can be planned first. Called by Bounded.cpp.
//
// A circle has no callee that could be planned first: some of its functions (`early`, see CallsWithin.h) are called before
// their paths are known. What these take from entry to probe, from probe to return and across is chosen beforehand, relied
// on by their callers, and kept to by their own plans.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_PLANRECURSIVE_H
#define CAUDAL_PASS_PLANRECURSIVE_H

#include "analysis/Calls.h"
#include "analysis/CallsWithin.h"
#include "plan/Plan.h"

namespace caudal {

/// Functions that call each other in circles, in the order of planning: callees first, but for calls of `early`.
struct Circle {
  llvm::ArrayRef<llvm::Function *> functions;
  const CallsWithin::Set &early;
};

struct CirclePlans {
  std::vector<Plan> plans; ///< one a function, in the circle's order
  llvm::DenseMap<const llvm::Function *, Cost> keeps; ///< of the early functions, in all ways; who exceeds it is reported
};

/// How one function is planned.
using PlanOne = llvm::function_ref<Plan(llvm::Function &, const Limits &)>;

/// Leaves the last attempt's paths in `calls`: who inserts a plan has to learn its paths.
CirclePlans planRecursive(const Circle &circle, const Limits &limits, Calls &calls, PlanOne planOne);

} // namespace caudal

#endif
