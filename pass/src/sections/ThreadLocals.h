//===- ThreadLocals.h - The initialisers of C++'s thread_local variables ------------------------------------------===//
//
// Makes the initialisers of C++ thread_local variables critical sections. Called by Sections.cpp and KeepNames.cpp.
//
// C++ makes a thread_local variable at its thread's first use. No other thread can come to it meanwhile, so no lock is taken: clang looks at
// a thread-local guard, makes the variable where that is 0, and sets it. Another request of the thread would find the variable half
// made, or make it again. So what lies between is a section:
//
//      guard == 0? ──▶ section begins ──▶ still 0? ──▶ the initialiser, [guard = 1], section ends ──▶ use
//          └────────────────────────────────────└─────────────────────────────────── section ends ──▶
//
// The guard may have been loaded long before the branch, and a probe have been between.
//
// Variables of functions have their guard set after the initialiser; all others, which the thread makes together (__tls_init), before
// it. The section costs nothing where the variable is there already.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_THREADLOCALS_H
#define CAUDAL_PASS_THREADLOCALS_H

#include "llvm/IR/Module.h"

namespace caudal {

/// Puts sections around the initialisers of the module's thread_local variables, those excepted that have one, and those in allocators and
/// in what resolves ifuncs. Early, where the guards are as clang has written them; they keep what is done here through inlining and links.
/// How many have become sections?
unsigned surroundThreadLocals(llvm::Module &module);

} // namespace caudal

#endif
