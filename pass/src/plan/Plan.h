//===- Plan.h - Where a function's probes go ----------------------------------------------------------------------===//
//
// Decides where the probes of a function go. Bounded.cpp calls it for each function once its component is prepared, callees first;
// PlanRecursive.cpp calls it several times for functions that call each other in circles. It changes no function.
//
// A function is a graph of regions: its body, and each loop's body, in which each inner loop is one node.
// Regions are planned from the innermost outwards. In each, paths are followed (Region.h); where
// the next piece of code would take a path above the bound, a probe goes before it, so that paths between probes are
// as long as they may be (Tiny Quanta, section 3.1). A loop whose iteration can be run through without a probe
// is bounded by its count, or gets a probe for each iteration.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_PLAN_H
#define CAUDAL_PASS_PLAN_H

#include "analysis/Calls.h"
#include "analysis/Cost.h"
#include "analysis/Limits.h"
#include "analysis/LoopFacts.h"
#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/BranchProbabilityInfo.h"
#include "llvm/Analysis/LoopInfo.h"
#include <vector>

namespace caudal {

/// A probe before an instruction.
struct Site {
  llvm::Instruction *before;
  Cost expected; ///< mean cost since the last probe, which budget mode subtracts
  Cost longest;  ///< longest path since the last probe
  bool isSeldom = false; ///< is to be a call (Seldom.h)
};

/// The treatment of a loop, for the report.
enum class LoopKind {
  Short,    ///< its constant count bounds it
  Probed,   ///< every path through its body meets a probe already
  Each,     ///< a probe for each iteration
  Stripped, ///< cut into strips, by a baseline (baselines/StripMine.h)
};

/// A loop and its treatment, for the report.
struct LoopNote {
  const llvm::Loop *loop;
  LoopKind kind;
  uint64_t length; ///< iterations at most (Short) or of a strip (Stripped); else 1
};

/// The probes of one function, and what its callers and the later steps have to know of it.
struct Plan {
  std::vector<Site> sites;
  std::vector<LoopNote> loops;
  std::vector<const llvm::BasicBlock *> loopsWithSlack; ///< headers of loops that may have slack (DeferredChecks.h): their paths have room for it
  PathBounds paths; ///< the function as its callers see it
  double executed = 0; ///< probes that a call is expected to execute
};

/// The analyses of a function that planning needs.
struct Analyses {
  llvm::LoopInfo &loops;
  llvm::ScalarEvolution &scev;
  llvm::BlockFrequencyInfo &frequencies;
  llvm::BranchProbabilityInfo &probabilities;
  const llvm::TargetTransformInfo &tti;

  /// How often `block` is executed in one execution of its function.
  double frequencyOf(const llvm::BasicBlock &block) const {
    return double(frequencies.getBlockFreq(&block).getFrequency()) / double(frequencies.getEntryFreq().getFrequency());
  }
};

/// The plan of `function`, whose loops have preheaders and exits of their own. `calls`: what is known of its callees. `limits`: the bounds
/// that its paths keep to.
Plan plan(llvm::Function &function, const Analyses &analyses, const Calls &calls, const Limits &limits);

} // namespace caudal

#endif
