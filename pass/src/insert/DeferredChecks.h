//===- DeferredChecks.h - Inner loops check the budget later than the loops around them ---------------------------===//
//
// Gives an inner loop some slack, so that the loop around it notices first that the quantum is over. BudgetInLoops.cpp makes a Slack
// for each loop that it chooses, once all probes of the function are written, and has it written; BudgetVariable.cpp takes the slack
// off around calls.
//
// A probe's jump costs next to nothing as long as it has never been taken: the processor keeps no entry for it in its branch predictor.
// Once it has been taken, it takes part in all predictions, at each execution. A loop that goes around a few times each time that it is
// entered (the digits of a number, the steps of a search) need not check: the loop around it has a probe that checks often enough. So where
// the budget is in a register (BudgetInLoops.h), the budget is raised by some units where an inner loop is entered, and lowered by as many
// where the loop is left. These units are the loop's slack:
//
//     around the loops:   subq $9, %r11; jl          due below 0
//     entry:              addq $128, %r11
//     within:             subq $3, %r11; jl          due 128 units later, so that it finds nothing due if it is short
//     exits:              subq $128, %r11
//
// The bound between probes does not change. A yield is later by these units at most, for each loop in a loop. If the budget is armed anew
// within such a loop, the exits subtract the slack from the new budget: that quantum is shorter by the slack. The budget in memory never
// includes slack: the slack is taken off before the budget is put back for a call, and added where the budget is fetched after the call, or
// where the call unwinds to. So neither a path out by unwinding nor one by longjmp keeps it.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_DEFERREDCHECKS_H
#define CAUDAL_PASS_DEFERREDCHECKS_H

#include "analysis/Slack.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"

namespace caudal {

/// The loops of a nest that have slack.
class Slack {
public:
  /// Chooses the loops of `nest` that get slack: the header is in `loopsWithSlack`, the headers that the plan chose (Plan.h), the loop has a
  /// probe, and a loop around it has a probe of its own. Makes a preheader for each, and exits that only this loop has.
  /// `probed`: the blocks of all of the function's probes.
  Slack(llvm::Loop &nest, llvm::ArrayRef<const llvm::BasicBlock *> loopsWithSlack, llvm::ArrayRef<const llvm::BasicBlock *> probed,
        llvm::DominatorTree &dominators, llvm::LoopInfo &loops);

  /// The slack in `block`: the sum over the loops around it, in units of the budget.
  int64_t at(const llvm::BasicBlock &block) const;
  /// Adds to `left`, the variable that is spent from within the nest, where the loops are entered, and subtracts where they are left.
  /// Not in exits where it is fetched anew: landing pads, and blocks that are only entered from a call of `spending`. To be called after what
  /// the caller inserts at exits: these instructions go to the first place of an exit, and so before the caller's.
  void write(llvm::AllocaInst &left, llvm::ArrayRef<llvm::CallBase *> spending) const;

private:
  llvm::LoopInfo &loops_;
  llvm::SmallPtrSet<const llvm::Loop *, 8> withSlack_;
};

/// Whether `block` is entered only when an invoke among `calls` returns normally. BudgetInLoops.cpp asks it, too, also where no loop has slack.
bool isReturnOf(const llvm::BasicBlock &block, llvm::ArrayRef<llvm::CallBase *> calls);

} // namespace caudal

#endif
