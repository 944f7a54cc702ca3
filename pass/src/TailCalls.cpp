#include "TailCalls.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace caudal {

// Where an argument is handed over: both sides have to mean the same.
static constexpr Attribute::AttrKind placing[] = {
    Attribute::StructRet, Attribute::InReg,      Attribute::StackAlignment,
    Attribute::SwiftSelf, Attribute::SwiftAsync, Attribute::SwiftError,
};
// The argument's memory is of the caller's frame, or becomes the callee's.
static constexpr Attribute::AttrKind onStack[] = {
    Attribute::ByVal, Attribute::ByRef, Attribute::InAlloca, Attribute::Preallocated,
};

/// Whether an argument with the attributes `here` can be handed on as one with `there`.
static bool samePlace(AttributeSet here, AttributeSet there) {
  return all_of(placing, [&](Attribute::AttrKind kind) { return here.getAttribute(kind) == there.getAttribute(kind); }) &&
         none_of(onStack, [&](Attribute::AttrKind kind) { return here.hasAttribute(kind) || there.hasAttribute(kind); });
}

static bool sameInterface(const CallInst &call, const Function &function) {
  CallingConv::ID convention = function.getCallingConv();
  if (convention != CallingConv::C && convention != CallingConv::Fast)
    return false;
  if (call.getFunctionType() != function.getFunctionType() || call.getCallingConv() != convention || function.isVarArg())
    return false;
  AttributeList there = call.getAttributes(), here = function.getAttributes();
  for (unsigned number = 0; number < function.arg_size(); ++number)
    if (!samePlace(here.getParamAttrs(number), there.getParamAttrs(number)))
      return false;
  return true;
}

/// The call whose answer the block returns at once; null: there is none.
static CallInst *lastCall(const BasicBlock &block) {
  const auto *end = dyn_cast<ReturnInst>(block.getTerminator());
  if (!end)
    return nullptr;
  auto *call = dyn_cast_or_null<CallInst>(const_cast<Instruction *>(end->getPrevNode()));
  if (!call || (end->getReturnValue() && end->getReturnValue() != call))
    return nullptr;
  return call;
}

/// Whether the callee has probes, as far as anybody knows, and keeps to a function's part. Among functions that call each other
/// some may have more.
static bool keepsToItsPart(const CallInst &call, const Calls &calls) {
  Callee kind = Calls::kind(call);
  return (kind == Callee::Contract || kind == Callee::Known) && calls.of(call).longest() <= calls.part();
}

/// Whether the callee may take the caller's place on the stack.
static bool mayTakeOver(const CallInst &call, const Function &function) {
  // `tail`: no memory of the caller's frame goes along.
  return call.getTailCallKind() == CallInst::TCK_Tail && !call.hasOperandBundles() && call.getCalledOperand() != &function &&
         sameInterface(call, function);
}

bool fixTailCalls(Function &function, const Calls &calls) {
  if (function.hasOptNone() || function.getFnAttribute("disable-tail-calls").getValueAsBool())
    return false;
  bool changed = false;
  for (BasicBlock &block : function) {
    CallInst *call = lastCall(block);
    if (call && mayTakeOver(*call, function) && keepsToItsPart(*call, calls)) {
      call->setTailCallKind(CallInst::TCK_MustTail);
      changed = true;
    }
  }
  return changed;
}

} // namespace caudal
