#include "Pass.h"
#include "Baseline.h"
#include "Calls.h"
#include "Carry.h"
#include "CallsWithin.h"
#include "Plan.h"
#include "Probe.h"
#include "Report.h"
#include "Sections.h"
#include "StripMine.h"
#include "Unroll.h"
#include "UnrollRecursion.h"
#include "Verify.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include <limits>
#include <optional>

using namespace llvm;

namespace caudal {

/// The attribute of functions that have been through the pass: its value is the mode.
static constexpr StringLiteral probedAttribute = "caudal-probed";

namespace {

class ModuleRun {
public:
  ModuleRun(Module &module, FunctionAnalysisManager &functions, const Options &options)
      : module_(module), functions_(functions), options_(options), planned_(Limits::planned(options)),
        promised_(Limits::promised(options)), calls_(options, promised_), finished_(options, promised_),
        report_(module, options), sections_(module, options, report_) {
    for (const GlobalIFunc &indirect : module.ifuncs())
      resolvers_.insert(indirect.getResolverFunction());
  }

  bool run();

private:
  /// Functions that call each other in a circle, or one that does not.
  struct Component {
    std::vector<Function *> functions; ///< in the order of planning: callees first, but for calls of `early`
    bool isRecursive;
    SmallPtrSet<const Function *, 4> early; ///< if recursive: those that are called by functions planned before them,
    Cost part;                              ///< and what these keep to
  };

  std::vector<Component> bottomUp();
  static void orderRecursive(Component &component);
  StringRef whyNot(const Function &function) const;
  Analyses analysesOf(Function &function);
  Plan planOne(Function &function, const Limits &limits);
  std::optional<std::vector<Plan>> planWith(const Component &component, Cost part);
  Cost partOf(const Function &function, Cost part) const;
  std::vector<Plan> planRecursive(Component &component);
  bool instrument(Component &component, ProbeWriter &writer);
  void prepareLoops(Function &function);
  void insert(Function &function, const Plan &plan, ScalarEvolution &scev, ProbeWriter &writer);
  void check(Function &function, const Limits &limits);

  Module &module_;
  FunctionAnalysisManager &functions_;
  const Options &options_;
  Limits planned_, promised_;
  Calls calls_;    ///< what the planner knows of callees
  Calls finished_; ///< what the verifier found of them
  Baseline baseline_; ///< plans for the modes to compare with
  Report report_;
  SmallPtrSet<const Function *, 4> resolvers_;
  Sections sections_;
};

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
  if (function.callsFunctionThatReturnsTwice())
    return "calls a function that returns twice";
  if (resolvers_.contains(&function))
    return "resolves an ifunc: it runs before thread-local storage exists";
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
  for (const PreparedStrip &strip : prepared)
    cutStrip(strip, writer);
  for (const Site &site : plan.sites) {
    BasicBlock *behind = writer.probe(site.before, site.expected.inCycles());
    if (site.atDispatch)
      writer.keep(*behind);
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
  return plan(function, analysesOf(function), calls_, limits);
}

/// What a function is planned to take where it is expected to take `part`: insertion adds to it.
static Cost withoutMargin(Cost part) {
  return Cost::units(std::max<int64_t>(part.inUnits() - std::max<int64_t>(part.inUnits() / 8, Cost::cycles(8).inUnits()), 1));
}

/// What `function`, one that is called before it is planned, keeps to: `part`, or less if others rely on every function's.
Cost ModuleRun::partOf(const Function &function, Cost part) const {
  bool isOwn = function.hasLocalLinkage() && !function.hasAddressTaken();
  return isOwn ? part : std::min(part, promised_.call);
}

/// Plans functions that call each other in a circle, as if the early ones kept to `part` in all ways; null: they do not.
std::optional<std::vector<Plan>> ModuleRun::planWith(const Component &component, Cost part) {
  Limits others = planned_;
  static constexpr Cost callsOfTheirOwn = Cost::cycles(8);
  others.bound = Cost::units(others.bound.inUnits() - (part.inUnits() - withoutMargin(part).inUnits()) - callsOfTheirOwn.inUnits());
  for (const Function *function : component.early)
    calls_.expect(*function, partOf(*function, part));
  std::vector<Plan> plans;
  for (Function *function : component.functions) {
    Limits limits = others;
    bool isEarly = component.early.contains(function);
    if (isEarly)
      limits.call = withoutMargin(partOf(*function, part));
    plans.push_back(planOne(*function, limits));
    if (isEarly && plans.back().ways.longest() > limits.call)
      return std::nullopt;
    calls_.learn(*function, plans.back().ways);
  }
  return plans;
}

/// What functions that call each other may take from entry to probe and from probe to return is theirs to choose: much, and
/// there is a probe around each call; little, and there is one wherever a function does something else. Tries some, and
/// each again with what it turned out to need; the plans that execute the fewest probes count.
std::vector<Plan> ModuleRun::planRecursive(Component &component) {
  std::vector<Plan> best;
  double fewest = std::numeric_limits<double>::infinity();
  auto consider = [&](Cost part) {
    std::optional<std::vector<Plan>> plans = planWith(component, part);
    Cost needed = Cost::cycles(1);
    if (!plans)
      return needed;
    double executed = 0;
    for (auto [function, plan] : zip(component.functions, *plans)) {
      executed += plan.executed;
      if (component.early.contains(function))
        needed = longer(needed, plan.ways.longest());
    }
    if (executed < fewest) {
      fewest = executed;
      component.part = part;
      best = std::move(*plans);
    }
    return needed;
  };
  for (int64_t divisor : {1, 2, 4, 8}) {
    Cost part = Cost::units(promised_.loop.inUnits() / divisor);
    Cost needed = consider(part) + Cost::cycles(9);
    needed = Cost::units(needed.inUnits() * 8 / 7);
    if (needed < part)
      consider(needed);
  }
  if (!best.empty() || component.functions.empty())
    return best;
  for (const Function *function : component.early)
    calls_.expect(*function, promised_.call);
  for (Function *function : component.functions) {
    best.push_back(planOne(*function, planned_));
    calls_.learn(*function, best.back().ways);
  }
  return best;
}

bool ModuleRun::instrument(Component &component, ProbeWriter &writer) {
  for (Function *function : component.functions) {
    if (component.isRecursive && !isBaseline(options_.mode) && unrollRecursion(*function, functions_))
      functions_.invalidate(*function, PreservedAnalyses::none());
    prepareLoops(*function);
    bool changed = isBaseline(options_.mode) ? Baseline::makeJoins(*function, functions_)
                                             : unrollUncounted(*function, functions_);
    if (changed) {
      functions_.invalidate(*function, PreservedAnalyses::none());
      prepareLoops(*function);
    }
  }
  std::vector<Plan> plans;
  if (component.isRecursive && !isBaseline(options_.mode))
    plans = planRecursive(component);
  else
    for (Function *function : component.functions)
      plans.push_back(isBaseline(options_.mode) ? baseline_.plan(*function, analysesOf(*function), component.isRecursive)
                                                : planOne(*function, planned_));
  for (auto [function, result] : zip(component.functions, plans)) {
    calls_.learn(*function, result.ways);
    report_.planned(*function, result);
    if (!result.empty()) {
      insert(*function, result, functions_.getResult<ScalarEvolutionAnalysis>(*function), writer);
      functions_.invalidate(*function, PreservedAnalyses::none());
      Spending spending = writer.takeSpending();
      if (!isBaseline(options_.mode))
        carryInLoops(*function, functions_, calls_, writer, std::move(spending));
      functions_.invalidate(*function, PreservedAnalyses::none());
    }
    function->addFnAttr(probedAttribute, modeName(options_.mode));
  }
  return !plans.empty();
}

void ModuleRun::check(Function &function, const Limits &limits) {
  Verified verified = verify(function, functions_.getResult<TargetIRAnalysis>(function),
                             functions_.getResult<TargetLibraryAnalysis>(function), finished_, limits);
  finished_.learn(function, verified.ways);
  report_.verified(function, verified);
  // The worst place says what is wrong; the rest of its way mostly follows from it.
  auto worst = std::max_element(verified.violations.begin(), verified.violations.end(),
                                [](const Violation &a, const Violation &b) { return a.longest < b.longest; });
  if (worst != verified.violations.end()) {
    module_.getContext().emitError("caudal-probes: " + function.getName() + ", at " + worst->at + ": " + worst->what +
                                   "; the bound is " + Twine(options_.bound));
  }
}

/// The functions to instrument, callees before callers.
std::vector<ModuleRun::Component> ModuleRun::bottomUp() {
  std::vector<Component> components;
  CallGraph graph(module_);
  for (auto found = scc_begin(&graph); !found.isAtEnd(); ++found) {
    Component component{{}, found.hasCycle(), {}, promised_.call};
    for (CallGraphNode *node : *found) {
      Function *function = node->getFunction();
      if (!function || function->isDeclaration())
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

bool ModuleRun::run() {
  bool changed = sections_.run();
  ProbeWriter writer(module_, options_);
  std::vector<Component> components = bottomUp();
  for (Component &component : components)
    changed |= instrument(component, writer);
  for (const Component &component : components) {
    if (!options_.verify)
      break;
    for (const Function *function : component.early)
      finished_.expect(*function, partOf(*function, component.part));
    for (Function *function : component.functions) {
      Limits limits = promised_;
      if (component.early.contains(function))
        limits.call = partOf(*function, component.part);
      check(*function, limits);
    }
  }
  if (Error error = report_.write())
    module_.getContext().emitError(toString(std::move(error)));
  return changed;
}

} // namespace

PreservedAnalyses ProbePass::run(Module &module, ModuleAnalysisManager &manager) {
  FunctionAnalysisManager &functions = manager.getResult<FunctionAnalysisManagerModuleProxy>(module).getManager();
  return ModuleRun(module, functions, options_).run() ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace caudal
