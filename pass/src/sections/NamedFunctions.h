//===- NamedFunctions.h - What functions of libraries do to their thread, by name ---------------------------------===//
//
// Asked by KeepNames.h before the inliner, which must leave such functions callable by name, and by SurroundedCalls.h and
// Redirection.h after it. Whole libraries whose state belongs to the thread are in Known.h.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_NAMEDFUNCTIONS_H
#define CAUDAL_PASS_NAMEDFUNCTIONS_H

#include "llvm/ADT/StringRef.h"

namespace caudal {

/// Rust's calls that print, which hold a lock of their thread meanwhile, and call what formats.
bool isRustPrint(llvm::StringRef name);
/// Rust's calls that lock stdout or stderr and give out a guard.
bool isRustGuard(llvm::StringRef name);
/// Calls that read or write what a thread keeps behind a key.
bool isKeyed(llvm::StringRef name);
/// Whether who calls a function of that name has a lock or a section afterwards, or has none any more.
bool isLock(llvm::StringRef name);
/// Calls that load shared objects and unload them. They run constructors and destructors, under a lock that its thread may take again: another
/// request would be given an object whose constructors have not come to their end.
bool loadsObjects(llvm::StringRef name);
/// Calls that make a child process. The child of `clone` may share this thread's memory and thread-local storage, and stop it meanwhile;
/// the others call the handlers of pthread_atfork, in the child too, and have the C library's locks meanwhile.
bool makesChild(llvm::StringRef name);

} // namespace caudal

#endif
