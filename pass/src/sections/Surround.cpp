// Puts calls before code and after it, on every path out of it. Called by LibraryCalls.cpp, SurroundedCalls.cpp,
// Sections.cpp and ThreadLocals.cpp. See Surround.h.
#include "sections/Surround.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace caudal {

void giveLine(IRBuilder<> &builder, const Instruction &of) {
  if (of.getDebugLoc())
    builder.SetCurrentDebugLocation(of.getDebugLoc());
  else if (DISubprogram *subprogram = of.getFunction()->getSubprogram())
    builder.SetCurrentDebugLocation(DILocation::get(of.getContext(), 0, 0, subprogram));
}

CallInst *callBefore(Instruction *place, const Instruction &of, FunctionCallee callee, ArrayRef<Value *> arguments) {
  IRBuilder<> builder(place);
  giveLine(builder, of);
  CallInst *call = builder.CreateCall(callee, arguments);
  call->setDoesNotThrow();
  return call;
}

Instruction *behind(CallBase &call) {
  auto *invoke = dyn_cast<InvokeInst>(&call);
  if (!invoke)
    return call.getNextNode();
  BasicBlock *normal = invoke->getNormalDest();
  if (!normal->getSinglePredecessor())
    normal = SplitEdge(invoke->getParent(), normal);
  return &*normal->getFirstInsertionPt();
}

InvokeInst *catchUnwinding(CallInst &call) {
  Function &function = *call.getFunction();
  LLVMContext &context = function.getContext();
  if (!function.hasPersonalityFn())
    function.setPersonalityFn(cast<Constant>(
        function.getParent()
            ->getOrInsertFunction("__gcc_personality_v0", FunctionType::get(Type::getInt32Ty(context), /*isVarArg=*/true))
            .getCallee()));
  BasicBlock *cleanup = BasicBlock::Create(context, "caudal.unwind", &function);
  auto *type = StructType::get(PointerType::get(context, 0), Type::getInt32Ty(context));
  IRBuilder<> builder(cleanup);
  giveLine(builder, call);
  LandingPadInst *pad = builder.CreateLandingPad(type, 0);
  pad->setCleanup(true);
  builder.CreateResume(pad);
  BasicBlock *block = call.getParent();
  changeToInvokeAndSplitBasicBlock(&call, cleanup);
  return cast<InvokeInst>(block->getTerminator());
}

Instruction *behindUnwinding(InvokeInst &invoke) {
  BasicBlock *pad = invoke.getUnwindDest();
  if (!pad->isLandingPad())
    return nullptr;
  if (!pad->getSinglePredecessor()) {
    SmallVector<BasicBlock *, 2> parts;
    SplitLandingPadPredecessors(pad, {invoke.getParent()}, ".caudal", ".others", parts);
    pad = invoke.getUnwindDest();
  }
  return &*pad->getFirstInsertionPt();
}

} // namespace caudal
