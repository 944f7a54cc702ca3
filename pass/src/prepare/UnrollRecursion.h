//===- UnrollRecursion.h - Fewer calls in a small recursive function ----------------------------------------------===//
//
// Replaces the calls of a small recursive function to itself by its body, once. Called by Bounded.cpp, before planning.
//
// A function that calls itself must meet a probe in each round. Where a round is a few instructions, that shows: its own
// calls, two at most, are replaced by its body, once, so that a round does what two and more did. Where it calls others as
// well a round has room for a probe. The optimiser does not do this, for it has no end; the pass does it where a round is
// short.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_UNROLLRECURSION_H
#define CAUDAL_PASS_UNROLLRECURSION_H

#include "llvm/IR/Function.h"
#include "llvm/IR/PassManager.h"

namespace caudal {

/// True: changed, and all analyses of `function` are stale.
bool unrollRecursion(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);

} // namespace caudal

#endif
