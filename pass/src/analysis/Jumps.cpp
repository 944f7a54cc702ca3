// Says which calls code generation can make jumps of, and which are marked as jumps. Called by TailCalls.cpp, JumpCircles.cpp,
// the planner, the cost model and the verifier. See Jumps.h.
#include "analysis/Jumps.h"
#include "llvm/IR/InstIterator.h"
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

// On calls that are jumps and were not written so.
static constexpr char mark[] = "caudal.jump";

bool isOfC(CallingConv::ID convention) { return convention == CallingConv::C || convention == CallingConv::Fast; }

bool sameInterface(const CallInst &call, const Function &function) {
  if (call.getFunctionType() != function.getFunctionType() || function.isVarArg() ||
      call.getCallingConv() != function.getCallingConv())
    return false;
  AttributeList there = call.getAttributes(), here = function.getAttributes();
  for (unsigned number = 0; number < function.arg_size(); ++number) {
    if (!samePlace(here.getParamAttrs(number), there.getParamAttrs(number)))
      return false;
    // Where the answer is to be is returned as well.
    if (here.hasParamAttr(number, Attribute::StructRet) && call.getArgOperand(number) != function.getArg(number))
      return false;
  }
  return true;
}

/// Whether values of the type are passed in one register, and returned in one.
static bool isOfOneRegister(const Type &type) {
  return type.isPointerTy() || type.isFloatTy() || type.isDoubleTy() || (type.isIntegerTy() && type.getIntegerBitWidth() <= 64);
}

/// Whether all arguments of a call are in registers, by the System V ABI.
static bool areInRegisters(const CallInst &call) {
  static constexpr unsigned general = 6, vector = 8;
  unsigned inGeneral = 0, inVector = 0;
  for (unsigned number = 0; number < call.arg_size(); ++number) {
    const Type &type = *call.getArgOperand(number)->getType();
    if (!isOfOneRegister(type) || !samePlace(AttributeSet(), call.getAttributes().getParamAttrs(number)))
      return false;
    (type.isFloatingPointTy() ? inVector : inGeneral)++;
  }
  return inGeneral <= general && inVector <= vector;
}

/// Whether values of the type are returned in registers.
static bool isReturnedInRegisters(const Type &type) {
  if (const auto *pair = dyn_cast<StructType>(&type))
    return pair->getNumElements() <= 2 && all_of(pair->elements(), [](const Type *part) { return isOfOneRegister(*part); });
  return type.isVoidTy() || isOfOneRegister(type) || type.isIntegerTy(128);
}

/// The attributes of the result, without those that say nothing of how it is returned.
static AttrBuilder ofAnswer(LLVMContext &context, AttributeSet attributes) {
  AttrBuilder answer(context, attributes);
  for (Attribute::AttrKind kind : {Attribute::NoAlias, Attribute::NonNull, Attribute::NoUndef, Attribute::Alignment,
                                   Attribute::Dereferenceable, Attribute::DereferenceableOrNull, Attribute::Range})
    answer.removeAttribute(kind);
  return answer;
}

/// Whether what the callee answers can be returned as it is: extended as the caller's callers expect, in registers.
static bool sameAnswer(const CallInst &call, const Function &function) {
  if (function.getReturnType()->isVoidTy())
    return call.getType()->isVoidTy() || isOfOneRegister(*call.getType());
  LLVMContext &context = function.getContext();
  return call.getType() == function.getReturnType() && isReturnedInRegisters(*call.getType()) &&
         ofAnswer(context, call.getAttributes().getRetAttrs()) == ofAnswer(context, function.getAttributes().getRetAttrs());
}

/// Whether a value of the type may need more than 16 bytes' alignment where it is kept in memory, or is made of such.
static bool mayBeWide(const Type &type) {
  if (const auto *vector = dyn_cast<VectorType>(&type))
    return vector->getElementType()->isIntegerTy(1) || vector->getPrimitiveSizeInBits().getKnownMinValue() > 128;
  return any_of(type.subtypes(), [](const Type *part) { return mayBeWide(*part); });
}

/// Whether code generation may align the function's frame: then it ends with a return of its own.
static bool mayAlignFrame(const Function &function) {
  static constexpr uint64_t aligned = 16;
  if (function.hasFnAttribute("stackrealign") || function.hasFnAttribute(Attribute::StackAlignment) ||
      any_of(function.args(), [](const Argument &argument) { return mayBeWide(*argument.getType()); }))
    return true;
  return any_of(instructions(function), [&](const Instruction &instruction) {
    if (const auto *memory = dyn_cast<AllocaInst>(&instruction); memory && memory->getAlign().value() > aligned)
      return true;
    if (const auto *call = dyn_cast<CallBase>(&instruction))
      for (unsigned number = 0; number < call->arg_size(); ++number)
        if (call->isByValArgument(number) && call->getParamAlign(number).valueOrOne().value() > aligned)
          return true;
    return mayBeWide(*instruction.getType()) ||
           any_of(instruction.operands(), [](const Use &operand) { return mayBeWide(*operand->getType()); });
  });
}

/// Whether something is put before the function's returns after this pass, or registers are kept for its callers.
static bool mayEndOtherwise(const Function &function) {
  return function.hasGC() || function.hasFnAttribute(Attribute::SanitizeThread) ||
         any_of(std::initializer_list<StringRef>{"no_caller_saved_registers", "instrument-function-exit",
                                                 "instrument-function-exit-inlined"},
                [&](StringRef name) { return function.hasFnAttribute(name); });
}

/// Whether code generation makes a jump of such a call though the prototypes differ, but for what the function's end may have.
static bool differsInRegistersAlone(const CallInst &call, const Function &function) {
  AttributeList here = function.getAttributes();
  if (call.getFunctionType()->isVarArg() || function.isVarArg())
    return false;
  bool plainArguments = all_of(function.args(), [&](const Argument &argument) {
    return samePlace(AttributeSet(), here.getParamAttrs(argument.getArgNo()));
  });
  return plainArguments && areInRegisters(call);
}

/// Whether the callee may take the caller's place on the stack.
static bool mayTakeOver(const CallInst &call, const Function &function) {
  // `tail`: no memory of the caller's frame goes along.
  return call.getTailCallKind() == CallInst::TCK_Tail && !call.hasOperandBundles() &&
         isOfC(call.getCallingConv()) && isOfC(function.getCallingConv()) &&
         none_of(function.args(), [](const Argument &argument) { return argument.hasSwiftErrorAttr(); }) &&
         sameAnswer(call, function);
}

/// The call that is the last instruction of `block` before its jump or return; null: there is none.
static CallInst *lastCall(BasicBlock &block) {
  return dyn_cast_or_null<CallInst>(block.getTerminator()->getPrevNode());
}

/// Whether `block` ends with a return, or a jump to nothing but a return, and what is returned there is what `call` answers, or
/// nothing.
static bool returnsAnswer(const BasicBlock &block, const CallInst &call) {
  const BasicBlock *next = isa<BranchInst>(block.getTerminator()) ? block.getSingleSuccessor() : nullptr;
  const auto *end = dyn_cast<ReturnInst>(next ? &*next->getFirstNonPHIOrDbg() : block.getTerminator());
  if (!end)
    return false;
  const Value *returned = end->getReturnValue();
  if (const auto *phi = dyn_cast_or_null<PHINode>(returned); phi && phi->getParent() == next)
    returned = phi->getIncomingValueForBlock(&block);
  return !returned || returned == &call;
}

bool canJump(const CallInst &call, const Function &function, bool endsPlainly) {
  return sameInterface(call, function) || (endsPlainly && differsInRegistersAlone(call, function));
}

bool endsPlainly(const Function &function) { return !mayEndOtherwise(function) && !mayAlignFrame(function); }

bool hasJumps(const Function &function) {
  return !function.hasOptNone() && !function.getFnAttribute("disable-tail-calls").getValueAsBool();
}

SmallVector<CallInst *, 8> lastCalls(Function &function) {
  SmallVector<CallInst *, 8> last;
  for (BasicBlock &block : function)
    if (CallInst *call = lastCall(block); call && mayTakeOver(*call, function) && returnsAnswer(block, *call))
      last.push_back(call);
  return last;
}

bool isJump(const CallInst &call) {
  return call.isMustTailCall() || (call.hasMetadata(mark) && isa<ReturnInst>(call.getNextNode()));
}

const CallInst *jumpOf(const BasicBlock &block) {
  if (!isa<ReturnInst>(block.getTerminator()))
    return nullptr;
  const CallInst *call = block.getTerminatingMustTailCall();
  if (!call)
    call = dyn_cast_or_null<CallInst>(block.getTerminator()->getPrevNode());
  return call && isJump(*call) ? call : nullptr;
}

void markJump(CallInst &call) { call.setMetadata(mark, MDNode::get(call.getContext(), {})); }

} // namespace caudal
