#include "Pass.h"
#include "Calls.h"
#include "Plan.h"
#include "Probe.h"
#include "Report.h"
#include "StripMine.h"
#include "Verify.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
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
      : module_(module), functions_(functions), options_(options), planned_(Limits::planned(options)),
        promised_(Limits::promised(options)), calls_(options, planned_), finished_(options, promised_),
        report_(module, options) {
    for (const GlobalIFunc &indirect : module.ifuncs())
      resolvers_.insert(indirect.getResolverFunction());
  }

  bool run();

private:
  /// Functions that call each other in a circle, or one that does not.
  struct Component {
    std::vector<Function *> functions;
    bool isRecursive;
  };

  std::vector<Component> bottomUp();
  StringRef whyNot(const Function &function) const;
  Plan planOne(Function &function, const Limits &limits);
  std::vector<Plan> planRecursive(const Component &component);
  bool instrument(const Component &component, ProbeWriter &writer);
  bool insertPreheaders(Function &function);
  void insert(Function &function, const Plan &plan, ScalarEvolution &scev, ProbeWriter &writer);
  void check(Function &function, const Limits &limits);

  Module &module_;
  FunctionAnalysisManager &functions_;
  const Options &options_;
  Limits planned_, promised_;
  Calls calls_;    ///< what the planner knows of callees
  Calls finished_; ///< what the verifier found of them
  Report report_;
  SmallPtrSet<const Function *, 4> resolvers_;
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
  return "";
}

/// Loops get blocks of their own in front and behind, where probes and a strip's start can stand.
bool ModuleRun::insertPreheaders(Function &function) {
  LoopInfo &loops = functions_.getResult<LoopAnalysis>(function);
  DominatorTree &dominators = functions_.getResult<DominatorTreeAnalysis>(function);
  bool changed = false;
  for (Loop *loop : loops.getLoopsInPreorder())
    if (!loop->getHeader()->isEHPad()) {
      if (!loop->getLoopPreheader())
        changed |= InsertPreheaderForLoop(loop, &dominators, &loops, nullptr, /*PreserveLCSSA=*/false) != nullptr;
      changed |= formDedicatedExitBlocks(loop, &dominators, &loops, nullptr, /*PreserveLCSSA=*/false);
    }
  return changed;
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

Plan ModuleRun::planOne(Function &function, const Limits &limits) {
  Analyses analyses{functions_.getResult<LoopAnalysis>(function), functions_.getResult<ScalarEvolutionAnalysis>(function),
                    functions_.getResult<BlockFrequencyAnalysis>(function),
                    functions_.getResult<BranchProbabilityAnalysis>(function),
                    functions_.getResult<TargetIRAnalysis>(function)};
  return plan(function, analyses, calls_, limits);
}

/// Functions that call each other in a circle are planned twice: first as if each kept to the part for that, then with
/// what they turned out to need, which is mostly less. The second plans count if they need no more than that.
std::vector<Plan> ModuleRun::planRecursive(const Component &component) {
  Limits limits = planned_.recursive();
  calls_.expect(component.functions, limits.call);
  std::vector<Plan> first, second;
  Cost needed = Cost::cycles(1);
  for (Function *function : component.functions) {
    first.push_back(planOne(*function, limits));
    const Ways &ways = first.back().ways;
    needed = longer(needed, longer(ways.prefix, longer(ways.through, ways.suffix)));
  }
  if (needed >= limits.call)
    return first;
  limits.call = needed;
  calls_.expect(component.functions, needed);
  for (Function *function : component.functions) {
    second.push_back(planOne(*function, limits));
    const Ways &ways = second.back().ways;
    if (longer(ways.prefix, longer(ways.through, ways.suffix)) > needed)
      return first;
  }
  return second;
}

bool ModuleRun::instrument(const Component &component, ProbeWriter &writer) {
  for (Function *function : component.functions)
    if (insertPreheaders(*function))
      functions_.invalidate(*function, PreservedAnalyses::none());
  std::vector<Plan> plans;
  if (component.isRecursive)
    plans = planRecursive(component);
  else
    for (Function *function : component.functions)
      plans.push_back(planOne(*function, planned_));
  for (auto [function, result] : zip(component.functions, plans)) {
    calls_.learn(*function, result.ways);
    report_.planned(*function, result);
    if (!result.empty()) {
      insert(*function, result, functions_.getResult<ScalarEvolutionAnalysis>(*function), writer);
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
    Component component{{}, found.hasCycle()};
    for (CallGraphNode *node : *found) {
      Function *function = node->getFunction();
      if (!function || function->isDeclaration())
        continue;
      if (StringRef why = whyNot(*function); !why.empty())
        report_.leftAlone(*function, why);
      else
        component.functions.push_back(function);
    }
    components.push_back(std::move(component));
  }
  return components;
}

bool ModuleRun::run() {
  bool changed = false;
  ProbeWriter writer(module_, options_);
  std::vector<Component> components = bottomUp();
  for (const Component &component : components)
    changed |= instrument(component, writer);
  for (const Component &component : components) {
    if (!options_.verify)
      break;
    if (component.isRecursive)
      finished_.expect(component.functions, promised_.recursive().call);
    for (Function *function : component.functions)
      check(*function, component.isRecursive ? promised_.recursive() : promised_);
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
