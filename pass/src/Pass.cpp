// Pass.cpp: Runs all steps of the pass over a module: plans, inserts, verifies. Called by LLVM, for which Plugin.cpp registers
// it. See Pass.h.
#include "Pass.h"
#include "Baseline.h"
#include "Calls.h"
#include "Carry.h"
#include "CarryCalls.h"
#include "ExitValues.h"
#include "OwnSteps.h"
#include "Plan.h"
#include "PlanRecursive.h"
#include "Probe.h"
#include "Report.h"
#include "Resolvers.h"
#include "Sections.h"
#include "Seldom.h"
#include "SeparateLoops.h"
#include "StripMine.h"
#include "TailCalls.h"
#include "Unroll.h"
#include "UnrollRecursion.h"
#include "Verify.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/Analysis/ProfileSummaryInfo.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/EHPersonalities.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace caudal {

/// The attribute of functions that have been through the pass: its value is the mode.
static constexpr StringLiteral probedAttribute = "caudal-probed";

namespace {

class ModuleRun {
public:
  ModuleRun(Module &module, FunctionAnalysisManager &functions, const Options &options)
      : module_(module), functions_(functions), options_(options), limits_(Limits::of(options)),
        calls_(options, limits_), finished_(options, limits_),
        report_(module, options), sections_(module, options, report_) {
    resolvers_ = findResolvers(module);
  }

  bool run();

private:
  /// Functions that call each other in a circle, or one that does not.
  struct Component {
    std::vector<Function *> functions; ///< in the order of planning: callees first, but for calls of `early`
    bool isRecursive = false;
    CallsWithin::Set early; ///< if recursive: those that are called by functions planned before them
    DenseMap<const Function *, Cost> keeps; ///< what functions keep to, where it is not every function's part
  };

  std::vector<Component> bottomUp();
  static void orderRecursive(Component &component);
  StringRef whyNot(const Function &function) const;
  Analyses analysesOf(Function &function);
  Plan planOne(Function &function, const Limits &limits);
  std::vector<Plan> planAll(Component &component);
  bool instrument(Component &component, ProbeWriter &writer);
  void carry(Component &component, ArrayRef<Plan> plans, std::vector<Spending> spending, ProbeWriter &writer);
  void prepareLoops(Function &function);
  void insert(Function &function, const Plan &plan, ScalarEvolution &scev, ProbeWriter &writer);
  void check(Function &function, const Limits &limits);
  void check(const Component &component);
  void dropUncalled(std::vector<Component> &components);

  Module &module_;
  FunctionAnalysisManager &functions_;
  const Options &options_;
  Limits limits_;
  Calls calls_;    ///< what the planner knows of callees
  Calls finished_; ///< what the verifier found of them
  Baseline baseline_; ///< plans for the modes to compare with
  Report report_;
  DenseSet<const Function *> resolvers_;
  Sections sections_;
  Carried carried_; ///< by what stands for it
};

/// Whether `function` has a place to which something comes back that it calls: `setjmp`, `vfork`, the compiler's own `setjmp`.
static bool returnsTwice(const Function &function) {
  return function.callsFunctionThatReturnsTwice() || any_of(instructions(function), [](const Instruction &instruction) {
           const auto *call = dyn_cast<IntrinsicInst>(&instruction);
           return call && call->getIntrinsicID() == Intrinsic::eh_sjlj_setjmp;
         });
}

/// Why `function` is left alone; empty: it is not.
StringRef ModuleRun::whyNot(const Function &function) const {
  if (function.hasAvailableExternallyLinkage())
    return "another module's";
  if (function.hasFnAttribute(probedAttribute))
    return "probed before";
  if (function.hasFnAttribute(Attribute::Naked))
    return "naked";
  if (function.isPresplitCoroutine())
    return "a coroutine that is not yet split";
  if (returnsTwice(function))
    return "calls a function that returns twice";
  if (function.hasPersonalityFn() && isScopedEHPersonality(classifyEHPersonality(function.getPersonalityFn())))
    return "unwinds by funclets, as on Windows";
  if (resolvers_.contains(&function))
    return "resolves an ifunc, or is called by what does: it runs before thread-local storage exists";
  return sections_.whyLeftAlone(function);
}

/// Loops get blocks of their own in front and behind, where probes and a strip's start can stand.
void ModuleRun::prepareLoops(Function &function) {
  LoopInfo &loops = functions_.getResult<LoopAnalysis>(function);
  DominatorTree &dominators = functions_.getResult<DominatorTreeAnalysis>(function);
  bool changed = false;
  for (Loop *loop : loops.getLoopsInPreorder())
    if (!loop->getHeader()->isEHPad()) {
      if (!loop->getLoopPreheader())
        changed |= InsertPreheaderForLoop(loop, &dominators, &loops, nullptr, /*PreserveLCSSA=*/false) != nullptr;
      changed |= formDedicatedExitBlocks(loop, &dominators, &loops, nullptr, /*PreserveLCSSA=*/false);
    }
  if (changed)
    functions_.invalidate(function, PreservedAnalyses::none());
}

void ModuleRun::insert(Function &function, const Plan &plan, ScalarEvolution &scev, ProbeWriter &writer) {
  std::vector<PreparedStrip> prepared;
  for (const Strip &strip : plan.strips)
    prepared.push_back(prepareStrip(strip, scev));
  SmallPtrSet<const Instruction *, 16> computing; // what strips end at: part of their loops' ways in
  for (const PreparedStrip &strip : prepared) {
    computing.insert(strip.computing.begin(), strip.computing.end());
    cutStrip(strip, writer);
  }
  for (const Site &site : plan.sites) {
    Instruction *before = site.before;
    while (before->getPrevNode() && computing.contains(before->getPrevNode()))
      before = before->getPrevNode();
    writer.probe(before, site.expected.inCycles(), site.isSeldom);
  }
  for (PreparedStrip &strip : prepared)
    if (strip.replaced)
      RecursivelyDeleteTriviallyDeadInstructions(strip.replaced);
}

Analyses ModuleRun::analysesOf(Function &function) {
  return {functions_.getResult<LoopAnalysis>(function), functions_.getResult<ScalarEvolutionAnalysis>(function),
          functions_.getResult<BlockFrequencyAnalysis>(function), functions_.getResult<BranchProbabilityAnalysis>(function),
          functions_.getResult<TargetIRAnalysis>(function)};
}

Plan ModuleRun::planOne(Function &function, const Limits &limits) {
  return plan(function, analysesOf(function), calls_, limits.ofFunction(function));
}

std::vector<Plan> ModuleRun::planAll(Component &component) {
  if (component.isRecursive && !isBaseline(options_.mode)) {
    auto planned = planRecursive({component.functions, component.early}, limits_, calls_,
                                 [&](Function &function, const Limits &limits) { return planOne(function, limits); });
    component.keeps = std::move(planned.keeps);
    return std::move(planned.plans);
  }
  std::vector<Plan> plans;
  for (Function *function : component.functions)
    plans.push_back(isBaseline(options_.mode) ? baseline_.plan(*function, analysesOf(*function), component.isRecursive)
                                              : planOne(*function, limits_));
  return plans;
}

bool ModuleRun::instrument(Component &component, ProbeWriter &writer) {
  bool isCircle = component.isRecursive && !isBaseline(options_.mode);
  JumpCircles circles(isCircle ? ArrayRef<Function *>(component.functions) : ArrayRef<Function *>(), calls_);
  for (Function *function : component.functions) {
    if (isCircle && unrollRecursion(*function, functions_))
      functions_.invalidate(*function, PreservedAnalyses::none());
    if (!isBaseline(options_.mode) &&
        fixTailCalls(*function, calls_, circles, component.early.contains(function)) == TailCalls::Returns)
      functions_.invalidate(*function, PreservedAnalyses::none());
    prepareLoops(*function);
    if (!isBaseline(options_.mode) && separateLoops(*function, functions_)) {
      functions_.invalidate(*function, PreservedAnalyses::none());
      prepareLoops(*function);
    }
    bool changed = isBaseline(options_.mode) ? Baseline::makeJoins(*function, functions_)
                                             : unrollLoops(*function, functions_, limits_);
    if (changed) {
      functions_.invalidate(*function, PreservedAnalyses::none());
      prepareLoops(*function);
    }
  }
  std::vector<Plan> plans = planAll(component);
  std::vector<Spending> spending;
  for (auto [function, result] : zip(component.functions, plans)) {
    calls_.learn(*function, result.ways);
    report_.planned(*function, result);
    if (writer.hasCalled())
      chooseSeldom(*function, result, functions_, analysesOf(*function), calls_, component.isRecursive);
    insert(*function, result, functions_.getResult<ScalarEvolutionAnalysis>(*function), writer);
    spending.push_back(writer.takeSpending());
    functions_.invalidate(*function, PreservedAnalyses::none());
    function->addFnAttr(probedAttribute, modeName(options_.mode));
    // The thread's address (-mno-tls-direct-seg-refs) would be kept in a register over a yield that ends on another thread.
    function->removeFnAttr("indirect-tls-seg-refs");
  }
  if (!isBaseline(options_.mode))
    carry(component, plans, std::move(spending), writer);
  return !plans.empty();
}

/// Keeps what is left of the budget in registers where it pays: in circles of calls, else in loops.
void ModuleRun::carry(Component &component, ArrayRef<Plan> plans, std::vector<Spending> spending, ProbeWriter &writer) {
  std::vector<Function *> inner;
  if (component.isRecursive)
    inner = carryInCalls(component.functions, spending, functions_, calls_, writer);
  for (auto [outer, function] : zip(component.functions, inner)) {
    const Ways ways = *calls_.find(*outer);
    calls_.learn(*function, ways);
    calls_.learn(*outer, waysThrough(ways));
    Cost kept = limits_.call;
    if (component.early.erase(outer)) {
      component.early.insert(function);
      kept = component.keeps[function] = component.keeps.lookup(outer);
    }
    component.keeps[outer] = isOwn(*outer) ? afterStanding(kept) : limits_.call;
    carried_[outer] = function;
  }
  for (auto [function, plan, written] : zip(component.functions, plans, spending)) {
    carryInLoops(*function, functions_, calls_, carried_, writer, std::move(written), plan.borrowers);
    callDirectly(*function, carried_, writer);
    functions_.invalidate(*function, PreservedAnalyses::none());
  }
  // Callees first.
  component.functions.insert(component.functions.begin(), inner.begin(), inner.end());
}

void ModuleRun::check(Function &function, const Limits &limits) {
  Verified verified = verify(function, functions_.getResult<TargetIRAnalysis>(function),
                             functions_.getResult<TargetLibraryAnalysis>(function), finished_, limits.ofFunction(function));
  finished_.learn(function, verified.ways);
  report_.verified(function, verified);
  if (!options_.verify)
    return;
  // The worst place says what is wrong; the rest of its way mostly follows from it.
  auto worst = std::max_element(verified.violations.begin(), verified.violations.end(),
                                [](const Violation &a, const Violation &b) { return a.longest < b.longest; });
  if (worst != verified.violations.end()) {
    module_.getContext().emitError("caudal-probes: " + function.getName() + ", at " + worst->at + ": " + worst->what +
                                   "; the bound is " + Twine(options_.bound));
  }
}

void ModuleRun::check(const Component &component) {
  for (const Function *function : component.early)
    finished_.expect(*function, component.keeps.lookup(function));
  for (Function *function : component.functions) {
    Limits limits = limits_;
    if (auto kept = component.keeps.find(function); kept != component.keeps.end())
      limits.call = kept->second;
    check(*function, limits);
  }
}

/// The functions to instrument, callees before callers.
std::vector<ModuleRun::Component> ModuleRun::bottomUp() {
  std::vector<Component> components;
  CallGraph graph(module_);
  for (auto found = scc_begin(&graph); !found.isAtEnd(); ++found) {
    Component component;
    component.isRecursive = found.hasCycle();
    for (CallGraphNode *node : *found) {
      Function *function = node->getFunction();
      if (!function || function->isDeclaration() || isOwnFunction(*function))
        continue;
      if (StringRef why = whyNot(*function); !why.empty())
        report_.leftAlone(*function, why);
      else
        component.functions.push_back(function);
    }
    if (component.isRecursive)
      orderRecursive(component);
    components.push_back(std::move(component));
  }
  return components;
}

/// Chooses functions without whose calls no circle is left, those in the most circles first, and orders all so that
/// callees come first, but for calls of these.
void ModuleRun::orderRecursive(Component &component) {
  CallsWithin graph(component.functions);
  component.early = graph.breakCircles();
  component.functions = graph.bottomUp(component.early);
}

/// Functions that stand for others and that nobody calls any more.
void ModuleRun::dropUncalled(std::vector<Component> &components) {
  for (Component &component : components)
    erase_if(component.functions, [&](Function *function) {
      bool uncalled = carried_.contains(function) && function->hasLocalLinkage() && function->use_empty();
      if (uncalled) {
        functions_.clear(*function, function->getName());
        function->eraseFromParent();
      }
      return uncalled;
    });
}

/// Whether probes can be written for what the module is compiled for; where it does not say, they are.
static bool isSupported(const Triple &target) {
  if (target.str().empty())
    return true;
  return target.getArch() == Triple::x86_64 && target.isOSBinFormatELF() && target.getEnvironment() != Triple::GNUX32 &&
         target.getEnvironment() != Triple::MuslX32;
}

/// Says in the object that the pass has seen the module: whoever links asks whether a program was to have probes and has none. A note
/// of the kind that linkers keep, without content.
static void leaveNote(Module &module) {
  if (StringRef(module.getModuleInlineAsm()).contains(".note.caudal"))
    return;
  module.appendModuleInlineAsm(".pushsection .note.caudal,\"a\",@note\n"
                               ".balign 4\n.long 7, 0, 1\n.asciz \"Caudal\"\n.balign 4\n"
                               ".popsection");
}

/// Why the code of `function` cannot be a request's; empty: it can.
static StringRef whyRefused(const Function &function) {
  if (function.hasFnAttribute(Attribute::SafeStack))
    return "-fsanitize=safe-stack: its second stack belongs to the thread, and the requests of a worker would share it; leave it out, or "
           "compile this file without probes";
  if (function.hasFnAttribute("split-stack"))
    return "-fsplit-stack: what the stack grows by belongs to the thread, and a request has a stack of its own; leave it out, or compile "
           "this file without probes";
  return "";
}

static bool isRefused(const Module &module) {
  for (const Function &function : module) {
    StringRef why = function.isDeclaration() ? "" : whyRefused(function);
    if (why.empty())
      continue;
    module.getContext().emitError("caudal-probes: " + function.getName() + " was compiled with " + why);
    return true;
  }
  return false;
}

bool ModuleRun::run() {
  if (!isSupported(Triple(module_.getTargetTriple()))) {
    module_.getContext().emitError("caudal-probes: probes are for x86-64 Linux with 64-bit pointers; this is " +
                                   Triple(module_.getTargetTriple()).str());
    return false;
  }
  if (isRefused(module_))
    return false;
  leaveNote(module_);
  sections_.run();
  ProbeWriter writer(module_, options_);
  std::vector<Component> components = bottomUp();
  for (Component &component : components)
    instrument(component, writer);
  dropUncalled(components);
  if (options_.verify || (report_.isWanted() && !isBaseline(options_.mode)))
    for (const Component &component : components)
      check(component);
  if (!isBaseline(options_.mode))
    for (const Component &component : components)
      for (Function *function : component.functions) {
        handOnCounters(*function, functions_);
        keepOwnSteps(*function, functions_);
      }
  if (Error error = report_.write())
    module_.getContext().emitError(toString(std::move(error)));
  return true;
}

} // namespace

PreservedAnalyses ProbePass::run(Module &module, ModuleAnalysisManager &manager) {
  FunctionAnalysisManager &functions = manager.getResult<FunctionAnalysisManagerModuleProxy>(module).getManager();
  // For isCold.
  manager.getResult<ProfileSummaryAnalysis>(module);
  return ModuleRun(module, functions, options_).run() ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace caudal
