//===- JumpCircles.h - Circles of calls around which jumps alone may lead -----------------------------------------===//
//
// A machine whose states are functions goes around by jumps, as often as there is input: if one of them became a call, it would be out of
// stack. TailCalls.h asks which calls within functions that call each other must stay jumps.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_JUMPCIRCLES_H
#define CAUDAL_PASS_JUMPCIRCLES_H

#include "analysis/Calls.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace caudal {

/// The calls that code generation can make jumps of among functions that call each other in circles.
class JumpCircles {
public:
  /// `functions`: none, where what is planned is on no circle.
  JumpCircles(llvm::ArrayRef<llvm::Function *> functions, const Calls &calls);

  bool isEmpty() const { return functions_.empty(); }
  /// Whether `call` is of one of the functions.
  bool isWithin(const llvm::CallInst &call) const { return functions_.contains(call.getCalledFunction()); }
  /// Whether jumps alone, `call` the first of them, may lead back to the function that has it: it would take stack for each round.
  bool comesBack(const llvm::CallInst &call) const;

private:
  using Set = llvm::SmallPtrSet<const llvm::Function *, 4>;
  bool mayGoAnywhere(const llvm::CallInst &call) const;

  const Calls &calls_;
  Set functions_;
  llvm::DenseMap<const llvm::Function *, Set> reached_; ///< by jumps, of those that have such calls; null: anywhere
};

} // namespace caudal

#endif
