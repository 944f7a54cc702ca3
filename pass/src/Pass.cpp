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
        promised_(Limits::promised(options)), calls_(options), finished_(options), report_(module, options) {}

  bool run();

private:
  StringRef whyNot(const Function &function) const;
  bool instrument(Function &function, ProbeWriter &writer);
  bool insertPreheaders(Function &function);
  void insert(Function &function, const Plan &plan, ScalarEvolution &scev, ProbeWriter &writer);
  void check(Function &function);

  Module &module_;
  FunctionAnalysisManager &functions_;
  const Options &options_;
  Limits planned_, promised_;
  Calls calls_;    ///< what the planner knows of callees
  Calls finished_; ///< what the verifier found of them
  Report report_;
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
  return "";
}

/// Loops that are entered by several edges get a block in front, where a probe or a strip's start can stand.
bool ModuleRun::insertPreheaders(Function &function) {
  LoopInfo &loops = functions_.getResult<LoopAnalysis>(function);
  DominatorTree &dominators = functions_.getResult<DominatorTreeAnalysis>(function);
  bool changed = false;
  for (Loop *loop : loops.getLoopsInPreorder())
    if (!loop->getLoopPreheader() && !loop->getHeader()->isEHPad())
      changed |= InsertPreheaderForLoop(loop, &dominators, &loops, nullptr, /*PreserveLCSSA=*/false) != nullptr;
  return changed;
}

void ModuleRun::insert(Function &function, const Plan &plan, ScalarEvolution &scev, ProbeWriter &writer) {
  std::vector<PreparedStrip> prepared;
  for (const Strip &strip : plan.strips)
    prepared.push_back(prepareStrip(strip, scev));
  for (const PreparedStrip &strip : prepared)
    cutStrip(strip, writer);
  for (const Site &site : plan.sites)
    writer.probe(site.before, std::max<int64_t>(site.expected.inCycles(), 0));
  for (PreparedStrip &strip : prepared)
    if (strip.replaced)
      RecursivelyDeleteTriviallyDeadInstructions(strip.replaced);
}

bool ModuleRun::instrument(Function &function, ProbeWriter &writer) {
  if (insertPreheaders(function))
    functions_.invalidate(function, PreservedAnalyses::none());
  Analyses analyses{functions_.getResult<LoopAnalysis>(function), functions_.getResult<ScalarEvolutionAnalysis>(function),
                    functions_.getResult<BlockFrequencyAnalysis>(function),
                    functions_.getResult<BranchProbabilityAnalysis>(function),
                    functions_.getResult<TargetIRAnalysis>(function)};
  Plan result = plan(function, analyses, calls_, planned_);
  calls_.learn(function, result.ways);
  report_.planned(function, result);
  if (!result.empty()) {
    insert(function, result, analyses.scev, writer);
    functions_.invalidate(function, PreservedAnalyses::none());
  }
  function.addFnAttr(probedAttribute, modeName(options_.mode));
  return true;
}

void ModuleRun::check(Function &function) {
  Verified verified = verify(function, functions_.getResult<LoopAnalysis>(function),
                             functions_.getResult<ScalarEvolutionAnalysis>(function),
                             functions_.getResult<TargetIRAnalysis>(function), finished_, promised_);
  finished_.learn(function, verified.ways);
  report_.verified(function, verified);
  // The worst place says what is wrong; the rest of its way mostly follows from it.
  auto worst = std::max_element(verified.violations.begin(), verified.violations.end(),
                                [](const Violation &a, const Violation &b) { return a.longest < b.longest; });
  if (worst != verified.violations.end()) {
    const Violation &violation = *worst;
    std::string place = violation.at->getParent()->getName().str();
    if (DebugLoc location = violation.at->getDebugLoc())
      place += " (line " + std::to_string(location.getLine()) + ")";
    module_.getContext().emitError("caudal-probes: " + function.getName() + ", at " + place + ": " + violation.what +
                                   "; the bound is " + Twine(options_.bound));
  }
}

bool ModuleRun::run() {
  bool changed = false;
  ProbeWriter writer(module_, options_);
  std::vector<Function *> order;
  CallGraph graph(module_);
  for (auto component = scc_begin(&graph); !component.isAtEnd(); ++component)
    for (CallGraphNode *node : *component)
      if (Function *function = node->getFunction(); function && !function->isDeclaration())
        order.push_back(function);
  std::vector<Function *> instrumented;
  for (Function *function : order) {
    if (StringRef why = whyNot(*function); !why.empty()) {
      report_.leftAlone(*function, why);
      continue;
    }
    changed |= instrument(*function, writer);
    instrumented.push_back(function);
  }
  if (options_.verify)
    for (Function *function : instrumented)
      check(*function);
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
