//===- ExitValues.h - What loops hand on where they end -----------------------------------------------------------===//
//
// Lets a search hand on its own counter where it ends, so that code generation needs no copy of it. Called by
// Bounded.cpp, after insertion.
//
// A search that counts ends where it finds something, and then hands on how far it has counted, or where the count has reached its
// end. There the optimiser writes that end, which has the same value:
//
//     found = phi [ at, look ], [ end, latch ]      latch: br (next == end), exit, loop
//
// Code generation gives the phi the register of one of the two. If that is the end's, each path out that has found something goes
// through a block that copies the counter, with a jump to it and one from it; where probes have taken blocks apart, it does. So a loop with
// a probe hands on what it has counted to where it does elsewhere, and both are one register. The copies of an unrolled loop may come to
// one block first, which gets a phi of their counters.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_EXITVALUES_H
#define CAUDAL_PASS_EXITVALUES_H

#include "llvm/IR/PassManager.h"

namespace caudal {

/// Has the loops of `function` that have probes hand on what they count by, for whole numbers; pointers that are equal need not be into
/// the same object. Behind all planning and in front of keepOwnSteps, which names anew what counts.
void handOnCounters(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);

} // namespace caudal

#endif
