//===- Verify.h - Recomputing the longest paths of a finished module -----------------------------------------------===//
//
// Checks the finished code: finds its longest paths without probes anew and compares them with the bound. Called by
// Bounded.cpp, with the options `verify` and `report`.
//
// Finds the probes in the code as it has become, and the longest paths between them, without knowing what was planned:
// longest paths by relaxation until nothing changes, bounds of loops by what ScalarEvolution proves of the new code: constant
// counts, nearer ends that are chosen before a loop. The cost model is shared with the planner, the search for paths is
// not.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_VERIFY_H
#define CAUDAL_PASS_VERIFY_H

#include "analysis/Calls.h"
#include "analysis/Limits.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include <string>
#include <vector>

namespace caudal {

/// A path that is longer than the limits allow.
struct Violation {
  std::string at; ///< where the path has become too long: block, and line where one is known
  Cost longest;                ///< how long
  std::string what;
};

struct Verified {
  PathBounds paths;    ///< of the function
  Cost longest; ///< longest path between two probes, those outside included as the limits have them
  std::vector<Violation> violations;
};

/// Computes its own analyses and changes nothing.
Verified verify(llvm::Function &function, const llvm::TargetTransformInfo &tti, llvm::TargetLibraryInfo &library,
                const Calls &calls, const Limits &limits);

} // namespace caudal

#endif
