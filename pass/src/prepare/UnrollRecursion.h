//===- UnrollRecursion.h - Fewer calls in a small recursive function ----------------------------------------------===//
//
// Replaces the calls of a small recursive function to itself by its body, once. Bounded.cpp calls it for each function of a circle of
// calls, as the first of the preparations for planning. It changes the function.
//
// A function that calls itself must execute a probe in each call. If a call is only a few instructions long, the probe takes a large part of
// the time. The calls of the function to itself, two at most, are then replaced by its body, once, so that one call does the work of two or
// more. A function that calls other functions, too, is long enough for a probe and stays as it is.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_UNROLLRECURSION_H
#define CAUDAL_PASS_UNROLLRECURSION_H

#include "llvm/IR/Function.h"
#include "llvm/IR/PassManager.h"

namespace caudal {

/// Replaces the calls of `function` to itself if that pays. Returns whether it did: then the cached analyses of `function` are stale.
bool unrollRecursion(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);

} // namespace caudal

#endif
