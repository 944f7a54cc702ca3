//===- BudgetVariable.h - What is left, as a variable -------------------------------------------------------------===//
//
// Holds what is left of the budget as a variable within a loop. Called by BudgetInLoops.cpp.
//
// In such a loop the probes spend from a variable instead of from the thread's memory. Calls in it that may spend as well find what is
// left in its place, and leave it there.
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

/// Whether `instruction` is a call after which less may be left, or another thread's budget counts.
bool maySpend(const llvm::Instruction &instruction, const Calls &calls);

/// Gives the normal path back from `call`, if it is an invoke, a block of its own. Both trees may be null.
void separateReturn(llvm::CallBase &call, llvm::DominatorTree *dominators, llvm::LoopInfo *loops);

class BudgetVariable {
public:
  /// A variable for `loop`: the probes within spend from it, and are taken out of `spending`.
  BudgetVariable(const llvm::Loop &loop, ProbeWriter &writer, Spending &spending);

  llvm::AllocaInst *variable() const { return left_; }
  /// Around a call that may spend. An invoke comes back in a block of its own. `slack`: that of the nest's loops.
  void aroundCall(llvm::CallBase &call, const Slack &slack) const;
  /// Before a call that spends nothing, but may unwind to where what is left is fetched.
  void beforeThrow(llvm::CallBase &call, const Slack &slack) const;

private:
  const llvm::Loop &loop_;
  ProbeWriter &writer_;
  llvm::AllocaInst *left_;
};

} // namespace caudal

#endif
