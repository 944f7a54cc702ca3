//===- Size.h - Where code is to be small -------------------------------------------------------------------------===//
//
// Says which code is to be small rather than fast. Called by all files that would make code larger: Unroll.cpp,
// BudgetInLoops.cpp, Seldom.cpp and others.
//
// Code of which a function's attributes or a profile say that it is seldom executed gets no copies of loops, nothing that keeps
// the budget in a register, and calls of probes instead of probes in place. Under -Os nothing is copied, and probes outside of
// loops are mostly calls: those within are as they are, for calls would take twice the time. Without attributes and profile
// nothing is to be small.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_SIZE_H
#define CAUDAL_PASS_SIZE_H

#include "llvm/IR/Function.h"
#include "llvm/IR/PassManager.h"

namespace caudal {

/// Whether `block` is known to be seldom executed: its function is said to be cold or to be as small as possible, or a profile
/// has found it (what is said to be cold is, whatever a profile says). Takes the module's profile summary from `analyses` where it
/// has been computed.
bool isCold(llvm::BasicBlock &block, llvm::FunctionAnalysisManager &analyses);

/// Whether nothing at `block` is to be copied: it is cold, or its function is to be small.
bool isToBeSmall(llvm::BasicBlock &block, llvm::FunctionAnalysisManager &analyses);

} // namespace caudal

#endif
