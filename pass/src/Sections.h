//===- Sections.h - What must not be pre-empted -------------------------------------------------------------------===//
//
// Keeps code from being preempted that must not be: locks, allocators, what lists say. Called by Pass.cpp in front of
// planning, and Plugin.cpp in front of the inliner.
//
// Runs in front of planning. Redirects calls of lock functions to the library's wrappers, puts critical sections around calls
// and functions that must not lose their thread, and says which functions stay without probes. Why, and why nobody
// deadlocks: docs/background/preemption-safety.md.
//
//     redirected   pthread_mutex_*, _rwlock_*, _spin_*, _cond_*, sem_*, pthread_once, mtx_*, cnd_*, call_once, stdio, sigaction, signal and their like,
//                  longjmp, syscall, vfork, _Fork, uselocale
//     surrounded   __cxa_guard_*, std::call_once, scanf, fork, clone, dlopen, dlclose, Rust's print!, functions of a list's `call`
//                  initialisers of C++'s thread_local variables (ThreadLocals.h)
//                  parts of OpenMP's parallel regions (Known.h)
//                  calls that an allocator makes of other modules, and through pointers
//     sections     functions with caudal_nopreempt, of a list's `nopreempt`, of libraries that keep something by thread (Known.h)
//     left alone   allocators and what they call, functions of a list's `leave`
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_SECTIONS_H
#define CAUDAL_PASS_SECTIONS_H

#include "Exclusions.h"
#include "Options.h"
#include "Report.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include <string>

namespace caudal {

/// In front of the inliner: keeps functions apart whose names the pass will look for behind it. `isSimplified`: variables are
/// values already, so it is seen which of allocators' entry points only hand on.
class KeepNamesPass : public llvm::PassInfoMixin<KeepNamesPass> {
public:
  KeepNamesPass(Options options, bool isSimplified) : options_(std::move(options)), isSimplified_(isSimplified) {}
  llvm::PreservedAnalyses run(llvm::Module &module, llvm::ModuleAnalysisManager &);
  static bool isRequired() { return true; }

private:
  Options options_;
  bool isSimplified_;
};

class Sections {
public:
  Sections(llvm::Module &module, const Options &options, Report &report)
      : module_(module), options_(options), report_(report) {}

  /// Changes the module, functions that it has seen before excepted. Did it?
  bool run();

  /// Why `function` gets no probes; empty: nothing here is against them.
  llvm::StringRef whyLeftAlone(const llvm::Function &function) const;

private:
  void findAnnotated();
  void findListed();
  /// Nothing is redirected there: in an allocator a section's end must not yield.
  bool isUntouched(const llvm::Function *function) const {
    return allocators_.contains(function) || resolvers_.contains(function);
  }
  void surroundInAllocator(llvm::Function &function);
  bool mayChange(const llvm::Function &function) const;
  void change(llvm::Function &function);
  /// A function of the library; it answers nothing where `result` is null.
  llvm::FunctionCallee library(llvm::StringRef name, llvm::ArrayRef<llvm::Type *> parameters, llvm::Type *result = nullptr);
  void redirect(llvm::Function &from, llvm::StringRef to);
  void redirectCalls(llvm::Function &own, llvm::StringRef to);
  void redirectNamed(llvm::StringRef name, llvm::function_ref<bool(const llvm::Function &)> isIt);
  void redirectAll();
  void surroundCalls(llvm::Function &function);
  bool surroundGuard(llvm::CallBase &call, llvm::StringRef name);
  bool surroundScan(llvm::CallBase &call, llvm::StringRef name);
  bool surroundKnown(llvm::CallBase &call, llvm::StringRef name);
  bool isSectionCall(const llvm::Function &callee);
  void rewriteCallOnce(llvm::Function &function);
  void becomeSection(llvm::Function &function);
  void lint(const llvm::Function &function);

  llvm::Module &module_;
  const Options &options_;
  Report &report_;
  Exclusions exclusions_;
  llvm::DenseSet<const llvm::Function *> allocators_, resolvers_;
  llvm::DenseMap<const llvm::Function *, std::string> sections_, listed_; ///< with the reason
  llvm::StringMap<int64_t> redirected_;                                   ///< calls, by name
  llvm::DenseMap<const llvm::Function *, bool> sectionCalls_;
  bool changed_ = false;
};

} // namespace caudal

#endif
