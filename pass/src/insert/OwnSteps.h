//===- OwnSteps.h - Loops keep the steps that the optimiser gave them ---------------------------------------------===//
//
// Keeps LLVM's strength reduction from making loops with probes slower. Bounded.cpp calls it once for each function of the module, as
// its last step, after the verifier. It changes the function.
//
// Code generation's strength reduction replaces the counters of a loop, and pays with instructions before the loop. In loops that the pass
// has changed, it chooses badly: it gives each copy of an unrolled body a counter of its own, which the loop around has to keep in a
// register. So the counters of a loop with a probe are hidden from it by a freeze, at the end, when no analysis has to see them any more:
//
//     latch:  next = freeze(at + step)
//
// A freeze becomes no instruction. Loops in which strength reduction would save instructions are left to it: loops with arithmetic on a
// counter that no addressing mode does for free, and loops whose counter only decides when they end, because it can count down then.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_OWNSTEPS_H
#define CAUDAL_PASS_OWNSTEPS_H

#include "llvm/IR/PassManager.h"

namespace caudal {

/// Hides the counters of `function`'s loops. To be called once, and after the verifier, which bounds loops by these values. The cached
/// analyses of the function are stale afterwards.
void keepOwnSteps(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);

} // namespace caudal

#endif
