// Keeps calls at the end of functions as jumps. Bounded.cpp calls it for each function before it is planned. It changes the function.
// See TailCalls.h.
#include "prepare/TailCalls.h"
#include "analysis/Jumps.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace caudal {

/// Whether the callee has probes, as far as anybody knows, and keeps to a function's part: of those on a circle PlanRecursive.cpp
/// sees to it.
static bool keepsToItsPart(const CallInst &call, const Calls &calls, const JumpCircles &circles, bool isEarly) {
  Callee kind = Calls::kind(call);
  if (circles.isWithin(call))
    return circles.comesBack(call);
  if ((!circles.isEmpty() && calls.isSimple(call)) || (isEarly && !circles.comesBack(call)))
    return false;
  return (kind == Callee::Contract || kind == Callee::Known) && calls.of(call).longest() <= calls.part();
}

/// Ends `block`, which jumps to a return, with a return of its own.
static void returnAtOnce(BasicBlock &block, CallInst &call) {
  Instruction *jump = block.getTerminator();
  BasicBlock *next = block.getSingleSuccessor();
  DebugLoc location = next->getTerminator()->getDebugLoc();
  next->removePredecessor(&block);
  bool isVoid = block.getParent()->getReturnType()->isVoidTy();
  auto *end = ReturnInst::Create(block.getContext(), isVoid ? nullptr : &call, jump->getIterator());
  end->setDebugLoc(location);
  jump->eraseFromParent();
  if (next->hasNPredecessors(0) && !next->hasAddressTaken())
    DeleteDeadBlock(next);
}

TailCalls fixTailCalls(Function &function, const Calls &calls, const JumpCircles &circles, bool isEarly) {
  if (!hasJumps(function))
    return TailCalls::None;
  SmallVector<CallInst *, 8> last = lastCalls(function);
  erase_if(last, [&](const CallInst *call) { return !keepsToItsPart(*call, calls, circles, isEarly); });
  TailCalls done = TailCalls::None;
  bool plainly = !last.empty() && endsPlainly(function);
  for (CallInst *call : last) {
    if (!canJump(*call, function, plainly))
      continue;
    if (done == TailCalls::None)
      done = TailCalls::Calls;
    if (sameInterface(*call, function))
      call->setTailCallKind(CallInst::TCK_MustTail);
    if (!isa<ReturnInst>(call->getParent()->getTerminator())) {
      returnAtOnce(*call->getParent(), *call);
      done = TailCalls::Returns;
    }
    markJump(*call);
  }
  return done;
}

} // namespace caudal
