//===- TailCalls.h - Returns that are the callee's ----------------------------------------------------------------===//
//
// A function that ends in a call and returns what it answers jumps there: the return is the callee's, which keeps to a
// function's part. But that it will is decided by code generation, and what stands behind the call in the meantime counts
// as a way of the caller's: a probe would stand there, and the jump would become a call, a frame and a return. In forwarders, of
// which iterators and interfaces are made, that is most of what they do:
//
//     jmp *72(%rax)       becomes       subq; js; push; call *72(%rax); subq; js; pop; ret
//
// So calls that are sure to become jumps are made such: they become `musttail`.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_TAILCALLS_H
#define CAUDAL_PASS_TAILCALLS_H

#include "Calls.h"
#include "llvm/IR/Function.h"

namespace caudal {

/// True: changed. Only instructions are: what is known of blocks and loops stays true.
/// `calls`: what is known of callees, which come first.
bool fixTailCalls(llvm::Function &function, const Calls &calls);

} // namespace caudal

#endif
