// Hands what is left of the budget on in a register through recursion. Called by Bounded.cpp, after insertion;
// BudgetInLoops.cpp asks which functions take it. See BudgetInCalls.h.
#include "insert/BudgetInCalls.h"
#include "analysis/Cost.h"
#include "insert/BudgetVariable.h"
#include "analysis/Size.h"
#include "analysis/Jumps.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace caudal {

/// Calls `inner` with `arguments` and what is left in the variable `left`, and leaves there what that leaves. `purse`: where
/// the caller keeps it for callees.
static CallInst *callWith(IRBuilder<> &builder, Function &inner, SmallVectorImpl<Value *> &arguments,
                          const AttributeList &attributes, Value *left, Type *type, Value *purse) {
  builder.CreateStore(builder.CreateZExtOrTrunc(builder.CreateLoad(type, left), builder.getInt64Ty()), purse);
  arguments.push_back(purse);
  CallInst *call = builder.CreateCall(&inner, arguments);
  call->setCallingConv(inner.getCallingConv());
  call->setAttributes(attributes.addParamAttribute(inner.getContext(), unsigned(arguments.size()) - 1, Attribute::SwiftError));
  builder.CreateStore(builder.CreateTrunc(builder.CreateLoad(builder.getInt64Ty(), purse), type), left);
  return call;
}

/// Replaces `call` by one of `inner`.
static void replaceCall(CallBase &call, Function &inner, Value *left, Type *type, Value *purse) {
  IRBuilder<> builder(&call);
  SmallVector<Value *, 8> arguments(call.args());
  CallInst *handing = callWith(builder, inner, arguments, call.getAttributes(), left, type, purse);
  handing->copyMetadata(call);
  handing->takeName(&call);
  call.replaceAllUsesWith(handing);
  call.eraseFromParent();
}

void Handing::replace(CallBase &call, Function &inner, AllocaInst &left) {
  if (!purse_) {
    IRBuilder<> builder(&caller_.getEntryBlock(), caller_.getEntryBlock().begin());
    purse_ = builder.CreateAlloca(builder.getPtrTy(), nullptr, "caudal.handed");
    purse_->setSwiftError(true);
  }
  replaceCall(call, inner, &left, left.getAllocatedType(), purse_);
}

Function *carriedCallee(const Instruction &instruction, const Carried &carried) {
  const auto *call = dyn_cast<CallInst>(&instruction);
  if (!call || !call->getCalledFunction() || call->hasOperandBundles())
    return nullptr;
  // Who jumps to a function can not put back what it leaves.
  if (isJump(*call))
    return nullptr;
  return carried.lookup(call->getCalledFunction());
}

/// Replaces `calls`, all in `caller`, which fetches what is left in front of each and puts back what it leaves.
static void replaceCalls(Function &caller, ArrayRef<CallInst *> calls, const Carried &carried, ProbeWriter &writer) {
  Handing handing(caller);
  auto *left = new AllocaInst(writer.purseType(), caller.getDataLayout().getAllocaAddrSpace(), "",
                              caller.getEntryBlock().begin());
  for (CallInst *call : calls) {
    writer.take(left, call);
    writer.putBack(left, call->getNextNode());
    handing.replace(*call, *carriedCallee(*call, carried), *left);
  }
  DominatorTree dominators(caller);
  PromoteMemToReg({left}, dominators);
}

namespace {

class CallCarrier {
public:
  CallCarrier(ArrayRef<Function *> functions, MutableArrayRef<Spending> spending, FunctionAnalysisManager &analyses,
              const Calls &calls, ProbeWriter &writer)
      : functions_(functions), spending_(spending), analyses_(analyses), calls_(calls), writer_(writer),
        members_(functions.begin(), functions.end()) {}

  bool isCold() const;
  bool can() const;
  bool pays() const;
  std::vector<Function *> run();

private:
  bool canKeepOver(const Instruction &instruction, const LoopInfo &loops) const;
  bool canTake(const Function &function) const;
  bool isWithin(const Instruction &instruction) const;
  Function *withParameter(Function &function);
  void carry(Function &inner, Spending &spending);
  void stand(Function &outer);
  ArrayRef<Function *> functions_;
  MutableArrayRef<Spending> spending_;
  FunctionAnalysisManager &analyses_;
  const Calls &calls_;
  ProbeWriter &writer_;
  SmallPtrSet<const Function *, 4> members_;
  Carried inner_;
};

/// Whether `instruction` calls one of the functions.
bool CallCarrier::isWithin(const Instruction &instruction) const {
  const auto *call = dyn_cast<CallBase>(&instruction);
  return call && call->getCalledFunction() && members_.contains(call->getCalledFunction());
}

/// Whether `function` can have a parameter that is both handed over and handed back: r12, as Swift's functions hand on their errors.
static bool hasRoomForParameter(const Function &function) {
  // Others have r12 for arguments, or keep it for their callers.
  return isOfC(function.getCallingConv()) && !function.isVarArg() &&
         none_of(function.args(), [](const Argument &argument) {
           return argument.hasSwiftErrorAttr() || argument.hasInAllocaAttr() || argument.hasPreallocatedAttr() ||
                  argument.hasNestAttr();
         });
}

/// Whether another function can have the body of `function`, which comes back to callers in one way, with what is left in the register.
static bool canMove(const Function &function) {
  return function.doesNotThrow() && !function.isInterposable() && !function.hasOptNone() && !function.hasComdat() &&
         none_of(function, [](const BasicBlock &block) { return block.hasAddressTaken() || block.isEHPad() || jumpOf(block); });
}

/// Whether what is left can be kept in a register over `instruction`.
bool CallCarrier::canKeepOver(const Instruction &instruction, const LoopInfo &loops) const {
  if (isWithin(instruction)) {
    const auto *call = dyn_cast<CallInst>(&instruction);
    return call && !call->hasOperandBundles() && Calls::kind(*call) == Callee::Known;
  }
  if (const auto *alloca = dyn_cast<AllocaInst>(&instruction); alloca && alloca->isSwiftError())
    return false;
  if (!maySpend(instruction, calls_))
    return true;
  // One that somebody wrote with `asm goto`: it comes back in many places.
  if (isa<CallBrInst>(instruction))
    return false;
  // Around it, what is left is put back and fetched, for which the plan has room in loops alone.
  return loops.getLoopFor(instruction.getParent());
}

bool CallCarrier::canTake(const Function &function) const {
  if (!hasRoomForParameter(function) || !canMove(function))
    return false;
  // Others rely on what every function keeps to.
  const PathBounds *paths = calls_.find(function);
  if (!isOwn(function) && (!paths || pathsThrough(*paths).longest() > calls_.part() || pathsThrough(*paths).through > calls_.partAcross()))
    return false;
  const LoopInfo &loops = analyses_.getResult<LoopAnalysis>(const_cast<Function &>(function));
  return all_of(instructions(function), [&](const Instruction &instruction) { return canKeepOver(instruction, loops); });
}

/// Whether none of them is to be quick.
bool CallCarrier::isCold() const {
  return all_of(functions_, [&](Function *function) { return caudal::isCold(function->getEntryBlock(), analyses_); });
}

bool CallCarrier::can() const {
  return all_of(functions_, [&](const Function *function) { return canTake(*function); });
}

/// Whether probes are close to each other, and many for each call of something else that may spend.
bool CallCarrier::pays() const {
  static constexpr double farApart = 48, leastGain = 1.25;
  double spends = 0, moves = 0, cycles = 0;
  for (auto [function, spending] : zip(functions_, spending_)) {
    auto &frequencies = analyses_.getResult<BlockFrequencyAnalysis>(*function);
    CostModel costs(analyses_.getResult<TargetIRAnalysis>(*function), analyses_.getResult<LoopAnalysis>(*function));
    double entries = double(frequencies.getEntryFreq().getFrequency());
    auto frequency = [&](const BasicBlock *block) { return double(frequencies.getBlockFreq(block).getFrequency()) / entries; };
    for (const CallInst *probe : spending)
      spends += frequency(probe->getParent());
    for (const Instruction &instruction : instructions(*function)) {
      cycles += frequency(instruction.getParent()) * double(costs.issue(instruction).inUnits()) / double(Cost::unitsPerCycle);
      if (!isWithin(instruction) && maySpend(instruction, calls_))
        moves += frequency(instruction.getParent());
    }
  }
  return spends > leastGain * moves && cycles < farApart * spends;
}

/// A function with the body of `function` and a parameter more, which is left without one.
Function *CallCarrier::withParameter(Function &function) {
  SmallVector<Type *, 8> parameters(function.getFunctionType()->params());
  parameters.push_back(PointerType::getUnqual(function.getContext()));
  auto *type = FunctionType::get(function.getReturnType(), parameters, /*isVarArg=*/false);
  Function *inner = Function::Create(type, GlobalValue::InternalLinkage, function.getAddressSpace(),
                                     function.getName() + ".carried");
  function.getParent()->getFunctionList().insert(function.getIterator(), inner);
  inner->copyAttributesFrom(&function);
  inner->setVisibility(GlobalValue::DefaultVisibility);
  inner->setDLLStorageClass(GlobalValue::DefaultStorageClass);
  inner->addParamAttr(unsigned(parameters.size()) - 1, Attribute::SwiftError);
  inner->setSubprogram(function.getSubprogram());
  function.setSubprogram(nullptr);
  inner->splice(inner->begin(), &function);
  for (auto [from, to] : zip(function.args(), inner->args())) {
    from.replaceAllUsesWith(&to);
    to.takeName(&from);
  }
  return inner;
}

static Argument *purseOf(Function &inner) { return inner.getArg(unsigned(inner.arg_size()) - 1); }

void CallCarrier::carry(Function &inner, Spending &spending) {
  // No invokes: nothing unwinds here.
  SmallVector<CallInst *, 8> within, others;
  for (Instruction &instruction : instructions(inner)) {
    if (isWithin(instruction))
      within.push_back(cast<CallInst>(&instruction));
    else if (maySpend(instruction, calls_))
      others.push_back(cast<CallInst>(&instruction));
  }
  Purse purse(inner, nullptr, writer_, spending);
  AllocaInst *left = purse.variable();
  for (CallInst *call : others)
    purse.aroundCall(*call);
  for (CallInst *call : within)
    replaceCall(*call, *inner_.lookup(call->getCalledFunction()), left, left->getAllocatedType(), purseOf(inner));
  IRBuilder<> builder(left->getNextNode());
  Type *type = left->getAllocatedType();
  builder.CreateStore(builder.CreateTrunc(builder.CreateLoad(builder.getInt64Ty(), purseOf(inner)), type), left);
  for (BasicBlock &block : inner)
    if (auto *end = dyn_cast<ReturnInst>(block.getTerminator())) {
      builder.SetInsertPoint(end);
      builder.CreateStore(builder.CreateZExtOrTrunc(builder.CreateLoad(type, left), builder.getInt64Ty()), purseOf(inner));
    }
  DominatorTree dominators(inner);
  PromoteMemToReg({left}, dominators);
  spending = {};
}

/// `outer` fetches what is left, calls the function that has its body, and puts back what that leaves.
void CallCarrier::stand(Function &outer) {
  IRBuilder<> builder(BasicBlock::Create(outer.getContext(), "", &outer));
  SmallVector<Value *, 8> arguments;
  for (Argument &argument : outer.args())
    arguments.push_back(&argument);
  CallInst *call = builder.CreateCall(&outer, arguments);
  call->setAttributes(outer.getAttributes().removeFnAttributes(outer.getContext()));
  call->setDoesNotThrow();
  if (outer.getReturnType()->isVoidTy())
    builder.CreateRetVoid();
  else
    builder.CreateRet(call);
  replaceCalls(outer, call, inner_, writer_);
}

std::vector<Function *> CallCarrier::run() {
  std::vector<Function *> inner;
  for (Function *function : functions_) {
    analyses_.clear(*function, function->getName());
    inner.push_back(inner_[function] = withParameter(*function));
  }
  for (auto [function, spending] : zip(inner, spending_))
    carry(*function, spending);
  for (Function *outer : functions_)
    stand(*outer);
  return inner;
}

} // namespace

std::vector<Function *> carryInCalls(ArrayRef<Function *> functions, MutableArrayRef<Spending> spending,
                                     FunctionAnalysisManager &analyses, const Calls &calls, ProbeWriter &writer) {
  CallCarrier carrier(functions, spending, analyses, calls, writer);
  if (!writer.charges() || carrier.isCold() || !carrier.can() || !carrier.pays())
    return {};
  return carrier.run();
}

void callDirectly(Function &caller, const Carried &carried, ProbeWriter &writer) {
  // With more, each would be longer than a call of what stands for the callee.
  static constexpr unsigned few = 2;
  SmallVector<CallInst *, 8> calls;
  for (Instruction &instruction : instructions(caller))
    if (carriedCallee(instruction, carried))
      if (auto *call = cast<CallInst>(&instruction); !call->getCalledFunction()->hasNUsesOrMore(few + 1))
        calls.push_back(call);
  if (!calls.empty())
    replaceCalls(caller, calls, carried, writer);
}

} // namespace caudal
