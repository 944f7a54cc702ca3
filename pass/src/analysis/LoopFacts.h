//===- LoopFacts.h - What is known about a loop's count -----------------------------------------------------------===//
//
// Finds out how often a loop runs at most, and by which value its iterations can be counted. Called by the planner
// (Plan.cpp), and by the files that change loops.
//
// How often a loop runs at most, and by what its iterations can be counted without adding a counter: the value that its
// own exit test compares. Computed by ScalarEvolution before anything is changed.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_LOOPFACTS_H
#define CAUDAL_PASS_LOOPFACTS_H

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Instructions.h"

namespace caudal {

struct LoopFacts {
  /// Most iterations, if the code bounds them by a constant; 0: nothing does.
  unsigned mostTrips = 0;
  /// Whether its one exit is the latch's test, on a value that takes equal steps: a baseline can cut it into strips.
  bool isCounted = false;
  llvm::BasicBlock *latch = nullptr;
  /// If it is: the value that the latch compares, the instructions that make it from phis of the header, its step (a
  /// power of two, up or down), and its last value.
  llvm::Value *tested = nullptr;
  llvm::SmallPtrSet<const llvm::Instruction *, 4> testedParts;
  int64_t step = 0;
  const llvm::SCEV *testedLast = nullptr;

  static LoopFacts of(llvm::Loop &loop, llvm::ScalarEvolution &scev, const llvm::TargetTransformInfo &tti);
};

/// Whether `value` is a number that takes steps in `loop`.
bool takesSteps(const llvm::Value &value, const llvm::Loop &loop, llvm::ScalarEvolution &scev);

/// Whether only what it loads ends the loop, and none of that is a byte: along a list, in a table, up to a pivot. What is looked for
/// in a string is mostly farther away.
bool isSearch(const llvm::Loop &loop);

} // namespace caudal

#endif
