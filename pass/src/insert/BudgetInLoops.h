//===- BudgetInLoops.h - Keeping what is left in a register -------------------------------------------------------===//
//
// Keeps what is left of the budget in a register within a nest of loops, where memory would be slower than the code
// between two probes. Called by Bounded.cpp, after insertion.
//
// Between two probes what is left of the budget (in clock mode: of the credit) goes through memory: written by one, read
// by the next, some seven cycles. Where a loop's probes are close to each other, that is longer than the code between
// them. And where stores miss the cache, those to the budget take places in the buffer in which they wait. In such a loop,
// with all loops in it, what is left is a value: loaded where the loop is entered, stored where it is left, and around
// calls that may spend of it. So a nest carries what is left,
// and a probe is a subtraction and a jump. Such moves are longer than what that spares in a probe: where they would make the code larger, as in nests
// with many paths out, the loops within are asked instead.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_BUDGETINLOOPS_H
#define CAUDAL_PASS_BUDGETINLOOPS_H

#include "analysis/Calls.h"
#include "insert/Probe.h"
#include "llvm/IR/PassManager.h"

namespace caudal {

/// After all of `function`'s probes have been written. `borrowers`: the plan's (DeferredChecks.h). Leaves its analyses stale.
void carryInLoops(llvm::Function &function, llvm::FunctionAnalysisManager &analyses, const Calls &calls, ProbeWriter &writer,
                  Spending spending, llvm::ArrayRef<const llvm::BasicBlock *> borrowers);

} // namespace caudal

#endif
