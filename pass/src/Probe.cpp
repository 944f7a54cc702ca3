#include "Probe.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace caudal {

// caudal/probe.h, "Offsets in caudal_probe_v1".
static constexpr unsigned deadlineOffset = 0, budgetOffset = 8, creditOffset = 52, askedOffset = 0, lineBytes = 64;
static constexpr StringLiteral coldPrefix = "call *caudal_probe_cold_";

/// Whether the module's code can only become part of an executable.
static bool isForExecutables(const Module &module) {
  return module.getPIELevel() != PIELevel::Default || module.getPICLevel() == PICLevel::NotPIC;
}

static bool wantsLocalExec(const Module &module, Tls tls) {
  return tls == Tls::LocalExec || (tls == Tls::Auto && isForExecutables(module));
}

static GlobalVariable *threadLine(Module &module, StringRef name, bool localExec) {
  if (GlobalVariable *known = module.getGlobalVariable(name))
    return known;
  auto *type = ArrayType::get(Type::getInt8Ty(module.getContext()), lineBytes);
  auto *line = new GlobalVariable(module, type, /*isConstant=*/false, GlobalValue::ExternalLinkage, nullptr, name, nullptr,
                                  localExec ? GlobalValue::LocalExecTLSModel : GlobalValue::InitialExecTLSModel);
  line->setAlignment(Align(lineBytes));
  return line;
}

static StringRef coldEntry(Mode mode) {
  switch (mode) {
  case Mode::Clock:
    return "caudal_probe_cold_clock_v1";
  case Mode::Flag:
    return "caudal_probe_cold_flag_v1";
  // Not of the probe ABI: who compares defines them (pass/bench/harness.c).
  case Mode::InstructionCounter:
    return "caudal_probe_cold_instruction_counter";
  case Mode::CounterGatedClock:
    return "caudal_probe_cold_counter_gated_clock";
  default:
    return "caudal_probe_cold_budget_v1";
  }
}

ProbeWriter::ProbeWriter(Module &module, const Options &options)
    : module_(module), mode_(options.mode), bound_(options.bound), i64_(Type::getInt64Ty(module.getContext())),
      line_(threadLine(module, mode_ == Mode::Flag ? "caudal_flag_v1" : "caudal_probe_v1",
                       wantsLocalExec(module, options.tls))) {
  // The call is written as it has to be: not through a PLT slot, whose resolver changes registers, and changing r11 and
  // the flags alone. As an ordinary call it would take a frame, and a register in which the entry's address is kept.
  std::string text = ("call *" + coldEntry(mode_) + "@GOTPCREL(%rip)").str();
  cold_ = InlineAsm::get(FunctionType::get(Type::getVoidTy(module.getContext()), false), text,
                         "~{r11},~{memory},~{dirflag},~{fpsr},~{flags}", /*hasSideEffects=*/true);
  coldCarried_ = InlineAsm::get(FunctionType::get(i64_, {i64_}, false), (coldPrefix + "carried_v1@GOTPCREL(%rip)").str(),
                                "={r11},{r11},~{memory},~{dirflag},~{fpsr},~{flags}", /*hasSideEffects=*/true);
}

Value *ProbeWriter::field(IRBuilder<> &builder, unsigned offset) const {
  // The address is taken anew at each probe: the cold path may come back on another thread.
  Value *address = builder.CreateThreadLocalAddress(line_);
  return offset == 0 ? address : builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), address, offset);
}

IntegerType *ProbeWriter::purseType() const {
  return mode_ == Mode::Clock ? Type::getInt32Ty(module_.getContext()) : i64_;
}

Value *ProbeWriter::purse(IRBuilder<> &builder) const {
  return field(builder, mode_ == Mode::Clock ? creditOffset : budgetOffset);
}

static Align alignmentOf(IntegerType *type) { return Align(type->getBitWidth() / 8); }

Value *ProbeWriter::spend(IRBuilder<> &builder, Value *spent) {
  IntegerType *type = purseType();
  Value *place = purse(builder);
  LoadInst *had = builder.CreateAlignedLoad(type, place, alignmentOf(type));
  Value *left = builder.CreateSub(had, builder.CreateTrunc(spent, type), "caudal.left");
  spending_.loads.push_back(had);
  spending_.stores.push_back(builder.CreateAlignedStore(left, place, alignmentOf(type)));
  return left;
}

/// Whether the probe has to go on: to the cold path, or, in clock mode, to the clock.
Value *ProbeWriter::isDue(IRBuilder<> &builder, Value *spent) {
  if (mode_ == Mode::Flag) {
    LoadInst *asked = builder.CreateAlignedLoad(builder.getInt8Ty(), field(builder, askedOffset), Align(1));
    asked->setVolatile(true);
    return builder.CreateIsNotNull(asked, "caudal.due");
  }
  Value *left = spend(builder, spent);
  return builder.CreateICmpSLT(left, Constant::getNullValue(left->getType()), "caudal.due");
}

/// In clock mode, the clock is looked at once a bound has been spent.
Value *ProbeWriter::isLate(IRBuilder<> &builder) {
  spending_.stores.push_back(builder.CreateAlignedStore(builder.getInt32(bound_), purse(builder), Align(4)));
  Value *now = builder.CreateIntrinsic(Intrinsic::readcyclecounter, {});
  Value *deadline = builder.CreateAlignedLoad(i64_, field(builder, deadlineOffset), Align(8));
  return builder.CreateICmpUGE(now, deadline, "caudal.late");
}

/// The instrumented program's own line; calls without one are refused in functions that have debug information.
static DebugLoc lineOf(const Instruction &before) {
  if (before.getDebugLoc())
    return before.getDebugLoc();
  if (DISubprogram *subprogram = before.getFunction()->getSubprogram())
    return DILocation::get(before.getContext(), 0, 0, subprogram);
  return DebugLoc();
}

BasicBlock *ProbeWriter::probe(Instruction *before, Value *spent) {
  IRBuilder<> builder(before);
  builder.SetCurrentDebugLocation(lineOf(*before));
  Value *due = isDue(builder, spent);
  MDNode *unlikely = MDBuilder(module_.getContext()).createUnlikelyBranchWeights();
  Instruction *then = SplitBlockAndInsertIfThen(due, before, /*Unreachable=*/false, unlikely);
  if (mode_ == Mode::Clock) {
    builder.SetInsertPoint(then);
    then->getParent()->setName("caudal.clock");
    then = SplitBlockAndInsertIfThen(isLate(builder), then, /*Unreachable=*/false, unlikely);
  }
  builder.SetInsertPoint(then);
  builder.SetCurrentDebugLocation(lineOf(*before));
  CallInst *cold = builder.CreateCall(cold_);
  cold->setDoesNotThrow();
  spending_.colds.push_back(cold);
  // The call that the compiler does not see pushes a return address.
  before->getFunction()->addFnAttr(Attribute::NoRedZone);
  then->getParent()->setName("caudal.cold");
  return before->getParent();
}

void ProbeWriter::keep(BasicBlock &block) {
  IRBuilder<> builder(block.getTerminator());
  builder.CreateCall(InlineAsm::get(FunctionType::get(builder.getVoidTy(), false), "", "", /*hasSideEffects=*/true));
}

void ProbeWriter::take(Value *left, Instruction *before) const {
  IRBuilder<> builder(before);
  builder.CreateStore(builder.CreateAlignedLoad(purseType(), purse(builder), alignmentOf(purseType())), left);
}

void ProbeWriter::putBack(Value *left, Instruction *before) const {
  IRBuilder<> builder(before);
  builder.CreateAlignedStore(builder.CreateLoad(purseType(), left), purse(builder), alignmentOf(purseType()));
}

void ProbeWriter::carryThrough(AllocaInst *left, CallInst *cold) const {
  if (mode_ == Mode::Clock)
    return; // it has given itself its credit
  IRBuilder<> builder(cold);
  CallInst *carried = builder.CreateCall(coldCarried_, {builder.CreateLoad(i64_, left)});
  carried->setDoesNotThrow();
  builder.CreateStore(carried, left);
  cold->eraseFromParent();
}

BasicBlock *coldSuccessor(BasicBlock &block) {
  auto *branch = dyn_cast<BranchInst>(block.getTerminator());
  if (!branch || !branch->isConditional())
    return nullptr;
  for (BasicBlock *successor : successors(&block)) {
    Instruction *first = &*successor->getFirstNonPHIOrDbg();
    if (auto *call = dyn_cast<CallBase>(first); call && isColdCall(*call))
      return successor;
    bool readsClock = any_of(*successor, [](Instruction &instruction) {
      auto *intrinsic = dyn_cast<IntrinsicInst>(&instruction);
      return intrinsic && intrinsic->getIntrinsicID() == Intrinsic::readcyclecounter;
    });
    if (readsClock && successor->getSinglePredecessor() == &block && coldSuccessor(*successor))
      return successor;
  }
  return nullptr;
}

bool isColdCall(const CallBase &call) {
  const auto *assembly = dyn_cast<InlineAsm>(call.getCalledOperand());
  return assembly && assembly->getAsmString().starts_with(coldPrefix);
}

} // namespace caudal
