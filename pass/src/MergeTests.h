//===- MergeTests.h - A loop's probe and its end share a jump ------------------------------------------------------===//
//
// A jump that has been taken once takes part in branch prediction from then on, so a probe for each iteration costs about a
// cycle more than its instructions. Where it stands at the loop's end, in front of the jump back, both become one jump: the
// loop is left for a look when nothing is left of the budget, or it has ended.
//
//     latch: probe                                   latch: spend
//            end? -> exit, header          =>               end, or nothing left? -> look, header
//                                                    look:  probe that spends nothing
//                                                           end? -> exit, header
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_MERGETESTS_H
#define CAUDAL_PASS_MERGETESTS_H

#include "Lend.h"
#include "Limits.h"
#include "Probe.h"
#include "llvm/IR/PassManager.h"

namespace caudal {

/// Merges such tests in `function`, but for loops with a header of `borrowing`. What is cached of the function is stale
/// then.
void mergeTests(llvm::Function &function, llvm::FunctionAnalysisManager &analyses, ProbeWriter &writer, const Limits &limits,
                const Headers &borrowing);

} // namespace caudal

#endif
