//===- Unroll.h - Fewer jumps for short loops that nothing counts -------------------------------------------------===//
//
// A loop of a few cycles whose end is found as it goes (a scan for a character, a walk down a tree) would pay for a jump
// in each iteration. Unrolled, it has one for several; each copy keeps its own exits.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_UNROLL_H
#define CAUDAL_PASS_UNROLL_H

#include "llvm/IR/PassManager.h"

namespace caudal {

/// Unrolls such loops of `function`; whether there were any. Before planning; what is cached of the function is stale then.
bool unrollUncounted(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);

} // namespace caudal

#endif
