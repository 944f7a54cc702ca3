//===- Sections.h - What must not be pre-empted -------------------------------------------------------------------===//
//
// Keeps code from being preempted that must not be: locks, allocators, what lists say. Called by Pass.cpp before
// planning.
//
// Runs before planning. Redirects calls of lock functions to the library's wrappers, puts critical sections around calls
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

#include "sections/Exclusions.h"
#include "sections/LibraryCalls.h"
#include "sections/SurroundedCalls.h"
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

class Sections {
public:
  Sections(llvm::Module &module, const Options &options, Report &report)
      : module_(module), options_(options), report_(report), calls_(module), surrounded_(calls_, exclusions_) {}

  /// Changes the module, functions that it has seen before excepted. Did it?
  bool run();

  /// Why `function` gets no probes; empty: nothing here is against them.
  llvm::StringRef whyLeftAlone(const llvm::Function &function) const;

private:
  void findAnnotated();
  void findListed();
  bool mayChange(const llvm::Function &function) const;
  void change(llvm::Function &function);
  void becomeSection(llvm::Function &function);
  void lint(const llvm::Function &function);

  llvm::Module &module_;
  const Options &options_;
  Report &report_;
  Exclusions exclusions_;
  llvm::DenseSet<const llvm::Function *> allocators_, resolvers_;
  llvm::DenseMap<const llvm::Function *, std::string> sections_, listed_; ///< with the reason
  LibraryCalls calls_;
  SurroundedCalls surrounded_;
};

} // namespace caudal

#endif
