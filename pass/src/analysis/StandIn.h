//===- StandIn.h - Functions that stand for others, as callers see them -------------------------------------------===//
//
// Where a circle of calls hands the budget on in a register (BudgetInCalls.h), each function is called from outside through one that
// fetches the budget, calls it and puts back what is left. Plans and limits count that time.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_STANDIN_H
#define CAUDAL_PASS_STANDIN_H

#include "analysis/Calls.h"

namespace caudal {

/// The function that stands for `function` where it is called from outside of the circle, as callers see it.
PathBounds pathsThrough(const PathBounds &function);
/// The limits of a function for which another one will stand that keeps to `part`, and the other way round.
Cost beforeStanding(Cost part);
Cost afterStanding(Cost part);

} // namespace caudal

#endif
