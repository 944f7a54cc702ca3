//===- Seldom.h - Which probes are seldom executed ----------------------------------------------------------------===//
//
// A probe in place takes some 20 bytes, a call of one 5, and some three cycles more. The probes of a function that are
// executed least become calls, as long as all these cycles together stay below a small part of what the function is expected
// to take: by static estimates of how often its blocks are executed, so that a wrong one costs the function little more than
// that part. Not in functions that call each other in a circle: how far down calls go, no static estimate tells.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_SELDOM_H
#define CAUDAL_PASS_SELDOM_H

#include "Plan.h"

namespace caudal {

/// Marks the sites of `plan` that are to be calls.
void chooseSeldom(llvm::Function &function, Plan &plan, const Analyses &analyses, const Calls &calls);

} // namespace caudal

#endif
