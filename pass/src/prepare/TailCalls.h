//===- TailCalls.h - Returns that are the callee's ----------------------------------------------------------------===//
//
// Keeps calls at the end of functions as jumps. Called by Bounded.cpp, before planning.
//
// A function that ends in a call and returns what it answers jumps there: the return is the callee's, which keeps to a
// function's part. But that it will is decided by code generation, and what stands after the call in the meantime counts
// as a path of the caller's: a probe would stand there, and the jump would become a call, a frame and a return. In forwarders, of
// which iterators and interfaces are made, that is most of what they do:
//
//     jmp *72(%rax)       becomes       subq; js; push; call *72(%rax); subq; js; pop; ret
//
// So calls that code generation can make jumps of are jumps. Where the prototypes are the same they become `musttail`.
// Others are marked, and nothing may stand between them and their return, if code generation makes jumps of them as it
// does without probes: if all that is handed over is in registers, the frame is not aligned, and no sanitizer adds
// something before returns (below -O1 it makes none; nothing is marked there). Where several ways end in one return,
// each such call gets its own, as code generation would give it.
//
// Of functions that call each other in circles, some are called before their paths are known, and keep to less than a
// function's part. There calls are jumps only where they have to be: where jumps alone may lead around a circle, as in a
// machine whose states are functions, be it by paths that nobody knows here. Such circles may go around without end, and
// stack would be gone.
//
// With `-tailcallopt`, which frontends do not give, code generation makes jumps of calls with one prototype only: others are calls with
// nothing after them, and the path across is longer than is said.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_TAILCALLS_H
#define CAUDAL_PASS_TAILCALLS_H

#include "analysis/Calls.h"
#include "analysis/JumpCircles.h"
#include "llvm/IR/Function.h"

namespace caudal {

/// The changes that were made.
enum class TailCalls {
  None,   ///< nothing
  Calls,  ///< only instructions were changed: what is known of blocks and loops stays true
  Returns ///< blocks got returns of their own
};

/// `calls`: what is known of callees, which come first, but for those of the function's own circles. `isEarly`: the function is
/// called before it is planned (CallsWithin.h).
TailCalls fixTailCalls(llvm::Function &function, const Calls &calls, const JumpCircles &circles, bool isEarly);

} // namespace caudal

#endif
