//===- BudgetInLoops.h - Keeping what is left in a register -------------------------------------------------------===//
//
// Keeps what is left of the budget in a register within a nest of loops, where memory would be slower than the code between two probes.
// Bounded.cpp calls it for each function of a component (functions that call each other in a circle, or one alone), once all probes of
// the component are written. It changes the function.
//
// Between two probes the budget (in clock mode: the credit) goes through memory: one probe writes it and the next one reads it, which
// takes some seven cycles. Where the probes of a loop are close together, this takes longer than the code between them. Where the loop's
// stores miss the cache, the stores to the budget also take places in the buffer in which stores wait. In such a loop, and all loops in it,
// the budget is a variable: it is loaded where the loop is entered, stored where the loop is left, and stored and loaded around calls that
// may spend of it. A probe then is a subtraction and a jump. A load or a store takes more bytes than the register saves in one probe. So
// where loads and stores would make the code larger, as in nests with many paths out, the inner loops are tried instead.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_BUDGETINLOOPS_H
#define CAUDAL_PASS_BUDGETINLOOPS_H

#include "analysis/Calls.h"
#include "insert/Probe.h"
#include "llvm/IR/PassManager.h"

namespace caudal {

/// To be called after all of `function`'s probes have been written, with these probes as `spending`. `loopsWithSlack`: those of its plan
/// (DeferredChecks.h). The cached analyses of the function are stale afterwards.
void keepBudgetInLoops(llvm::Function &function, llvm::FunctionAnalysisManager &analyses, const Calls &calls, ProbeWriter &writer,
                       Spending spending, llvm::ArrayRef<const llvm::BasicBlock *> loopsWithSlack);

} // namespace caudal

#endif
