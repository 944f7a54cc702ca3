//===- Strategy.h - How a module's functions get probes -----------------------------------------------------------===//
//
// Pass.cpp walks the module, callees before callers, and hands each group of functions to a strategy: that of bounded probes
// (Bounded.h), or a baseline to compare with (baselines/CompilerInterrupts.h). What is the same for all stays in Pass.cpp: which
// functions have probes, and loops with places for them.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_STRATEGY_H
#define CAUDAL_PASS_STRATEGY_H

#include "analysis/CallsWithin.h"
#include "insert/Probe.h"
#include "plan/Plan.h"
#include "llvm/IR/PassManager.h"
#include <vector>

namespace caudal {

/// Functions that call each other in circles, or one that does not.
struct Component {
  /// In the order of planning: callees first, but for calls of functions that are called before they are planned.
  std::vector<llvm::Function *> functions;
  bool isRecursive = false;
  /// If recursive: functions that are called by functions planned before them.
  CallsWithin::Set early;
};

/// The module's functions with their cached analyses, which are dropped where a function has changed.
class Functions {
public:
  explicit Functions(llvm::FunctionAnalysisManager &manager) : manager_(manager) {}

  llvm::FunctionAnalysisManager &manager() const { return manager_; }
  Analyses analysesOf(llvm::Function &function) const;
  /// Drops what is cached of `function`, if it `hasChanged`.
  void changed(llvm::Function &function, bool hasChanged = true) const;
  /// Gives loops blocks of their own before and after, where probes can stand.
  void prepareLoops(llvm::Function &function) const;
  /// The same, if `hasChanged`: what a transformation has made of loops has no such blocks.
  void loopsChanged(llvm::Function &function, bool hasChanged) const {
    changed(function, hasChanged);
    if (hasChanged)
      prepareLoops(function);
  }

private:
  llvm::FunctionAnalysisManager &manager_;
};

class Strategy {
public:
  virtual ~Strategy() = default;

  /// Changes the functions of `component` before planning, and prepares their loops.
  virtual void prepare(Component &component) = 0;
  /// Plans, in the order of `component`. Changes nothing.
  virtual std::vector<Plan> plan(Component &component) = 0;
  /// Before the insertion of a function's plan, which it may still change.
  virtual void beforeInsertion(llvm::Function &, Plan &, const Component &) {}
  /// Writes the probes of a function's plan.
  virtual void insert(llvm::Function &function, const Plan &plan, ProbeWriter &writer);
  /// After the insertion of a component's plans. `spending`: the probes that were written, by function.
  virtual void afterInsertion(Component &, llvm::ArrayRef<Plan>, std::vector<Spending>) {}
  /// When all components have their probes.
  virtual void finish(std::vector<Component> &) {}
};

} // namespace caudal

#endif
