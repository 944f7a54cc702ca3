//===- SeparateLoops.h - A loop's short path back becomes a loop of its own ----------------------------------------===//
//
// Makes the short path back to the header of a loop an inner loop, so that it can do without a probe of the long one. Bounded.cpp calls
// it for each function before it is planned. It changes the function.
//
// A loop that skips most of its items (a filter, a search that fails at the first byte) has a short path back to its header
// and a long one, through inner loops or calls. As one loop it would execute a probe, and a jump to it, for each item that it
// skips. Its short path is made an inner loop, which may be unrolled like other short loops (Unroll.h):
//
//     header -> reject -> header                      outer -> header -> reject -> header
//     header -> work -> latch -> header       =>               header -> work -> latch -> outer
//
// A latch that both paths share is copied.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_SEPARATELOOPS_H
#define CAUDAL_PASS_SEPARATELOOPS_H

#include "llvm/IR/PassManager.h"

namespace caudal {

/// Separates such loops of `function`, at most one in each nest. Returns whether there were any: then the cached analyses of the function
/// are stale.
bool separateLoops(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);

} // namespace caudal

#endif
