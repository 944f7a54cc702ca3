//===- BudgetInLoops.h - Keeping what is left in a register -------------------------------------------------------===//
//
// Keeps what is left of the budget in a register within a nest of loops, where memory would be slower than the code
// between two probes. Called by Bounded.cpp, after insertion.
//
// Between two probes the budget (in clock mode: the credit) goes through memory: one probe writes it, the next one reads it, which
// takes some seven cycles. Where the probes of a loop are close together, that is longer than the code between them. And where stores
// miss the cache, stores to the budget take places in the buffer in which they wait. In such a loop, and all loops in it, the budget is
// a variable: it is loaded where the loop is entered, stored where it is left, and stored and loaded around calls that may spend of it.
// A probe is a subtraction and a jump then. A move takes more bytes than a register spares in one probe. So where moves would make the
// code larger, as in nests with many paths out, the loops within are tried instead.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_BUDGETINLOOPS_H
#define CAUDAL_PASS_BUDGETINLOOPS_H

#include "analysis/Calls.h"
#include "insert/Probe.h"
#include "llvm/IR/PassManager.h"

namespace caudal {

/// After all of `function`'s probes have been written. `loopsWithSlack`: the plan's (DeferredChecks.h). Leaves its analyses stale.
void keepBudgetInLoops(llvm::Function &function, llvm::FunctionAnalysisManager &analyses, const Calls &calls, ProbeWriter &writer,
                       Spending spending, llvm::ArrayRef<const llvm::BasicBlock *> loopsWithSlack);

} // namespace caudal

#endif
