//===- SurroundedCalls.h - Sections around calls ------------------------------------------------------------------===//
//
// The second part of what Sections.h does to a module, function by function: sections around calls that must not lose their thread, and
// around what allocators call elsewhere; libstdc++'s std::call_once.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_SURROUNDEDCALLS_H
#define CAUDAL_PASS_SURROUNDEDCALLS_H

#include "sections/Exclusions.h"
#include "sections/LibraryCalls.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace caudal {

class SurroundedCalls {
public:
  SurroundedCalls(LibraryCalls &calls, const Exclusions &exclusions) : calls_(calls), exclusions_(exclusions) {}

  /// In `function`, which is none of an allocator's.
  void surroundCalls(llvm::Function &function);
  /// In a function of an allocator, whose functions are `allocators`.
  void surroundInAllocator(llvm::Function &function, const llvm::DenseSet<const llvm::Function *> &allocators);

private:
  bool surroundGuard(llvm::CallBase &call, llvm::StringRef name);
  bool surroundScan(llvm::CallBase &call, llvm::StringRef name);
  bool surroundKnown(llvm::CallBase &call, llvm::StringRef name);
  bool isSectionCall(const llvm::Function &callee);
  void rewriteCallOnce(llvm::Function &function);

  LibraryCalls &calls_;
  const Exclusions &exclusions_;
  llvm::DenseMap<const llvm::Function *, bool> sectionCalls_;
};

} // namespace caudal

#endif
