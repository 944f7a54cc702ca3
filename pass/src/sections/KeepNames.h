//===- KeepNames.h - Functions that the inliner must leave callable by name ---------------------------------------===//
//
// A pass of its own, which Plugin.cpp puts before the inliner: the sections of Sections.h are found by the names of what is called,
// after all optimisation.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_KEEPNAMES_H
#define CAUDAL_PASS_KEEPNAMES_H

#include "Options.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"

namespace caudal {

/// Keeps functions apart whose names the pass looks for after the inliner. `isSimplified`: variables are values already, so it is
/// seen which of allocators' entry points only hand on.
class KeepNamesPass : public llvm::PassInfoMixin<KeepNamesPass> {
public:
  KeepNamesPass(Options options, bool isSimplified) : options_(std::move(options)), isSimplified_(isSimplified) {}
  llvm::PreservedAnalyses run(llvm::Module &module, llvm::ModuleAnalysisManager &);
  static bool isRequired() { return true; }

private:
  Options options_;
  bool isSimplified_;
};

} // namespace caudal

#endif
