#include "TailCalls.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

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

/// Whether both have the same prototype, which `musttail` demands.
static bool sameInterface(const CallInst &call, const Function &function) {
  if (call.getFunctionType() != function.getFunctionType() || function.isVarArg())
    return false;
  AttributeList there = call.getAttributes(), here = function.getAttributes();
  for (unsigned number = 0; number < function.arg_size(); ++number)
    if (!samePlace(here.getParamAttrs(number), there.getParamAttrs(number)))
      return false;
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

/// Whether code generation may align the function's frame: then it ends with a return of its own.
static bool alignsFrame(const Function &function) {
  static constexpr unsigned aligned = 16;
  auto isWide = [](const Type &type) { return type.isVectorTy() && type.getPrimitiveSizeInBits().getKnownMinValue() > 8 * aligned; };
  if (function.hasFnAttribute("stackrealign") || function.hasFnAttribute(Attribute::StackAlignment))
    return true;
  return any_of(instructions(function), [&](const Instruction &instruction) {
    const auto *memory = dyn_cast<AllocaInst>(&instruction);
    return (memory && memory->getAlign().value() > aligned) || isWide(*instruction.getType());
  });
}

/// Whether code generation makes a jump of such a call though the prototypes differ.
static bool differsInRegistersAlone(const CallInst &call, const Function &function) {
  AttributeList there = call.getAttributes(), here = function.getAttributes();
  auto sameAnswer = [&](Attribute::AttrKind kind) { return here.hasRetAttr(kind) == there.hasRetAttr(kind); };
  const Type &answer = *call.getType();
  if (call.getFunctionType()->isVarArg() || function.isVarArg() || function.getCallingConv() != CallingConv::C)
    return false;
  if (!answer.isVoidTy() && !isOfOneRegister(answer))
    return false;
  if (!function.getReturnType()->isVoidTy() &&
      !all_of(std::initializer_list<Attribute::AttrKind>{Attribute::ZExt, Attribute::SExt, Attribute::InReg}, sameAnswer))
    return false;
  bool plainArguments = all_of(function.args(), [&](const Argument &argument) {
    return samePlace(AttributeSet(), here.getParamAttrs(argument.getArgNo()));
  });
  return plainArguments && areInRegisters(call) && !alignsFrame(function);
}

/// Whether the callee has probes, as far as anybody knows, and keeps to a function's part. Among functions that call each other
/// some may have more.
static bool keepsToItsPart(const CallInst &call, const Calls &calls, ArrayRef<Function *> circle) {
  Callee kind = Calls::kind(call);
  if (!circle.empty() && (calls.isSimple(call) || is_contained(circle, call.getCalledFunction())))
    return false;
  return (kind == Callee::Contract || kind == Callee::Known) && calls.of(call).longest() <= calls.part();
}

/// Whether the callee may take the caller's place on the stack.
static bool mayTakeOver(const CallInst &call, const Function &function) {
  CallingConv::ID convention = function.getCallingConv();
  // `tail`: no memory of the caller's frame goes along.
  return call.getTailCallKind() == CallInst::TCK_Tail && !call.hasOperandBundles() && call.getCalledOperand() != &function &&
         call.getCallingConv() == convention && (convention == CallingConv::C || convention == CallingConv::Fast);
}

/// The call that is the last instruction of `block` in front of its jump or return; null: there is none.
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

TailCalls fixTailCalls(Function &function, const Calls &calls, ArrayRef<Function *> circle) {
  if (function.hasOptNone() || function.getFnAttribute("disable-tail-calls").getValueAsBool())
    return TailCalls::None;
  SmallVector<CallInst *, 8> last;
  for (BasicBlock &block : function)
    if (CallInst *call = lastCall(block); call && mayTakeOver(*call, function) && returnsAnswer(block, *call) &&
                                          keepsToItsPart(*call, calls, circle))
      last.push_back(call);
  TailCalls done = TailCalls::None;
  for (CallInst *call : last) {
    bool same = sameInterface(*call, function);
    if (!same && !differsInRegistersAlone(*call, function))
      continue;
    if (done == TailCalls::None)
      done = TailCalls::Calls;
    if (!isa<ReturnInst>(call->getParent()->getTerminator())) {
      returnAtOnce(*call->getParent(), *call);
      done = TailCalls::Returns;
    }
    if (same)
      call->setTailCallKind(CallInst::TCK_MustTail);
    call->setMetadata(mark, MDNode::get(function.getContext(), {}));
  }
  return done;
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

bool isWrittenJump(const CallInst &call) { return call.isMustTailCall() && !call.hasMetadata(mark); }

} // namespace caudal
