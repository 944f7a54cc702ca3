//===- Slack.h - Loops that may check the budget later ------------------------------------------------------------===//
//
// Says which loops may have slack, and what that adds to paths. Called by Region.cpp, which plans with it, and by DeferredChecks.cpp,
// which inserts the additions.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_SLACK_H
#define CAUDAL_PASS_SLACK_H

#include "analysis/Cost.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"

namespace caudal {

/// The time of the addition on the path into a loop with slack, and on each path out: half of its latency.
inline constexpr Cost slackAddition = Cost::units(Cost::unitsPerCycle / 2);

/// Whether `loop` is within another one, has no known count (what is counted is mostly long), and goes on in at most one place: each further
/// place costs as much as slack brings. It is asked before probes are written, which hide counts.
bool mayHaveSlack(const llvm::Loop &loop, llvm::ScalarEvolution &scev);

/// Where `loop` is left to: each block once, without landing pads and without what nothing gets to.
llvm::SmallVector<llvm::BasicBlock *, 8> exitsOf(const llvm::Loop &loop);

} // namespace caudal

#endif
