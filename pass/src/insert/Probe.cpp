// Writes the instructions of one probe. Pass.cpp makes one writer for a module; the strategies write the probes of their plans with it,
// and the files that keep the budget in a register replace probes by it. See Probe.h.
#include "insert/Probe.h"
#include "analysis/ProbesInCode.h"
#include "Compat.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace caudal {

// caudal/probe.h, "Offsets in caudal_probe_v1".
static constexpr unsigned budgetOffset = 8, creditOffset = 52, askedOffset = 0, lineBytes = 64;

static constexpr StringLiteral clobbers = ",~{memory},~{dirflag},~{fpsr},~{flags}";

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
    return "caudal_probe_cold_credit_v1";
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
    : module_(module), mode_(options.mode), i64_(Type::getInt64Ty(module.getContext())),
      localExec_(wantsLocalExec(module, options.tls)),
      line_(threadLine(module, mode_ == Mode::Flag ? "caudal_flag_v1" : "caudal_probe_v1", localExec_)) {}

Value *ProbeWriter::field(IRBuilder<> &builder, unsigned offset) const {
  // The address is taken anew at each probe: the cold path may come back on another thread.
  Value *address = builder.CreateThreadLocalAddress(line_);
  return offset == 0 ? address : builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), address, offset);
}

IntegerType *ProbeWriter::budgetType() const {
  return mode_ == Mode::Clock ? Type::getInt32Ty(module_.getContext()) : i64_;
}

Value *ProbeWriter::budgetPlace(IRBuilder<> &builder) const {
  return field(builder, mode_ == Mode::Clock ? creditOffset : budgetOffset);
}

static Align alignmentOf(IntegerType *type) { return Align(type->getBitWidth() / 8); }

Function *ProbeWriter::declared(StringRef cold) {
  auto *type = FunctionType::get(Type::getVoidTy(module_.getContext()), false);
  auto *function = cast<Function>(module_.getOrInsertFunction(cold, type).getCallee());
  function->setDSOLocal(true);
  return function;
}

/// A function of the module's own that is `text` and nothing else.
static Function *ownFunction(Module &module, const Twine &name, const Twine &text) {
  if (Function *known = module.getFunction(name.str()))
    return known;
  LLVMContext &context = module.getContext();
  auto *type = FunctionType::get(Type::getVoidTy(context), false);
  Function *function = Function::Create(type, GlobalValue::InternalLinkage, name, module);
  for (Attribute::AttrKind attribute : {Attribute::Naked, Attribute::NoInline, Attribute::NoUnwind})
    function->addFnAttr(attribute);
  function->addFnAttr(ownAttribute);
  function->setUWTableKind(UWTableKind::Async);
  IRBuilder<> builder(BasicBlock::Create(context, "", function));
  builder.CreateCall(InlineAsm::get(type, text.str(), "", /*hasSideEffects=*/true));
  builder.CreateUnreachable();
  return function;
}

/// The function by which code calls `name` of the library. Not a PLT slot, whose resolver changes registers: an executable
/// has the probe library in it, a shared object jumps through the table of addresses.
Function *ProbeWriter::ofLibrary(StringRef name) {
  return localExec_ ? declared(name) : ownFunction(module_, name + ".own", "jmp *" + name + "@GOTPCREL(%rip)");
}

/// The entry that a due probe calls; `isInRegister`: what is left is in a register. In clock mode it comes back in r11 in any case.
Function *ProbeWriter::entry(bool isInRegister) {
  bool hasOwnEntry = isInRegister && mode_ == Mode::Budget;
  return ofLibrary(hasOwnEntry ? "caudal_probe_cold_carried_v1" : coldEntry(mode_));
}

/// Where a budget in a register comes and goes: the result's constraint and the first operand's. In any register is better where calls
/// keep it, and r11 where none does: other values would have longer instructions for a lower register's sake.
static constexpr StringLiteral anyRegister = "=r,0", ownRegister = "={r11},{r11}";

/// A probe of a budget in a register: less what the operand 2 says, of which `spent` are the constraints. In AT&T's syntax: Intel's without percent
/// signs is read by LLVM's assembler only (-fno-integrated-as).
InlineAsm *ProbeWriter::registerAssembly(FunctionType *type, StringRef spent, bool inAnyRegister) const {
  std::string constraints = ((inAnyRegister ? anyRegister : ownRegister) + "," + spent + ",i").str();
  if (!inAnyRegister)
    return assembly(mode_ == Mode::Clock ? "subl $2, ${0:k}" : "subq $2, $0", "jl", 3, type, constraints);
  std::string text = ("subq $2, $0\n\tjl" + jumpIn + "${3" + ofRegister).str();
  return InlineAsm::get(type, text, constraints + clobbers.str(), /*hasSideEffects=*/true);
}

/// `looks`: what says in the flags whether the probe is due; `due`: the jump that is taken then.
InlineAsm *ProbeWriter::assembly(StringRef looks, StringRef due, unsigned entryOperand, FunctionType *type,
                                 StringRef constraints) const {
  std::string text = (looks + "\n\t" + due + jumpIn + "${" + Twine(entryOperand) + ":P}").str();
  return InlineAsm::get(type, text, (constraints + clobbers).str(), /*hasSideEffects=*/true);
}

/// The instrumented program's own line; calls without one are refused in functions that have debug information.
static DebugLoc lineOf(const Instruction &before) {
  if (before.getDebugLoc())
    return before.getDebugLoc();
  if (DISubprogram *subprogram = before.getFunction()->getSubprogram())
    return DILocation::get(before.getContext(), 0, 0, subprogram);
  return DebugLoc();
}

static StringRef constraintOf(const Value *spent) { return isa<ConstantInt>(spent) ? "i" : "r"; }

void ProbeWriter::probe(Instruction *before, Value *spent) {
  IRBuilder<> builder(before);
  builder.SetCurrentDebugLocation(lineOf(*before));
  Type *none = builder.getVoidTy(), *pointer = builder.getPtrTy(), *looked = charges() ? budgetType() : builder.getInt8Ty();
  Function *cold = entry(/*isInRegister=*/false);
  CallInst *probe;
  if (charges()) {
    spent = builder.CreateTrunc(spent, looked);
    StringRef subtract = mode_ == Mode::Clock ? "subl $1, $0" : "subq $1, $0";
    auto *type = FunctionType::get(none, {pointer, looked, pointer}, false);
    probe = builder.CreateCall(assembly(subtract, "jl", 2, type, ("=*m," + constraintOf(spent) + ",i,~{r11}").str()),
                               {budgetPlace(builder), spent, cold});
    spending_.push_back(probe);
  } else {
    auto *type = FunctionType::get(none, {pointer, pointer}, false);
    probe = builder.CreateCall(assembly("cmpb $$0, $0", "jne", 1, type, "*m,i,~{r11}"), {field(builder, askedOffset), cold});
  }
  probe->addParamAttr(0, Attribute::get(builder.getContext(), Attribute::ElementType, looked));
  finish(probe);
}

/// A probe never unwinds, and comes back: what is known of a loop's count for that stays known with one in it.
static CallInst *comesBack(CallInst *probe) {
  probe->setDoesNotThrow();
  probe->addFnAttr(Attribute::WillReturn);
  return probe;
}

/// The call that the compiler does not see pushes a return address.
CallInst *ProbeWriter::finish(CallInst *probe) {
  comesBack(probe)->getFunction()->addFnAttr(Attribute::NoRedZone);
  return probe;
}

/// Of the units that the library has called probes for, the closest; 0: none is close.
static int64_t unitsCalled(int64_t spent) {
  int64_t best = 0;
  for (int64_t units : {1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 127})
    if (std::abs(units - spent) <= std::abs(best - spent))
      best = units;
  return spent > 160 ? 0 : best;
}

/// A call of the whole probe `name`. `left`: what is left, if it is in a register.
CallInst *ProbeWriter::called(IRBuilder<> &builder, StringRef name, Value *left) {
  Function *function = ofLibrary(name);
  Type *pointer = builder.getPtrTy();
  if (left) {
    auto *type = FunctionType::get(left->getType(), {left->getType(), pointer}, false);
    auto *text = InlineAsm::get(type, "call ${2:P}", ("={r11},{r11},i" + clobbers).str(), /*hasSideEffects=*/true);
    return finish(builder.CreateCall(text, {left, function}));
  }
  auto *type = FunctionType::get(builder.getVoidTy(), pointer, false);
  auto *text = InlineAsm::get(type, "call ${0:P}", ("i,~{r11}" + clobbers).str(), /*hasSideEffects=*/true);
  return finish(builder.CreateCall(text, function));
}

void ProbeWriter::probe(Instruction *before, int64_t spent, bool isSeldom) {
  int64_t units = charges() ? unitsCalled(spent) : 0;
  if (!isSeldom || (charges() && units == 0)) {
    probe(before, ConstantInt::get(i64_, uint64_t(spent)));
    return;
  }
  IRBuilder<> builder(before);
  builder.SetCurrentDebugLocation(lineOf(*before));
  if (charges())
    spending_.push_back(called(builder, (spendPrefix + Twine(units) + "_v1").str(), nullptr));
  else
    called(builder, lookName, nullptr);
}

static Value *sum(IRBuilder<> &builder, Value *left, int64_t units) {
  return units == 0 ? left : builder.CreateAdd(left, ConstantInt::getSigned(left->getType(), units));
}

void ProbeWriter::take(Value *left, Instruction *before, int64_t slack) const {
  IRBuilder<> builder(before);
  Value *had = builder.CreateAlignedLoad(budgetType(), budgetPlace(builder), alignmentOf(budgetType()));
  builder.CreateStore(sum(builder, had, slack), left);
}

void ProbeWriter::putBack(Value *left, Instruction *before, int64_t slack) const {
  IRBuilder<> builder(before);
  Value *has = sum(builder, builder.CreateLoad(budgetType(), left), -slack);
  builder.CreateAlignedStore(has, budgetPlace(builder), alignmentOf(budgetType()));
}

void ProbeWriter::spendVariable(AllocaInst *left, CallInst *probe, bool acrossCalls) {
  IRBuilder<> builder(probe);
  IntegerType *type = budgetType();
  Value *had = builder.CreateLoad(type, left);
  CallInst *spending;
  if (StringRef name = calledProbe(*probe); name.consume_front(spendPrefix)) {
    spending = called(builder, (spendPrefix + "carried_" + name.substr(0, name.find('.'))).str(), had);
  } else {
    Value *spent = probe->getArgOperand(1);
    auto *form = FunctionType::get(type, {type, type, builder.getPtrTy()}, false);
    // The library has an entry for each register, which only its own executable can name by what code generation takes.
    bool inAnyRegister = acrossCalls && mode_ == Mode::Budget && localExec_;
    InlineAsm *text = registerAssembly(form, constraintOf(spent), inAnyRegister);
    spending = finish(builder.CreateCall(text, {had, spent, entry(/*isInRegister=*/true)}));
  }
  builder.CreateStore(spending, left);
  // What computed its place goes with it.
  auto *place = dyn_cast<Instruction>(probe->getArgOperand(0));
  probe->eraseFromParent();
  if (place)
    RecursivelyDeleteTriviallyDeadInstructions(place);
}

} // namespace caudal
