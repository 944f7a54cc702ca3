//===- LoopFacts.h - What is known about a loop's count -----------------------------------------------------------===//
//
// How often a loop runs at most, and by what its iterations can be counted without adding a counter: the value that its
// own exit test compares, or another induction variable. Computed by ScalarEvolution before anything is changed.
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

/// How the iterations of a loop can be cut into strips.
enum class Counting {
  None,     ///< cannot: more than one latch, or edges that cannot be split
  Test,     ///< the latch's own test, on a value that takes equal steps, gets a nearer end
  Variable, ///< bits of an induction variable say when a strip ends
  Counter,  ///< an own counter
};

struct LoopFacts {
  /// Most iterations, if the code bounds them by a constant; 0: it does not.
  unsigned mostTrips = 0;
  /// The number of iterations, if it is constant and the latch the only way out; else 0.
  unsigned exactTrips = 0;
  Counting counting = Counting::None;
  llvm::BasicBlock *latch = nullptr;
  /// A phi of the header that takes equal steps, each a power of two, up or down; null: there is none.
  llvm::PHINode *variable = nullptr;
  int64_t variableStep = 0;
  /// For Test: the value that the latch compares, the instructions that make it from phis of the header, its step (a
  /// power of two, up or down), and its last value.
  llvm::Value *tested = nullptr;
  llvm::SmallPtrSet<const llvm::Instruction *, 4> testedParts;
  int64_t step = 0;
  const llvm::SCEV *testedLast = nullptr;

  static LoopFacts of(llvm::Loop &loop, llvm::ScalarEvolution &scev, const llvm::TargetTransformInfo &tti);
};

} // namespace caudal

#endif
