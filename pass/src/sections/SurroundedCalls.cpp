// Puts critical sections around calls. Called by Sections.cpp, for one function after the other. See SurroundedCalls.h.
#include "sections/SurroundedCalls.h"
#include "analysis/Allocators.h"
#include "analysis/Calls.h"
#include "Compat.h"
#include "sections/Known.h"
#include "sections/Marks.h"
#include "sections/NamedFunctions.h"
#include "sections/Surround.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace caudal {

/// The stream that a function of stdio without a wrapper locks.
struct Stream {
  enum Kind { None, Argument, Unnamed } kind;
  unsigned argument;
};

static Stream streamOf(StringRef name) {
  auto argument = [](unsigned number) { return Stream{Stream::Argument, number}; };
  return NameSwitch<Stream>(name)
      .Cases({"fscanf", "vfscanf", "__isoc99_fscanf", "__isoc99_vfscanf", "__isoc23_fscanf", "__isoc23_vfscanf"},
             argument(0))
      .Case("__fgets_chk", argument(3))
      .Case("__fread_chk", argument(4))
      // Those that block by themselves.
      .Cases({"scanf", "vscanf", "__isoc99_scanf", "__isoc99_vscanf", "__isoc23_scanf", "__isoc23_vscanf"},
             Stream{Stream::Unnamed, 0})
      .Default(Stream{Stream::None, 0});
}

/// Functions of other modules, and what is called through pointers, may have probes: these do not yield while an allocator is
/// waiting for them, nor where they have returned to it. So may the copy that the linker takes of an inline function.
void SurroundedCalls::surroundInAllocator(Function &function, const DenseSet<const Function *> &allocators) {
  auto isPart = [&](const CallBase &call) {
    return hasNoProbes(call) || (allocators.contains(call.getCalledFunction()) && Calls::kind(call) == Callee::Known);
  };
  SmallVector<CallBase *, 16> calls;
  for (Instruction &instruction : instructions(function))
    if (auto *call = dyn_cast<CallBase>(&instruction);
        call && !isa<CallBrInst>(call) && !call->isMustTailCall() && !call->doesNotReturn() && !isPart(*call))
      calls.push_back(call);
  Type *depth = Type::getInt32Ty(calls_.module().getContext());
  for (CallBase *call : calls) {
    calls_.count(call->getCalledFunction() ? call->getCalledFunction()->getName() : "(through a pointer)");
    surround(*call, calls_.library("caudal_allocator_calls_v1", {}, depth), calls_.library("caudal_allocator_called_v1", {depth}));
  }
}

/// C++'s guards of static variables: waited for before the call, a lock after it.
bool SurroundedCalls::surroundGuard(CallBase &call, StringRef name) {
  LLVMContext &context = calls_.module().getContext();
  if (name == "__cxa_guard_acquire") {
    Type *pointer = PointerType::get(context, 0);
    callBefore(&call, call, calls_.library("caudal_guard_wait_v1", {pointer}), {call.getArgOperand(0)});
    callBefore(behind(call), call, calls_.library("caudal_guard_acquired_v1", {call.getType()}), {&call});
    return true;
  }
  if (name == "__cxa_guard_release" || name == "__cxa_guard_abort") {
    callBefore(behind(call), call, calls_.library("caudal_guard_released_v1", {}), {});
    return true;
  }
  return false;
}

bool SurroundedCalls::surroundScan(CallBase &call, StringRef name) {
  Stream stream = streamOf(name);
  bool hasStream = stream.argument < call.arg_size() && call.getArgOperand(stream.argument)->getType()->isPointerTy();
  if (stream.kind == Stream::None || (stream.kind == Stream::Argument && !hasStream))
    return false;
  // Only a thread that is cancelled unwinds out of these: it is not going to run anything else. The stream stays locked then.
  Instruction *after = behind(call);
  if (stream.kind == Stream::Argument) {
    Value *file = call.getArgOperand(stream.argument);
    callBefore(&call, call, calls_.library("caudal_stdio_enter_v1", {file->getType()}), {file});
    callBefore(after, call, calls_.library("caudal_stdio_exit_v1", {file->getType()}), {file});
  } else {
    callBefore(&call, call, calls_.library("caudal_section_enter_v1", {}), {});
    callBefore(after, call, calls_.library("caudal_section_exit_v1", {}), {});
  }
  return true;
}

/// A section from one call of a library to another.
bool SurroundedCalls::surroundKnown(CallBase &call, StringRef name) {
  KnownCall kind = knownCall(name);
  CallBase *last = kind == KnownCall::Leave ? &call : kind == KnownCall::Prepare ? preparedFor(call) : nullptr;
  if (kind != KnownCall::Enter && !last)
    return false;
  if (kind != KnownCall::Leave)
    callBefore(&call, call, calls_.library("caudal_section_enter_v1", {}), {});
  if (last)
    callBefore(behind(*last), *last, calls_.library("caudal_section_exit_v1", {}), {});
  return true;
}

/// Is each call of `callee` a section?
bool SurroundedCalls::isSectionCall(const Function &callee) {
  auto [known, isNew] = sectionCalls_.try_emplace(&callee, false);
  if (isNew)
    known->second = isRustPrint(callee.getName()) || (callee.isDeclaration() && (makesChild(callee.getName()) || loadsObjects(callee.getName()))) ||
                    (callee.isDeclaration() && knownCall(callee.getName()) == KnownCall::Section) ||
                    exclusions_.find(Exclusion::Call, callee.getName());
  return known->second;
}

void SurroundedCalls::surroundCalls(Function &function) {
  SmallVector<CallBase *, 16> calls;
  for (Instruction &instruction : instructions(function))
    if (auto *call = dyn_cast<CallBase>(&instruction); call && !isa<CallBrInst>(call) && !call->isMustTailCall())
      if (Function *callee = call->getCalledFunction(); callee && !callee->isIntrinsic())
        calls.push_back(call);
  for (CallBase *call : calls) {
    Function &callee = *call->getCalledFunction();
    bool isLibrarys = callee.isDeclaration();
    if (isLibrarys && (surroundGuard(*call, callee.getName()) || surroundScan(*call, callee.getName()) ||
                      surroundKnown(*call, callee.getName())))
      calls_.count(callee.getName());
    else if (isSectionCall(callee) || isMarkedCall(*call)) {
      calls_.count(callee.getName());
      surround(*call, calls_.library("caudal_section_enter_v1", {}), calls_.library("caudal_section_exit_v1", {}));
    }
  }
  rewriteCallOnce(function);
}

/// libstdc++'s std::call_once puts its closure into two thread-locals and calls pthread_once. From the first store to the one
/// that clears it nothing may yield, and who has to wait in between takes both along.
void SurroundedCalls::rewriteCallOnce(Function &function) {
  GlobalVariable *callable = calls_.module().getGlobalVariable("_ZSt15__once_callable");
  GlobalVariable *body = calls_.module().getGlobalVariable("_ZSt11__once_call");
  if (!callable || !body)
    return;
  auto isCallable = [&](const Value *address) {
    const auto *local = dyn_cast<IntrinsicInst>(address);
    return address == callable || (local && local->getIntrinsicID() == Intrinsic::threadlocal_address &&
                                   local->getArgOperand(0) == callable);
  };
  SmallVector<StoreInst *, 4> stores;
  SmallVector<CallBase *, 2> calls;
  for (Instruction &instruction : instructions(function)) {
    if (auto *store = dyn_cast<StoreInst>(&instruction); store && isCallable(store->getPointerOperand()))
      stores.push_back(store);
    if (auto *call = dyn_cast<CallBase>(&instruction); call && call->getCalledFunction())
      if (call->getCalledFunction()->getName() == "caudal_wrap_pthread_once_v1" &&
          call->getArgOperand(1)->stripPointerCasts()->getName() == "__once_proxy")
        calls.push_back(call);
  }
  for (StoreInst *store : stores) {
    if (isa<ConstantPointerNull>(store->getValueOperand()))
      callBefore(store->getNextNode(), *store, calls_.library("caudal_lock_exit_v1", {}), {});
    else
      callBefore(store, *store, calls_.library("caudal_lock_enter_v1", {}), {});
  }
  for (CallBase *call : calls) {
    IRBuilder<> builder(call);
    giveLine(builder, *call);
    Type *pointer = builder.getPtrTy();
    FunctionCallee wrapper = calls_.module().getOrInsertFunction(
        "caudal_wrap_std_call_once_v1",
        FunctionType::get(builder.getInt32Ty(), {pointer, pointer, pointer, pointer}, /*isVarArg=*/false));
    Value *arguments[] = {call->getArgOperand(0), call->getArgOperand(1), builder.CreateThreadLocalAddress(callable),
                          builder.CreateThreadLocalAddress(body)};
    CallBase *replacement;
    if (auto *invoke = dyn_cast<InvokeInst>(call))
      replacement = builder.CreateInvoke(wrapper, invoke->getNormalDest(), invoke->getUnwindDest(), arguments);
    else
      replacement = builder.CreateCall(wrapper, arguments);
    call->replaceAllUsesWith(replacement);
    call->eraseFromParent();
    calls_.change();
  }
}

} // namespace caudal
