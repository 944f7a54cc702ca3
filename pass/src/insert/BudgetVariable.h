//===- BudgetVariable.h - The budget as a variable ----------------------------------------------------------------===//
//
// Holds what is left of the budget as a variable within a loop. BudgetInLoops.cpp makes one for each loop that it chooses, once all
// probes of the function are written.
//
// In such a loop the probes spend from a variable instead of from the thread's memory. Callees spend from memory: before a call that may
// spend, the variable is stored to memory, and after the call it is loaded again.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_BUDGETVARIABLE_H
#define CAUDAL_PASS_BUDGETVARIABLE_H

#include "analysis/Calls.h"
#include "insert/DeferredChecks.h"
#include "insert/Probe.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"

namespace caudal {

/// Whether `instruction` is a call after which less of the budget may be left, or after which the function may run on another thread.
bool maySpend(const llvm::Instruction &instruction, const Calls &calls);

/// If `call` is an invoke, gives its normal return a block of its own. Both trees may be null.
void separateReturn(llvm::CallBase &call, llvm::DominatorTree *dominators, llvm::LoopInfo *loops);

class BudgetVariable {
public:
  /// A variable for `loop`: the probes within spend from it, and are taken out of `spending`.
  BudgetVariable(const llvm::Loop &loop, ProbeWriter &writer, Spending &spending);

  llvm::AllocaInst *variable() const { return left_; }
  /// Stores the budget before a call that may spend, and loads it after the call. An invoke must return to a block of its own
  /// (separateReturn). `slack`: the slack of the nest's loops.
  void aroundCall(llvm::CallBase &call, const Slack &slack) const;
  /// Stores the budget before a call that spends nothing, but may unwind to a place that loads it.
  void beforeThrow(llvm::CallBase &call, const Slack &slack) const;

private:
  const llvm::Loop &loop_;
  ProbeWriter &writer_;
  llvm::AllocaInst *left_;
};

} // namespace caudal

#endif
