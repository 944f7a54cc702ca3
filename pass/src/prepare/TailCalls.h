//===- TailCalls.h - Calls at the end of functions stay jumps -----------------------------------------------------===//
//
// Keeps calls at the end of functions as jumps. Bounded.cpp calls it for each function before it is planned. It changes the function.
//
// A function that ends in a call and returns the callee's result becomes a jump to the callee in code generation: the callee returns to the
// caller's caller, and its paths keep to the bound of a function. But only code generation decides this. Until then, the code after the
// call is a path of the caller: a probe would be put there, and the jump would become a call, a frame and a return. In forwarders, of which
// iterators and interfaces consist, this would be most of their work:
//
//     jmp *72(%rax)       becomes       subq; js; push; call *72(%rax); subq; js; pop; ret
//
// So calls that code generation can turn into jumps are fixed as jumps. A call with the caller's own prototype becomes `musttail`.
// Any other such call is marked, and no probe may be put between it and its return. It is marked only if code generation would make a jump
// of it without probes: all arguments are in registers, the frame is not aligned, and no sanitizer adds code before returns. Below -O1 code
// generation makes no jumps, and nothing is marked. Where several paths end in one return, each such call gets a return of its own, as code
// generation would give it.
//
// Among functions that call each other in circles, some are called before their paths are known, and keep to a smaller bound than other
// functions. There, calls are jumps only where they have to be: where jumps alone may lead around a circle, perhaps through functions that are
// not known here, as in a machine whose states are functions. Such circles may go around without end, and calls would use up the stack.
//
// With `-tailcallopt`, which frontends do not give, code generation makes jumps only of calls with the caller's prototype. Other marked calls
// then stay calls with nothing after them, and the path across the caller is longer than its plan says.
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
  Calls,  ///< only instructions were changed: analyses of blocks and loops stay valid
  Returns ///< blocks got returns of their own
};

/// Fixes the tail calls of `function`. `calls`: what is known of callees; all have been planned, except those in the function's own circles.
/// `isEarly`: the function is called before it is planned (CallsWithin.h).
TailCalls fixTailCalls(llvm::Function &function, const Calls &calls, const JumpCircles &circles, bool isEarly);

} // namespace caudal

#endif
