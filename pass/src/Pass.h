//===- Pass.h - The pass: plans, inserts, verifies ----------------------------------------------------------------===//
//
// Runs all steps of the pass over a module: which functions, in which order, by which strategy. Called by LLVM, for
// which Plugin.cpp registers it.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_PASS_H
#define CAUDAL_PASS_PASS_H

#include "Options.h"
#include "llvm/IR/PassManager.h"

namespace caudal {

/// Gives every function of a module its probes, callees before callers. Runs once over a function, after all
/// optimisation.
class ProbePass : public llvm::PassInfoMixin<ProbePass> {
public:
  explicit ProbePass(Options options) : options_(std::move(options)) {}
  llvm::PreservedAnalyses run(llvm::Module &module, llvm::ModuleAnalysisManager &manager);
  static bool isRequired() { return true; }

private:
  Options options_;
};

} // namespace caudal

#endif
