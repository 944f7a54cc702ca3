//===- CallsWithin.h - The order in which functions that call each other are planned ------------------------------===//
//
// Orders functions that call each other in circles, so that as few as possible are called before they are planned.
// Called by Pass.cpp.
//
// Of functions that call each other in circles, some have to be planned before a function that they call. What is called
// so has to keep to what was expected of it; the others are known exactly. So the fewer the better.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_CALLSWITHIN_H
#define CAUDAL_PASS_CALLSWITHIN_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Function.h"
#include <vector>

namespace caudal {

/// The direct calls among some functions.
class CallsWithin {
public:
  explicit CallsWithin(llvm::ArrayRef<llvm::Function *> functions);

  using Set = llvm::SmallPtrSet<const llvm::Function *, 4>;
  /// Functions without which there is no circle. Greedy: the one with the most paths through it, until none is left.
  Set breakCircles() const;
  /// All functions, callees before callers; calls of `early` do not count.
  std::vector<llvm::Function *> bottomUp(const Set &early) const;

private:
  using Edges = llvm::DenseMap<llvm::Function *, llvm::SmallSetVector<llvm::Function *, 4>>;
  std::vector<llvm::Function *> functions_;
  Edges callees_, callers_;
};

} // namespace caudal

#endif
