//===- Unroll.h - Fewer probes for short iterations ---------------------------------------------------------------===//
//
// Copies the bodies of short loops, so that several iterations share one jump. Called by Bounded.cpp, before planning.
//
// A loop of a few cycles whose end is found as it goes (a scan for a character) would pay for a jump
// in each iteration. Unrolled, it has one for several; each copy keeps its own exits. Where a most of its iterations is
// known, too, but for loops that are about one piece of code; not searches (LoopFacts.h), which mostly end soon. So it is for a loop whose count is a
// constant and whose iterations take 3 to 5 cycles: one of vectors, say. One copy has an exit then: the last, or where the count is
// no multiple the one in which it ends.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_UNROLL_H
#define CAUDAL_PASS_UNROLL_H

#include "analysis/Limits.h"
#include "llvm/IR/PassManager.h"

namespace caudal {

/// Unrolls such loops of `function`; whether there were any. Before planning; what is cached of the function is stale then.
bool unrollLoops(llvm::Function &function, llvm::FunctionAnalysisManager &analyses, const Limits &limits, const Options &options);

} // namespace caudal

#endif
