//===- mutate.cpp - Deletes each probe in turn and asks the verifier ----------------------------------------------===//
//
// Probes a module's functions, then, for each probe, a copy of the module without it: is the bound broken, and does the
// verifier say so? Whether it is broken is found by brute force: the function is executed, on many arguments, both ways
// wherever a jump depends on what is not known (what memory holds, what calls return), and the cost since the last probe is
// added up as it goes. The search shares the costs of instructions and calls with the pass, and nothing else.
//
// What is found by executing can happen, so a broken bound that the verifier misses is a fault (exit status 1). What the
// verifier reports and no execution shows is counted: it has to assume more than can happen where it cannot follow a
// condition; --exact makes it a fault as well.
//
// Recursive functions are passed over: their part of the bound is the pass's choice.
//
//===--------------------------------------------------------------------------------------------------------------===//
#include "Compat.h"
#include "Options.h"
#include "Pass.h"
#include "analysis/Calls.h"
#include "analysis/Cost.h"
#include "analysis/Jumps.h"
#include "analysis/Limits.h"
#include "analysis/ProbesInCode.h"
#include "verify/Verify.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include <map>
#include <optional>
#include <unordered_map>

using namespace llvm;
using namespace caudal;

static cl::opt<std::string> input(cl::Positional, cl::desc("module"), cl::Required);
static cl::opt<std::string> optionsText("options", cl::desc("the pass's options"), cl::init("mode=flag"));
static cl::opt<bool> exact("exact", cl::desc("a report without an execution that shows it is a fault"));
static cl::opt<bool> verbose("v", cl::desc("a line for each deletion"));

namespace {

constexpr size_t mostStates = 8'000; // for one set of arguments
constexpr size_t mostArguments = 20; // sets of them

/// In the order of the function.
std::vector<Instruction *> probesOf(Function &function) {
  std::vector<Instruction *> found;
  for (Instruction &instruction : instructions(function))
    if (isProbe(instruction))
      found.push_back(&instruction);
  return found;
}

/// What is left, if it is carried, is what was left.
void removeProbe(Instruction &probe) {
  if (!probe.getType()->isVoidTy())
    probe.replaceAllUsesWith(probe.getOperand(0));
  probe.eraseFromParent();
}

/// What is known of values: numbers; what is missing is not known.
using Environment = std::map<const Value *, APInt>;

/// Executes a function.
class Execution {
public:
  Execution(Function &function, const TargetTransformInfo &tti, const Calls &calls, const Limits &limits)
      : function_(function), dominators_(function), loops_(dominators_), costs_(tti, loops_), calls_(calls),
        limits_(limits) {}

  /// Whether a path without a probe is longer than the limits, with these arguments.
  bool isBroken(const Environment &arguments);
  std::string how; ///< where it first was
  bool isComplete = true;

private:
  struct State {
    const BasicBlock *block;
    const BasicBlock *from;
    Environment values;
    Cost cost;
    bool sinceProbe; ///< else since the function's entry
    std::map<const Loop *, Cost> iterations; ///< cost where the running iteration began; missing: there was a probe since
  };

  void enter(const BasicBlock *to, const State &state);
  void run(State state);
  void go(const State &state, Cost ahead);
  void atReturn(const State &state, Cost whole);
  void breaks(const State &state, Cost whole);
  std::optional<APInt> value(const Value *operand, const Environment &values) const;
  std::optional<APInt> evaluate(const Instruction &instruction, const Environment &values) const;
  std::vector<const BasicBlock *> successorsOf(const Instruction &terminator, const Environment &values) const;
  bool isNew(const State &state);

  Function &function_;
  DominatorTree dominators_;
  LoopInfo loops_;
  CostModel costs_;
  const Calls &calls_;
  const Limits limits_;
  std::vector<State> waiting_;
  std::unordered_map<size_t, Cost> seen_;
  bool broken_ = false;
};

std::optional<APInt> Execution::value(const Value *operand, const Environment &values) const {
  if (const auto *number = dyn_cast<ConstantInt>(operand))
    return number->getValue();
  if (isa<ConstantPointerNull>(operand))
    return APInt(64, 0);
  auto found = values.find(operand);
  if (found == values.end())
    return std::nullopt;
  return found->second;
}

std::optional<APInt> Execution::evaluate(const Instruction &instruction, const Environment &values) const {
  auto operand = [&](unsigned i) { return value(instruction.getOperand(i), values); };
  if (const auto *select = dyn_cast<SelectInst>(&instruction)) {
    auto condition = operand(0);
    return condition ? value(condition->isZero() ? select->getFalseValue() : select->getTrueValue(), values) : std::nullopt;
  }
  if (const auto *address = dyn_cast<GetElementPtrInst>(&instruction)) {
    auto base = operand(0);
    AddressOffsets variable;
    APInt constant(64, 0);
    if (!base || !address->collectOffset(function_.getDataLayout(), 64, variable, constant))
      return std::nullopt;
    for (auto &[index, scale] : variable) {
      auto known = value(index, values);
      if (!known)
        return std::nullopt;
      constant += known->sextOrTrunc(64) * scale;
    }
    return *base + constant;
  }
  if (const auto *intrinsic = dyn_cast<IntrinsicInst>(&instruction)) {
    if (intrinsic->arg_size() < 2)
      return std::nullopt;
    auto a = operand(0), b = operand(1);
    if (!a || !b)
      return std::nullopt;
    switch (intrinsic->getIntrinsicID()) {
    case Intrinsic::umin: return APIntOps::umin(*a, *b);
    case Intrinsic::umax: return APIntOps::umax(*a, *b);
    case Intrinsic::smin: return APIntOps::smin(*a, *b);
    case Intrinsic::smax: return APIntOps::smax(*a, *b);
    case Intrinsic::usub_sat: return a->usub_sat(*b);
    default: return std::nullopt;
    }
  }
  if (isa<CallBase>(instruction) || isa<LoadInst>(instruction) || instruction.getNumOperands() == 0)
    return std::nullopt;
  auto a = operand(0);
  if (!a)
    return std::nullopt;
  if (instruction.getNumOperands() == 1) {
    unsigned bits = instruction.getType()->isPointerTy() ? 64 : instruction.getType()->isIntegerTy() ? instruction.getType()->getIntegerBitWidth() : 0;
    if (!bits)
      return std::nullopt;
    switch (instruction.getOpcode()) {
    case Instruction::ZExt:
    case Instruction::Trunc:
    case Instruction::PtrToInt:
    case Instruction::IntToPtr: return a->zextOrTrunc(bits);
    case Instruction::SExt: return a->sext(bits);
    case Instruction::Freeze: return a;
    default: return std::nullopt;
    }
  }
  auto b = operand(1);
  if (!b || a->getBitWidth() != b->getBitWidth())
    return std::nullopt;
  if (const auto *compare = dyn_cast<ICmpInst>(&instruction))
    return APInt(1, ICmpInst::compare(*a, *b, compare->getPredicate()));
  unsigned bits = a->getBitWidth();
  switch (instruction.getOpcode()) {
  case Instruction::Add: return *a + *b;
  case Instruction::Sub: return *a - *b;
  case Instruction::Mul: return *a * *b;
  case Instruction::And: return *a & *b;
  case Instruction::Or: return *a | *b;
  case Instruction::Xor: return *a ^ *b;
  case Instruction::Shl: return b->ult(bits) ? a->shl(*b) : APInt(bits, 0);
  case Instruction::LShr: return b->ult(bits) ? a->lshr(*b) : APInt(bits, 0);
  case Instruction::AShr: return b->ult(bits) ? a->ashr(*b) : APInt(bits, 0);
  case Instruction::UDiv: return b->isZero() ? std::nullopt : std::optional<APInt>(a->udiv(*b));
  case Instruction::URem: return b->isZero() ? std::nullopt : std::optional<APInt>(a->urem(*b));
  case Instruction::SDiv: return b->isZero() || b->isAllOnes() ? std::nullopt : std::optional<APInt>(a->sdiv(*b));
  case Instruction::SRem: return b->isZero() || b->isAllOnes() ? std::nullopt : std::optional<APInt>(a->srem(*b));
  default: return std::nullopt;
  }
}

std::vector<const BasicBlock *> Execution::successorsOf(const Instruction &terminator, const Environment &values) const {
  if (const auto *branch = dyn_cast<BranchInst>(&terminator); branch && branch->isConditional())
    if (auto condition = value(branch->getCondition(), values))
      return {branch->getSuccessor(condition->isZero() ? 1 : 0)};
  if (const auto *choice = dyn_cast<SwitchInst>(&terminator))
    if (auto condition = value(choice->getCondition(), values))
      return {choice->findCaseValue(ConstantInt::get(function_.getContext(), *condition))->getCaseSuccessor()};
  std::vector<const BasicBlock *> all;
  for (const BasicBlock *successor : successors(&terminator))
    if (!is_contained(all, successor))
      all.push_back(successor);
  return all;
}

/// Whether this place has been reached with these values, at no lower cost, before.
bool Execution::isNew(const State &state) {
  hash_code key = hash_combine(state.block, state.from, state.sinceProbe);
  for (auto &[of, known] : state.values)
    key = hash_combine(key, of, known);
  auto [found, fresh] = seen_.try_emplace(size_t(key), state.cost);
  if (!fresh && state.cost <= found->second)
    return false;
  found->second = state.cost;
  return true;
}

void Execution::go(const State &state, Cost ahead) {
  Cost whole = state.cost + ahead;
  if (whole > (state.sinceProbe ? limits_.bound : limits_.call))
    breaks(state, whole);
}

/// The path to the return is `whole`.
void Execution::atReturn(const State &state, Cost whole) {
  if (whole > (state.sinceProbe ? limits_.call : limits_.across))
    breaks(state, whole);
}

void Execution::breaks(const State &state, Cost whole) {
  if (broken_)
    return;
  broken_ = true;
  raw_string_ostream text(how);
  text << whole.inCycles() << " cycles since " << (state.sinceProbe ? "a probe" : "the entry") << " in ";
  state.block->printAsOperand(text, false);
  for (auto &[of, known] : state.values) {
    text << ' ';
    of->printAsOperand(text, false);
    text << '=';
    known.print(text, true);
  }
}

/// Takes the edge from the end of `state`'s block.
void Execution::enter(const BasicBlock *to, const State &state) {
  State next = state;
  next.from = state.block;
  next.block = to;
  // An iteration takes as long as what each needs of the one before.
  for (const Loop *loop = loops_.getLoopFor(to); loop; loop = loop->getParentLoop()) {
    if (loop->getHeader() != to)
      continue;
    if (loop->contains(state.block))
      if (auto began = next.iterations.find(loop); began != next.iterations.end())
        next.cost = longer(next.cost, began->second + costs_.recurrence(*loop));
    next.iterations[loop] = next.cost;
  }
  // All phis at once.
  Environment values = next.values;
  for (const PHINode &phi : to->phis()) {
    auto known = value(phi.getIncomingValueForBlock(state.block), next.values);
    values.erase(&phi);
    if (known)
      values.emplace(&phi, *known);
  }
  // What is dead must not tell states apart: of a loop's body, only the header's phis live on in its next iteration.
  if (const Loop *loop = loops_.getLoopFor(to); loop && loop->getHeader() == to && loop->contains(state.block))
    for (auto at = values.begin(); at != values.end();) {
      const auto *instruction = dyn_cast<Instruction>(at->first);
      bool dead = instruction && loop->contains(instruction) && !(isa<PHINode>(instruction) && instruction->getParent() == to);
      at = dead ? values.erase(at) : std::next(at);
    }
  next.values = std::move(values);
  go(next, Cost::zero());
  if (isNew(next))
    waiting_.push_back(std::move(next));
}

void Execution::run(State state) {
  if (state.block->isEHPad()) {
    state.cost = limits_.call;
    state.sinceProbe = true;
    state.iterations.clear();
  }
  CostModel::Walk walk(costs_, *state.block);
  for (const Instruction &instruction : *state.block) {
    if (isProbe(instruction)) {
      state.cost = Cost::zero();
      state.sinceProbe = true;
      state.iterations.clear();
      walk.restart();
      continue;
    }
    Cost cost = walk.add(instruction);
    if (const auto *call = dyn_cast<CallBase>(&instruction)) {
      PathBounds paths = calls_.of(*call);
      const auto *last = dyn_cast<CallInst>(call);
      bool jumps = last && isJump(*last);
      if (!paths.prefix.isNone()) {
        go(state, paths.prefix);
        walk.restart();
      }
      // Both a path through and one with probes in it: the costlier at the end goes on. A path since the entry and one since
      // a probe are apart.
      if (!paths.suffix.isNone() && (paths.through.isNone() || !state.sinceProbe || state.cost + paths.through + cost < paths.suffix)) {
        if (!paths.through.isNone() && !state.sinceProbe) {
          State straight = state;
          straight.cost = state.cost + paths.through + cost;
          jumps ? atReturn(straight, straight.cost) : go(straight, Cost::zero());
        }
        state.cost = paths.suffix;
        state.sinceProbe = true;
        state.iterations.clear();
        go(state, Cost::zero());
        if (!jumps)
          continue;
        cost = Cost::zero();
      } else {
        cost = cost + paths.through;
      }
      if (jumps) {
        // The return is the callee's.
        atReturn(state, state.cost + cost);
        return;
      }
    }
    state.cost = state.cost + cost;
    go(state, Cost::zero());
    if (!isa<PHINode>(instruction)) {
      state.values.erase(&instruction);
      if (auto known = evaluate(instruction, state.values))
        state.values.emplace(&instruction, *known);
    }
    if (broken_)
      return;
  }
  const Instruction &terminator = *state.block->getTerminator();
  if (isa<ReturnInst>(terminator))
    atReturn(state, state.cost);
  for (const BasicBlock *to : successorsOf(terminator, state.values))
    enter(to, state);
}

bool Execution::isBroken(const Environment &arguments) {
  broken_ = false;
  seen_.clear();
  waiting_.clear();
  waiting_.push_back({&function_.getEntryBlock(), nullptr, arguments, Cost::zero(), false, {}});
  for (size_t states = 0; !waiting_.empty() && !broken_; ++states) {
    if (states == mostStates) {
      isComplete = false;
      break;
    }
    State state = std::move(waiting_.back());
    waiting_.pop_back();
    run(std::move(state));
  }
  return broken_;
}

/// Sets of arguments: numbers at the ends and around powers of two, pointers some way apart. All are known, for what is not is
/// taken both ways at each jump, and two jumps that depend on one argument would contradict each other.
std::vector<Environment> argumentsOf(const Function &function, bool thorough) {
  static constexpr uint64_t few[] = {600, 0, 1, 33, 7, 200, UINT64_MAX - 300};
  static constexpr uint64_t pointers[] = {0x10000, 0x10008, 0x10400, 0x12000, 0x10001};
  std::vector<uint64_t> numbers(std::begin(few), std::end(few));
  // All that copies of a loop's body may leave over.
  if (thorough && function.arg_size() < 3)
    for (uint64_t number = 600; number < 760; number++)
      numbers.push_back(number);
  std::vector<Environment> sets{{}};
  for (const Argument &argument : function.args()) {
    std::vector<Environment> more;
    bool isNumber = argument.getType()->isIntegerTy() && argument.getType()->getIntegerBitWidth() <= 64;
    if (!isNumber && !argument.getType()->isPointerTy())
      continue;
    for (const Environment &set : sets) {
      if (isNumber)
        for (uint64_t number : numbers) {
          more.push_back(set);
          more.back().emplace(&argument, APInt(64, number).zextOrTrunc(argument.getType()->getIntegerBitWidth()));
        }
      if (argument.getType()->isPointerTy())
        for (uint64_t pointer : pointers) {
          more.push_back(set);
          more.back().emplace(&argument, APInt(64, pointer));
        }
    }
    sets = std::move(more);
  }
  // Spread over all.
  size_t most = thorough ? 20 * mostArguments : mostArguments;
  std::vector<Environment> chosen;
  for (size_t i = 0, step = sets.size() / most; i < std::min(sets.size(), most); i++)
    chosen.push_back(sets[sets.size() <= most ? i : i * step + i % 7 % step]);
  return chosen;
}

class Mutations {
public:
  Mutations(Module &module, TargetMachine &machine, const Options &options)
      : module_(module), options_(options), builder_(&machine) {
    builder_.registerModuleAnalyses(modules_);
    builder_.registerCGSCCAnalyses(components_);
    builder_.registerFunctionAnalyses(functions_);
    builder_.registerLoopAnalyses(loops_);
    builder_.crossRegisterProxies(loops_, functions_, components_, modules_);
  }

  int run();

private:
  Verified ask(Function &function, const Calls &known);
  bool execute(Function &function, const Calls &known, const Limits &limits, bool thorough, bool &complete, std::string &how);
  void deletions(Function &function, const Calls &known, const Limits &limits);

  Module &module_;
  const Options &options_;
  LoopAnalysisManager loops_;
  FunctionAnalysisManager functions_;
  CGSCCAnalysisManager components_;
  ModuleAnalysisManager modules_;
  PassBuilder builder_;
  unsigned deleted_ = 0, broken_ = 0, missed_ = 0, cautious_ = 0, incomplete_ = 0, before_ = 0;
};

Verified Mutations::ask(Function &function, const Calls &known) {
  return verify(function, functions_.getResult<TargetIRAnalysis>(function), functions_.getResult<TargetLibraryAnalysis>(function),
                known, Limits::of(options_).ofFunction(function));
}

bool Mutations::execute(Function &function, const Calls &known, const Limits &limits, bool thorough, bool &complete,
                        std::string &how) {
  Execution execution(function, functions_.getResult<TargetIRAnalysis>(function), known, limits.ofFunction(function));
  bool broken = false;
  for (const Environment &arguments : argumentsOf(function, thorough))
    if (!broken)
      broken = execution.isBroken(arguments);
  complete = execution.isComplete;
  how = execution.how;
  return broken;
}

void Mutations::deletions(Function &function, const Calls &known, const Limits &limits) {
  bool complete = true;
  std::string how;
  bool broken = execute(function, known, limits, /*thorough=*/false, complete, how);
  bool reported = !ask(function, known).violations.empty();
  if (broken || reported) {
    before_ += broken;
    errs() << function.getName() << ": with all probes: " << (broken ? "broken: " + how : "kept") << ", "
           << (reported ? "reported" : "not reported") << '\n';
  }
  if (broken && !reported)
    missed_++;
  size_t count = probesOf(function).size();
  for (size_t i = 0; i < count; i++) {
    ValueToValueMapTy map;
    Function *copy = CloneFunction(&function, map);
    Instruction *probe = probesOf(*copy)[i];
    std::string place = probe->getParent()->getName().str();
    removeProbe(*probe);
    complete = true;
    broken = execute(*copy, known, limits, /*thorough=*/false, complete, how);
    Verified verified = ask(*copy, known);
    reported = !verified.violations.empty();
    if (reported && !broken)
      broken = execute(*copy, known, limits, /*thorough=*/true, complete, how);
    deleted_++;
    broken_ += broken;
    incomplete_ += !broken && !complete;
    if (broken != reported || verbose)
      errs() << function.getName() << ": without probe " << i << " (" << place << "): " << (broken ? "broken: " + how : "kept")
             << ", " << (reported ? "reported: " + verified.violations.front().what : "not reported") << '\n';
    missed_ += broken && !reported;
    cautious_ += !broken && reported;
    functions_.clear(*copy, copy->getName());
    copy->eraseFromParent();
  }
}

int Mutations::run() {
  ProbePass(options_).run(module_, modules_);
  functions_.clear();
  Limits limits = Limits::of(options_);
  Calls known(options_, limits);
  // Callees first; recursive functions are passed over.
  std::vector<Function *> all;
  {
    CallGraph graph(module_);
    for (auto component = scc_begin(&graph); !component.isAtEnd(); ++component)
      if (Function *function = component->front()->getFunction();
          !component.hasCycle() && function && function->hasFnAttribute("caudal-probed"))
        all.push_back(function);
  }
  for (Function *function : all) {
    deletions(*function, known, limits);
    known.learn(*function, ask(*function, known).paths);
  }
  outs() << deleted_ << " deletions, " << broken_ << " break the bound, " << missed_ << " of them missed, " << cautious_
         << " reported without need, " << incomplete_ << " not searched to the end\n";
  return missed_ || (exact && cautious_) || before_ ? 1 : 0;
}

} // namespace

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv);
  InitializeNativeTarget();
  LLVMContext context;
  SMDiagnostic diagnostic;
  std::unique_ptr<Module> module = parseIRFile(input, diagnostic, context);
  if (!module) {
    diagnostic.print(argv[0], errs());
    return 2;
  }
  Expected<Options> options = Options::parse(optionsText);
  if (!options) {
    errs() << toString(options.takeError()) << '\n';
    return 2;
  }
  std::string error;
  Triple triple("x86_64-pc-linux-gnu");
#if LLVM_VERSION_MAJOR >= 22
  const Target *target = TargetRegistry::lookupTarget(triple, error);
  std::unique_ptr<TargetMachine> machine(target->createTargetMachine(triple, "", "", TargetOptions(), std::nullopt));
#else
  const Target *target = TargetRegistry::lookupTarget(triple.str(), error);
  std::unique_ptr<TargetMachine> machine(target->createTargetMachine(triple.str(), "", "", TargetOptions(), std::nullopt));
#endif
  return Mutations(*module, *machine, *options).run();
}
