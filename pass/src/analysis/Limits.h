//===- Limits.h - How the bound is shared out ---------------------------------------------------------------------===//
//
// Divides the bound between functions and loops, which are planned one by one. Called by the planner, the verifier,
// Calls.cpp and Unroll.cpp.
//
// The bound is the longest estimated path between two probes, wherever they are. Functions and loops are planned one by
// one, so each gets a part of it that the others leave to it:
//
//     bound   |<--------------------- no path between two probes is longer ------------------------------>|
//     call    |<---- at most, before a call ---->|<-- callee: to its first probe, from its last, across ->|
//     loop    |<---- at most, before a loop ----------------->|<-- loop: to its first probe, or across -->|
//
// Across a function without a probe it is half as much: a caller that knows nothing of its callees may pass several
// between two probes.
//
// Both parts hold for every function and every loop, so that separate compilation and calls through pointers keep to the
// bound as well.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_LIMITS_H
#define CAUDAL_PASS_LIMITS_H

#include "analysis/Cost.h"
#include "Options.h"
#include "llvm/IR/Function.h"

namespace caudal {

struct Limits {
  /// Longest path between two probes.
  Cost bound;
  /// A function's part: entry to its first probe, last probe to return, and, where only this module calls it, entry to return
  /// without a probe.
  Cost call;
  /// Entry to return without a probe, of functions that others may call.
  Cost across;
  /// A loop's part: entry to its first probe, and from entry to exit without a probe.
  Cost loop;

  /// The limits that are planned with and verified. What insertion adds to the paths is counted where it adds it (Plan.cpp).
  static Limits of(const Options &options) {
    Cost bound = Cost::cycles(options.bound);
    return {bound, Cost::units(bound.inUnits() / 4), Cost::units(bound.inUnits() / 8), Cost::units(bound.inUnits() * 11 / 25)};
  }

  /// The limits that `function` keeps to: callers know the length of a function of their own module.
  Limits ofFunction(const llvm::Function &function) const;
};

} // namespace caudal

#endif
