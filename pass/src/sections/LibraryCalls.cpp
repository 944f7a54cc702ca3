// Declares the functions of the probe library that sections call, and puts two of them around a call. Called by
// Redirection.cpp, SurroundedCalls.cpp and Sections.cpp. See LibraryCalls.h.
#include "sections/LibraryCalls.h"
#include "sections/Surround.h"

using namespace llvm;

namespace caudal {

FunctionCallee LibraryCalls::library(StringRef name, ArrayRef<Type *> parameters, Type *result) {
  result = result ? result : Type::getVoidTy(module_.getContext());
  FunctionCallee callee =
      module_.getOrInsertFunction(name, FunctionType::get(result, parameters, /*isVarArg=*/false));
  if (auto *function = dyn_cast<Function>(callee.getCallee()))
    function->setDoesNotThrow();
  hasChanged_ = true;
  return callee;
}

void surround(CallBase &call, FunctionCallee enter, FunctionCallee exit) {
  CallInst *entered = callBefore(&call, call, enter, {});
  SmallVector<Value *, 1> answer;
  if (!entered->getType()->isVoidTy())
    answer.push_back(entered);
  CallBase *around = &call;
  if (auto *plain = dyn_cast<CallInst>(around); plain && !plain->doesNotThrow())
    around = catchUnwinding(*plain);
  callBefore(behind(*around), *around, exit, answer);
  if (auto *invoke = dyn_cast<InvokeInst>(around))
    if (Instruction *place = behindUnwinding(*invoke))
      callBefore(place, *around, exit, answer);
}

} // namespace caudal
