// The strategy of bounded probes, step by step. Made by Pass.cpp in the modes `budget`, `clock` and `flag`. See Bounded.h.
#include "Bounded.h"
#include "analysis/Calls.h"
#include "analysis/JumpCircles.h"
#include "insert/BudgetInLoops.h"
#include "insert/OwnSteps.h"
#include "plan/PlanRecursive.h"
#include "plan/Seldom.h"
#include "prepare/SeparateLoops.h"
#include "prepare/TailCalls.h"
#include "prepare/Unroll.h"
#include "prepare/UnrollRecursion.h"
#include "verify/Verify.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/DiagnosticInfo.h"

using namespace llvm;

namespace caudal {

namespace {

class Bounded : public Strategy {
public:
  Bounded(const Functions &functions, const Options &options, Report &report, ProbeWriter &writer)
      : functions_(functions), options_(options), report_(report), writer_(writer), limits_(Limits::of(options)),
        calls_(options, limits_), finished_(options, limits_) {}

  void prepare(Component &component) override;
  std::vector<Plan> plan(Component &component) override;
  void beforeInsertion(Function &function, Plan &plan, const Component &component) override;
  void afterInsertion(Component &component, ArrayRef<Plan> plans, std::vector<Spending> spending) override;
  void finish(std::vector<Component> &components) override;

private:
  Plan planOne(Function &function, const Limits &limits);
  void check(Function &function, const Limits &limits);
  void check(const Component &component);

  const Functions &functions_;
  const Options &options_;
  Report &report_;
  ProbeWriter &writer_;
  Limits limits_;
  Calls calls_;    ///< what the planner knows of callees
  Calls finished_; ///< what the verifier found of them
  DenseMap<const Function *, Cost> keeps_; ///< what functions in circles of calls keep to, where it is not every function's part
};

void Bounded::prepare(Component &component) {
  FunctionAnalysisManager &manager = functions_.manager();
  JumpCircles circles(component.isRecursive ? ArrayRef<Function *>(component.functions) : ArrayRef<Function *>(), calls_);
  for (Function *function : component.functions) {
    functions_.changed(*function, component.isRecursive && options_.does(Step::UnrollRecursion) && unrollRecursion(*function, manager));
    functions_.changed(*function, options_.does(Step::TailCalls) &&
                                      fixTailCalls(*function, calls_, circles, component.early.contains(function)) == TailCalls::Returns);
    functions_.prepareLoops(*function);
    functions_.loopsChanged(*function, options_.does(Step::SeparateLoops) && separateLoops(*function, manager));
    functions_.loopsChanged(*function, unrollLoops(*function, manager, limits_, options_));
  }
}

Plan Bounded::planOne(Function &function, const Limits &limits) {
  return caudal::plan(function, functions_.analysesOf(function), calls_, limits.ofFunction(function));
}

std::vector<Plan> Bounded::plan(Component &component) {
  if (component.isRecursive) {
    auto planned = planRecursive({component.functions, component.early}, limits_, calls_,
                                 [&](Function &function, const Limits &limits) { return planOne(function, limits); });
    keeps_.insert(planned.keeps.begin(), planned.keeps.end());
    return std::move(planned.plans);
  }
  std::vector<Plan> plans;
  for (Function *function : component.functions)
    plans.push_back(planOne(*function, limits_));
  return plans;
}

void Bounded::beforeInsertion(Function &function, Plan &plan, const Component &component) {
  calls_.learn(function, plan.paths);
  if (writer_.hasCalled() && options_.does(Step::Seldom))
    chooseSeldom(function, plan, functions_.manager(), functions_.analysesOf(function), calls_, component.isRecursive);
}

/// Keeps the budget in a register in loops where that pays.
void Bounded::afterInsertion(Component &component, ArrayRef<Plan> plans, std::vector<Spending> spending) {
  if (!options_.does(Step::BudgetInLoops))
    return;
  for (auto [function, plan, written] : zip(component.functions, plans, spending)) {
    keepBudgetInLoops(*function, functions_.manager(), calls_, writer_, std::move(written), plan.loopsWithSlack);
    functions_.changed(*function);
  }
}

void Bounded::check(Function &function, const Limits &limits) {
  FunctionAnalysisManager &manager = functions_.manager();
  Verified verified = verify(function, manager.getResult<TargetIRAnalysis>(function), manager.getResult<TargetLibraryAnalysis>(function),
                             finished_, limits.ofFunction(function));
  finished_.learn(function, verified.paths);
  report_.verified(function, verified);
  if (!options_.verify)
    return;
  // The worst place says what is wrong; the rest of its path mostly follows from it.
  auto worst = std::max_element(verified.violations.begin(), verified.violations.end(),
                                [](const Violation &a, const Violation &b) { return a.longest < b.longest; });
  if (worst != verified.violations.end())
    function.getContext().emitError("caudal-probes: " + function.getName() + ", at " + worst->at + ": " + worst->what +
                                    "; the bound is " + Twine(options_.bound));
}

void Bounded::check(const Component &component) {
  for (const Function *function : component.early)
    finished_.expect(*function, keeps_.lookup(function));
  for (Function *function : component.functions) {
    Limits limits = limits_;
    if (auto kept = keeps_.find(function); kept != keeps_.end())
      limits.call = kept->second;
    check(*function, limits);
  }
}

void Bounded::finish(std::vector<Component> &components) {
  if (options_.verify || report_.isWanted())
    for (const Component &component : components)
      check(component);
  if (!options_.does(Step::OwnSteps))
    return;
  for (const Component &component : components)
    for (Function *function : component.functions)
      keepOwnSteps(*function, functions_.manager());
}

} // namespace

std::unique_ptr<Strategy> makeBounded(const Functions &functions, const Options &options, Report &report, ProbeWriter &writer) {
  return std::make_unique<Bounded>(functions, options, report, writer);
}

} // namespace caudal
