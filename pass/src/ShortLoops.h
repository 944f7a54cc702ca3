//===- ShortLoops.h - A version of a counted loop for when it is short --------------------------------------------===//
//
// A loop within a loop that often goes around a few times (a row of a sparse matrix) would meet a probe each time. Where its
// count is known when it is entered, it gets a second version, chosen by the count: one that is short enough to be a piece of
// code without a probe, the loop as it was; and a copy for all others, which is planned like any loop.
//
//     preheader --[few iterations]--> header ... latch --> exit
//         +-------------------------> copy's header ... latch --> exit
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_SHORTLOOPS_H
#define CAUDAL_PASS_SHORTLOOPS_H

#include "Limits.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/PassManager.h"

namespace caudal {

/// Makes such versions in `function`; whether there were any. What is cached of the function is stale then.
bool versionShortLoops(llvm::Function &function, llvm::FunctionAnalysisManager &analyses, const Limits &limits);

/// Whether `loop` is the version for when it is long.
bool isLongVersion(const llvm::Loop &loop);
/// Behind planning: later passes may make other loops of it.
void forgetLongVersions(llvm::Function &function);

} // namespace caudal

#endif
