//===- OwnSteps.h - Loops keep the steps that the optimiser gave them ---------------------------------------------===//
//
// Keeps LLVM's strength reduction from making loops with probes slower. Called by Bounded.cpp, as its last step.
//
// Code generation's strength reduction chooses anew what a loop counts by, and pays with instructions before it. Where the
// pass has been, it chooses badly: it gives the copies of a short loop values of their own, which the loop around has to keep. So, last of
// all, when nothing has to see through them any more, what a loop with a probe counts by gets another name:
//
//     latch:  next = freeze(at + step)
//
// which is no instruction. A loop in which strength reduction would spare some is left to it: where there is arithmetic with what it
// counts that no address has for nothing, or where it counts for nothing but its end, which can be done downwards.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_OWNSTEPS_H
#define CAUDAL_PASS_OWNSTEPS_H

#include "llvm/IR/PassManager.h"

namespace caudal {

/// Renames them in `function`: after the verifier, which bounds loops by these values, and once. What is cached of the function
/// is stale then.
void keepOwnSteps(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);

} // namespace caudal

#endif
