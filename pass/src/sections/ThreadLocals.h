//===- ThreadLocals.h - The initialisers of C++'s thread_local variables ------------------------------------------===//
//
// Makes the initialisers of C++ thread_local variables critical sections. Sections.cpp calls it once for a module before it plans probes, and
// KeepNames.cpp early in the compiler's pipeline, as soon as clang has made the code. It changes functions.
//
// C++ initialises a thread_local variable at its thread's first use. No other thread can reach the variable, so no lock is taken: clang's code
// reads a thread-local guard, initialises the variable if the guard is 0, and sets the guard. If the request yielded in between, another
// request of the thread would find the variable half initialised, or initialise it again. So the code in between is a section:
//
//      guard == 0? ──▶ section begins ──▶ still 0? ──▶ the initialiser, [guard = 1], section ends ──▶ use
//          └────────────────────────────────────└─────────────────────────────────── section ends ──▶
//
// The second check is needed because the guard may have been loaded long before the branch, with a probe in between.
//
// For variables of functions, the guard is set after the initialiser; for all others, which the thread initialises together (__tls_init), before
// it. The section costs nothing once the variable is initialised.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_THREADLOCALS_H
#define CAUDAL_PASS_THREADLOCALS_H

#include "llvm/IR/Module.h"

namespace caudal {

/// Puts sections around the initialisers of the module's thread_local variables, except those that have one already, and those in allocators
/// and in resolvers of ifuncs. To be called early, while the guards are as clang has written them; sections survive inlining and
/// link-time optimisation. Returns the number of new sections.
unsigned surroundThreadLocals(llvm::Module &module);

} // namespace caudal

#endif
