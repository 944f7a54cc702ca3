//===- Redirection.h - Calls of lock functions become calls of the library's wrappers -----------------------------===//
//
// The first part of what Sections.h does to a module, by tables of names: locks, conditions, semaphores, stdio, signal handlers, long jumps,
// child processes. A wrapper waits in a way that lets other requests of the worker run, or keeps a section while a lock is held.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_REDIRECTION_H
#define CAUDAL_PASS_REDIRECTION_H

#include "sections/LibraryCalls.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace caudal {

/// Redirects all calls of the module's, but those in functions that `isUntouched`.
void redirectCalls(LibraryCalls &calls, llvm::function_ref<bool(const llvm::Function *)> isUntouched);

} // namespace caudal

#endif
