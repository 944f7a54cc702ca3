//===- DeferredChecks.h - Inner loops look at what is left later than the loops around them -----------------------===//
//
// Lends an inner loop some of the budget, so that the loop around it notices first that the quantum is over. Called by
// BudgetInLoops.cpp; BudgetVariable.cpp takes account of what is lent.
//
// A probe's jump costs next to nothing as long as it has never been taken: processors do not know it. Once it has been, it takes
// part in all that they predict, at each execution. In a loop that goes around a few times each time that it is entered (the
// digits of a number, a search's steps) the loop around it has a probe as often as the inner one needs to look. So where the
// budget is in a register (BudgetInLoops.h), an inner loop is lent some units where it is entered, and gives them back where it is
// left:
//
//     around the loops:   subq $9, %r11; jl          due below 0
//     entry:              addq $128, %r11
//     within:             subq $3, %r11; jl          due 128 units later, so that it finds nothing due if it is short
//     exits:              subq $128, %r11
//
// The bound between probes is what it was. A yield is by as many units later at most, for each loop in a loop. What is armed
// anew within such a loop is less by as much when the loop has been left. Memory never has what is lent: what is put back for
// a call is without it, and what is fetched behind it, or where it unwinds to, gets what is
// lent there. So neither a path out by unwinding nor one by longjmp keeps it.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_DEFERREDCHECKS_H
#define CAUDAL_PASS_DEFERREDCHECKS_H

#include "analysis/Borrowing.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"

namespace caudal {

/// The loops of a nest that borrow.
class Loans {
public:
  /// The loops of `nest`, itself among them, that have a header of `borrowers` and a probe, and are in a loop with a probe of its own.
  /// Gives each one place where it is entered, and exits that only it has. `probed`: the blocks of all of the function's probes.
  Loans(llvm::Loop &nest, llvm::ArrayRef<const llvm::BasicBlock *> borrowers, llvm::ArrayRef<const llvm::BasicBlock *> probed,
        llvm::DominatorTree &dominators, llvm::LoopInfo &loops);

  /// Units of the budget that are lent in `block`, in all.
  int64_t lentAt(const llvm::BasicBlock &block) const;
  /// Adds to `left`, the variable that is spent from within the nest, where the loops are entered, and subtracts where they are left.
  /// Not in exits where it is fetched anew: landing pads, and what is only entered from a call of `spending`.
  void write(llvm::AllocaInst &left, llvm::ArrayRef<llvm::CallBase *> spending) const;

private:
  llvm::LoopInfo &loops_;
  llvm::SmallPtrSet<const llvm::Loop *, 8> borrowing_;
};

/// Whether `block` is where an invoke among `calls` comes back, and nothing else gets there.
bool isReturnOf(const llvm::BasicBlock &block, llvm::ArrayRef<llvm::CallBase *> calls);

} // namespace caudal

#endif
