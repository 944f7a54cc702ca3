//===- Borrowing.h - Loops that may look at the budget later ------------------------------------------------------===//
//
// The planner leaves room on the paths into and out of such loops and names them; DeferredChecks.h then makes the additions.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_BORROWING_H
#define CAUDAL_PASS_BORROWING_H

#include "analysis/Cost.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"

namespace caudal {

/// An addition on the path into a loop that borrows, and on each path out: half of its latency.
inline constexpr Cost lending = Cost::units(Cost::unitsPerCycle / 2);

/// Whether `loop` is within another, nothing counts it, for what is counted is mostly long, and it goes on in one place at most: each further
/// one costs what lending brings. Asked before probes are written, which hide counts.
bool mayBorrow(const llvm::Loop &loop, llvm::ScalarEvolution &scev);

/// Where `loop` is left to: each block once, without landing pads and without what nothing gets to.
llvm::SmallVector<llvm::BasicBlock *, 8> exitsOf(const llvm::Loop &loop);

} // namespace caudal

#endif
