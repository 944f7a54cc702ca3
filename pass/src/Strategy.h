//===- Strategy.h - Interface of strategies that put probes into functions ----------------------------------------===//
//
// A strategy decides where the functions of a module get probes. Pass.cpp makes one strategy for each module: the strategy of
// bounded probes (Bounded.h), or a baseline to compare it with (baselines/CompilerInterrupts.h). Pass.cpp then calls the
// strategy's methods for each group of functions that call each other, callees before callers. The choice of functions that get
// probes and the blocks around loops are the same for all strategies, so they stay in Pass.cpp. A strategy changes the module only.
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
  /// Gives each loop a block before it and a block after it, in which probes can be placed.
  void prepareLoops(llvm::Function &function) const;
  /// Prepares the loops anew if `hasChanged`: loops that a transformation has made have no such blocks.
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
  /// Called before the insertion of a function's plan, which it may still change.
  virtual void beforeInsertion(llvm::Function &, Plan &, const Component &) {}
  /// Writes the probes of a function's plan.
  virtual void insert(llvm::Function &function, const Plan &plan, ProbeWriter &writer);
  /// Called after the insertion of a component's plans. `spending`: the probes that were written, by function.
  virtual void afterInsertion(Component &, llvm::ArrayRef<Plan>, std::vector<Spending>) {}
  /// Called when all components have their probes.
  virtual void finish(std::vector<Component> &) {}
};

} // namespace caudal

#endif
