//===- Unroll.h - Fewer probes for short iterations ---------------------------------------------------------------===//
//
// Copies the bodies of short loops, so that several iterations share one jump. Bounded.cpp calls it for each function before it is
// planned, as the last of the preparations. It changes the function.
//
// A loop of a few cycles whose number of iterations is not known on entry (a scan for a character) would execute a probe's jump in each
// iteration. Unrolled, it executes one jump for several iterations; each copy of the body keeps its own exits. Loops with a known maximum of
// iterations are unrolled, too, unless the whole loop is hardly longer than one piece of code between probes, or it is a search (LoopFacts.h),
// which mostly ends soon. So is a loop with a constant number of iterations that take 3 to 5 cycles each, such as a loop of vector
// instructions. Only one copy has an exit then: the last one, or the copy in which the loop ends if the number is no multiple of the copies.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_UNROLL_H
#define CAUDAL_PASS_UNROLL_H

#include "analysis/Limits.h"
#include "llvm/IR/PassManager.h"

namespace caudal {

/// Unrolls such loops of `function`. To be called before planning. Returns whether there were any: then the cached analyses of the function
/// are stale.
bool unrollLoops(llvm::Function &function, llvm::FunctionAnalysisManager &analyses, const Limits &limits, const Options &options);

} // namespace caudal

#endif
