#include "Probe.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace caudal {

// caudal/probe.h, "Offsets in caudal_probe_v1".
static constexpr unsigned deadlineOffset = 0, budgetOffset = 8, askedOffset = 0, lineBytes = 64;
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
  default:
    return "caudal_probe_cold_budget_v1";
  }
}

ProbeWriter::ProbeWriter(Module &module, const Options &options)
    : module_(module), mode_(options.mode), i64_(Type::getInt64Ty(module.getContext())),
      line_(threadLine(module, mode_ == Mode::Flag ? "caudal_flag_v1" : "caudal_probe_v1",
                       wantsLocalExec(module, options.tls))) {
  // The call is written as it has to be: not through a PLT slot, whose resolver changes registers, and changing r11 and
  // the flags alone. As an ordinary call it would take a frame, and a register in which the entry's address is kept.
  std::string text = ("call *" + coldEntry(mode_) + "@GOTPCREL(%rip)").str();
  cold_ = InlineAsm::get(FunctionType::get(Type::getVoidTy(module.getContext()), false), text,
                         "~{r11},~{memory},~{dirflag},~{fpsr},~{flags}", /*hasSideEffects=*/true);
}

Value *ProbeWriter::field(IRBuilder<> &builder, GlobalVariable *line, unsigned offset) {
  // The address is taken anew at each probe: the cold path may come back on another thread.
  Value *address = builder.CreateThreadLocalAddress(line);
  return offset == 0 ? address : builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), address, offset);
}

Value *ProbeWriter::spend(IRBuilder<> &builder, Value *spent) {
  Value *budget = field(builder, line_, budgetOffset);
  Value *left = builder.CreateSub(builder.CreateAlignedLoad(i64_, budget, Align(8)), spent, "caudal.left");
  builder.CreateAlignedStore(left, budget, Align(8));
  return left;
}

Value *ProbeWriter::isDue(IRBuilder<> &builder, Value *spent) {
  switch (mode_) {
  case Mode::Clock: {
    Value *now = builder.CreateIntrinsic(Intrinsic::readcyclecounter, {});
    Value *deadline = builder.CreateAlignedLoad(i64_, field(builder, line_, deadlineOffset), Align(8));
    return builder.CreateICmpUGE(now, deadline, "caudal.due");
  }
  case Mode::Flag: {
    LoadInst *asked = builder.CreateAlignedLoad(builder.getInt8Ty(), field(builder, line_, askedOffset), Align(1));
    asked->setAtomic(AtomicOrdering::Monotonic);
    return builder.CreateIsNotNull(asked, "caudal.due");
  }
  default:
    return builder.CreateICmpSLT(spend(builder, spent), builder.getInt64(0), "caudal.due");
  }
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
  builder.SetInsertPoint(then);
  builder.SetCurrentDebugLocation(lineOf(*before));
  builder.CreateCall(cold_)->setDoesNotThrow();
  // The call that the compiler does not see pushes a return address.
  before->getFunction()->addFnAttr(Attribute::NoRedZone);
  then->getParent()->setName("caudal.cold");
  return before->getParent();
}

void ProbeWriter::charge(Instruction *before, Value *spent) {
  if (!charges())
    return;
  IRBuilder<> builder(before);
  builder.SetCurrentDebugLocation(lineOf(*before));
  spend(builder, spent);
}

void ProbeWriter::keep(BasicBlock &block) {
  IRBuilder<> builder(block.getTerminator());
  builder.CreateCall(InlineAsm::get(FunctionType::get(builder.getVoidTy(), false), "", "", /*hasSideEffects=*/true));
}

bool isColdCall(const CallBase &call) {
  const auto *assembly = dyn_cast<InlineAsm>(call.getCalledOperand());
  return assembly && assembly->getAsmString().starts_with(coldPrefix);
}

} // namespace caudal
