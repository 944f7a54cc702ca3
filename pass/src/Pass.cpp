// Runs all steps of the pass over a module: which functions, in which order, by which strategy. Called by LLVM, for which
// Plugin.cpp registers it. See Pass.h.
#include "Pass.h"
#include "Bounded.h"
#include "Report.h"
#include "Strategy.h"
#include "analysis/ProbesInCode.h"
#include "analysis/Resolvers.h"
#include "baselines/CompilerInterrupts.h"
#include "sections/Sections.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/Analysis/ProfileSummaryInfo.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/EHPersonalities.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace caudal {

/// The attribute of functions that have been through the pass: its value is the mode.
static constexpr StringLiteral probedAttribute = "caudal-probed";

namespace {

class ModuleRun {
public:
  ModuleRun(Module &module, FunctionAnalysisManager &manager, const Options &options)
      : module_(module), functions_(manager), options_(options), report_(module, options), sections_(module, options, report_),
        resolvers_(findResolvers(module)) {}

  bool run();

private:
  std::vector<Component> bottomUp();
  StringRef whyNot(const Function &function) const;
  void instrument(Component &component, Strategy &strategy, ProbeWriter &writer);

  Module &module_;
  Functions functions_;
  const Options &options_;
  Report report_;
  Sections sections_;
  DenseSet<const Function *> resolvers_;
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

void ModuleRun::instrument(Component &component, Strategy &strategy, ProbeWriter &writer) {
  strategy.prepare(component);
  std::vector<Plan> plans = strategy.plan(component);
  std::vector<Spending> spending;
  for (auto [function, plan] : zip(component.functions, plans)) {
    report_.planned(*function, plan);
    strategy.beforeInsertion(*function, plan, component);
    strategy.insert(*function, plan, writer);
    spending.push_back(writer.takeSpending());
    functions_.changed(*function);
    function->addFnAttr(probedAttribute, modeName(options_.mode));
    for (auto [step, name] : {std::pair(Step::Gaps, "caudal-without-gaps"), {Step::AlignLoops, "caudal-without-align-loops"}})
      if (!options_.does(step))
        function->addFnAttr(name);
    // The thread's address (-mno-tls-direct-seg-refs) would be kept in a register over a yield that ends on another thread.
    function->removeFnAttr("indirect-tls-seg-refs");
  }
  strategy.afterInsertion(component, plans, std::move(spending));
}

/// Chooses functions without whose calls no circle is left, those in the most circles first, and orders all so that
/// callees come first, but for calls of these.
static void orderRecursive(Component &component) {
  CallsWithin graph(component.functions);
  component.early = graph.breakCircles();
  component.functions = graph.bottomUp(component.early);
}

/// The functions to instrument, callees before callers.
std::vector<Component> ModuleRun::bottomUp() {
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
  std::unique_ptr<Strategy> strategy =
      isBaseline(options_.mode) ? makeCompilerInterrupts(functions_) : makeBounded(functions_, options_, report_, writer);
  std::vector<Component> components = bottomUp();
  for (Component &component : components)
    instrument(component, *strategy, writer);
  strategy->finish(components);
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
