//===- Size.h - Where code is to be small -------------------------------------------------------------------------===//
//
// Code that a function's attributes (-Os, cold) want small rather than quick, and code that a profile has found to be seldom
// executed, gets no copies of loops, nothing that keeps the budget in a register, and calls of probes instead of probes in
// place. Without attributes and profile it is nowhere.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_SIZE_H
#define CAUDAL_PASS_SIZE_H

#include "llvm/IR/Function.h"
#include "llvm/IR/PassManager.h"

namespace caudal {

/// Whether `block` is to be small. Takes the module's profile summary from `analyses` where it has been computed.
bool isToBeSmall(llvm::BasicBlock &block, llvm::FunctionAnalysisManager &analyses);

/// Whether a profile says how often `function` and its blocks are executed: what is estimated of them is then no guess.
bool hasProfile(const llvm::Function &function);

} // namespace caudal

#endif
