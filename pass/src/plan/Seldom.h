//===- Seldom.h - Probes that are seldom executed -----------------------------------------------------------------===//
//
// Chooses the probes that are seldom executed, which become short calls. Bounded.cpp calls it for each function, after planning and
// just before the plan's probes are inserted, in modes that have such calls. It changes the plan only.
//
// A probe in place takes some 20 bytes; a call of a probe takes 5 bytes, and some three cycles more. The probes of a function that are
// executed least become calls, as long as all these cycles together stay below a small part of the function's expected time. How often blocks
// are executed is a static estimate; if it is wrong, the function loses little more than that part. In cold code (Size.h) all probes become
// calls, whatever that takes; in functions that are to be small, the part is larger.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_SELDOM_H
#define CAUDAL_PASS_SELDOM_H

#include "plan/Plan.h"

namespace caudal {

/// Marks the sites of `plan` that are to be calls. `isRecursive`: the function calls itself, by others or at once.
void chooseSeldom(llvm::Function &function, Plan &plan, llvm::FunctionAnalysisManager &manager, const Analyses &analyses,
                  const Calls &calls, bool isRecursive);

} // namespace caudal

#endif
