//===- Seldom.h - Which probes are seldom executed ----------------------------------------------------------------===//
//
// Chooses the probes that are seldom executed, which become short calls. Called by Bounded.cpp, before the
// insertion of a plan.
//
// A probe in place takes some 20 bytes, a call of one 5, and some three cycles more. The probes of a function that are
// executed least become calls, as long as all these cycles together stay below a small part of what the function is expected
// to take: by static estimates of how often its blocks are executed, so that a wrong one costs the function little more than
// that part. Of what is cold (Size.h) all do, whatever it takes; of what is to be small a larger part.
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
