//===- Bounded.h - Probes with a bound on the paths between them ---------------------------------------------------===//
//
// The pass's own strategy, for the modes `budget`, `clock` and `flag`. It plans probes so that no estimated path between two of them is longer
// than the bound (plan/), keeps the rest of the budget in registers where that pays (insert/), and verifies the finished code (verify/).
//
// Pass.cpp makes one for a module that is not instrumented by a baseline, and calls its steps (Strategy.h): prepare, plan and insertion for one
// component of the call graph after the other, callees first, and finish once at the end.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_BOUNDED_H
#define CAUDAL_PASS_BOUNDED_H

#include "Options.h"
#include "Report.h"
#include "Strategy.h"
#include <memory>

namespace caudal {

/// `writer` writes the probes. The verifier's errors go to the module's context, and its findings to `report`.
std::unique_ptr<Strategy> makeBounded(const Functions &functions, const Options &options, Report &report, ProbeWriter &writer);

} // namespace caudal

#endif
