//===- LibraryCalls.h - Calls of the probe library that sections are made of --------------------------------------===//
//
// Shared by the parts of Sections.h: Redirection.h gives calls of lock functions to the library's wrappers, SurroundedCalls.h puts
// calls of the library around others. Both count what they change, for the report.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_LIBRARYCALLS_H
#define CAUDAL_PASS_LIBRARYCALLS_H

#include "llvm/ADT/StringMap.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

namespace caudal {

/// One module's calls that become calls of the library, or get such calls around them.
class LibraryCalls {
public:
  explicit LibraryCalls(llvm::Module &module) : module_(module) {}

  llvm::Module &module() const { return module_; }
  /// A function of the library, which is declared where it is new; it answers nothing where `result` is null.
  llvm::FunctionCallee library(llvm::StringRef name, llvm::ArrayRef<llvm::Type *> parameters, llvm::Type *result = nullptr);
  /// `calls` calls of `name` have been changed.
  void count(llvm::StringRef name, int64_t calls = 1) {
    changed_[name] += calls;
    hasChanged_ = true;
  }
  void change() { hasChanged_ = true; }

  /// Numbers of changed calls, by the name of what was called.
  const llvm::StringMap<int64_t> &changed() const { return changed_; }
  bool hasChanged() const { return hasChanged_; }

private:
  llvm::Module &module_;
  llvm::StringMap<int64_t> changed_;
  bool hasChanged_ = false;
};

/// Calls `enter` before `call` and `exit` after it, whichever way it is left, with what `enter` has answered.
void surround(llvm::CallBase &call, llvm::FunctionCallee enter, llvm::FunctionCallee exit);

} // namespace caudal

#endif
