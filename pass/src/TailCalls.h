//===- TailCalls.h - Returns that are the callee's ----------------------------------------------------------------===//
//
// Keeps calls at the end of functions as jumps. Called by Pass.cpp before planning; planner, costs and verifier ask which
// calls these are.
//
// A function that ends in a call and returns what it answers jumps there: the return is the callee's, which keeps to a
// function's part. But that it will is decided by code generation, and what stands behind the call in the meantime counts
// as a way of the caller's: a probe would stand there, and the jump would become a call, a frame and a return. In forwarders, of
// which iterators and interfaces are made, that is most of what they do:
//
//     jmp *72(%rax)       becomes       subq; js; push; call *72(%rax); subq; js; pop; ret
//
// So calls that code generation can make jumps of are jumps. Where the prototypes are the same they become `musttail`.
// Others are marked, and nothing may stand between them and their return, if code generation makes jumps of them as it
// does without probes: if all that is handed over is in registers, the frame is not aligned, and no sanitizer adds
// something in front of returns (below -O1 it makes none; nothing is marked there). Where several ways end in one return,
// each such call gets its own, as code generation would give it.
//
// Of functions that call each other in circles, some are called before their ways are known, and keep to less than a
// function's part. There calls are jumps only where they have to be: where jumps alone may lead around a circle, as in a
// machine whose states are functions, be it by ways that nobody knows here. Such circles may go around without end, and
// stack would be gone.
//
// With `-tailcallopt`, which frontends do not give, code generation makes jumps of calls with one prototype only: others are calls with
// nothing behind them, and the way across is longer than is said.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_TAILCALLS_H
#define CAUDAL_PASS_TAILCALLS_H

#include "Calls.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace caudal {

/// The changes that were made.
enum class TailCalls {
  None,   ///< nothing
  Calls,  ///< only instructions were changed: what is known of blocks and loops stays true
  Returns ///< blocks got returns of their own
};

/// The calls that code generation can make jumps of among functions that call each other in circles.
class JumpCircles {
public:
  /// `functions`: none, where what is planned is on no circle.
  JumpCircles(llvm::ArrayRef<llvm::Function *> functions, const Calls &calls);

  bool isEmpty() const { return functions_.empty(); }
  /// Whether `call` is of one of the functions.
  bool isWithin(const llvm::CallInst &call) const { return functions_.contains(call.getCalledFunction()); }
  /// Whether jumps alone, `call` the first of them, may lead back to the function that has it: it would take stack for each round.
  bool comesBack(const llvm::CallInst &call) const;

private:
  using Set = llvm::SmallPtrSet<const llvm::Function *, 4>;
  bool mayGoAnywhere(const llvm::CallInst &call) const;

  const Calls &calls_;
  Set functions_;
  llvm::DenseMap<const llvm::Function *, Set> reached_; ///< by jumps, of those that have such calls; null: anywhere
};

/// `calls`: what is known of callees, which come first, but for those of the function's own circles. `isEarly`: the function is
/// called before it is planned (CallsWithin.h).
TailCalls fixTailCalls(llvm::Function &function, const Calls &calls, const JumpCircles &circles, bool isEarly);

/// Whether `call` is a jump, for its answer is returned at once: nothing may stand between it and its return.
bool isJump(const llvm::CallInst &call);

/// The jump by which `block` returns; null: there is none.
const llvm::CallInst *jumpOf(const llvm::BasicBlock &block);

/// Whether arguments and answers are where C has them, and callees leave arguments on the stack to callers. `fastcc`, which the optimiser
/// gives to functions that only this module calls, is no other on x86-64.
bool isOfC(llvm::CallingConv::ID convention);

} // namespace caudal

#endif
