//===- Jumps.h - Calls whose return is the callee's ---------------------------------------------------------------===//
//
// A call whose answer a function returns at once can become a jump: the callee returns to the caller's caller. TailCalls.h decides which
// do, and marks them; the planner, the verifier and JumpCircles.h ask here which can, and which are marked.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_JUMPS_H
#define CAUDAL_PASS_JUMPS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace caudal {

/// Whether `call` is a jump, for its answer is returned at once: nothing may stand between it and its return.
bool isJump(const llvm::CallInst &call);

/// The jump by which `block` returns; null: there is none.
const llvm::CallInst *jumpOf(const llvm::BasicBlock &block);

/// Whether arguments and answers are where C has them, and callees leave arguments on the stack to callers. `fastcc`, which the optimiser
/// gives to functions that only this module calls, is no other on x86-64.
bool isOfC(llvm::CallingConv::ID convention);

/// Marks `call`, the last in its block, as a jump that was not written so.
void markJump(llvm::CallInst &call);

/// Whether both have the same prototype, which `musttail` demands.
bool sameInterface(const llvm::CallInst &call, const llvm::Function &function);

/// Whether code generation makes jumps of the function's calls at all.
bool hasJumps(const llvm::Function &function);

/// Whether the function's returns are as this pass leaves them: nothing is put before them later.
bool endsPlainly(const llvm::Function &function);

/// Whether code generation makes a jump of `call`, the last one in its block. `endsPlainly`: whether `function` does.
bool canJump(const llvm::CallInst &call, const llvm::Function &function, bool endsPlainly);

/// The calls of `function` that are followed by nothing but a return of what they answer.
llvm::SmallVector<llvm::CallInst *, 8> lastCalls(llvm::Function &function);

} // namespace caudal

#endif
