//===- Allocators.h - Which functions are an allocator's ----------------------------------------------------------===//
//
// Finds the functions of memory allocators, which must not be preempted. Called by the files in sections/, before
// planning, and by JumpCircles.cpp.
//
// Who is in an allocator holds its locks, and has its thread's caches half changed: nobody else of the thread may get in. An
// allocator is known by the names of its entry points; what these call by name in the module is part of it.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_ALLOCATORS_H
#define CAUDAL_PASS_ALLOCATORS_H

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

namespace caudal {

/// Whether an entry point is called `name`: malloc and its like, operator new and delete but for placement, the same of jemalloc,
/// mimalloc, tcmalloc and rpmalloc, Rust's.
bool isAllocatorEntry(llvm::StringRef name);

/// The entry points that the module defines, under their own names or by aliases.
void forEachAllocatorEntry(llvm::Module &module, llvm::function_ref<void(llvm::Function &)> visit);

/// These, and what they call by name and comes back.
llvm::DenseSet<const llvm::Function *> findAllocators(llvm::Module &module);

/// Whether what `call` calls is known by its name neither to have probes nor to call what may.
bool hasNoProbes(const llvm::CallBase &call);

/// Whether an entry point only hands on to another allocator, as Rust's own do to libc's: it has nothing half changed.
bool handsOn(const llvm::Function &function);

} // namespace caudal

#endif
