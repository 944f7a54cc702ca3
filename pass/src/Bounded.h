//===- Bounded.h - Probes with a bound on the paths between them ---------------------------------------------------===//
//
// The pass's own strategy, of the modes `budget`, `clock` and `flag`: no estimated path between two probes is longer than the bound
// (plan/), what is left of the budget is kept in registers where that pays (insert/), and the finished code is verified (verify/).
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_BOUNDED_H
#define CAUDAL_PASS_BOUNDED_H

#include "Options.h"
#include "Report.h"
#include "Strategy.h"
#include <memory>

namespace caudal {

/// `writer` writes the probes; the verifier's errors go to the module's context, and what is found to `report`.
std::unique_ptr<Strategy> makeBounded(const Functions &functions, const Options &options, Report &report, ProbeWriter &writer);

} // namespace caudal

#endif
