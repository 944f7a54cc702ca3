//===- Known.h - Libraries whose state belongs to the thread ------------------------------------------------------===//
//
// Knows libraries whose state belongs to a thread, and what the pass does about them. Called by Sections.cpp,
// KeepNames.cpp and SurroundedCalls.cpp.
//
// What the pass does about them by itself. A request must not lose its thread while such a library has something of it there that
// the next request would find, and that cannot go with the request. The table of libraries: docs/background/preemption-safety.md.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_KNOWN_H
#define CAUDAL_PASS_KNOWN_H

#include "llvm/IR/InstrTypes.h"

namespace caudal {

/// The meaning of a call of such a library for the section around it.
enum class KnownCall {
  None,
  /// It calls back, or waits for threads that do: the call is a section.
  Section,
  /// A section begins before it, and ends after its counterpart.
  Enter,
  Leave,
  /// It leaves something for the next region that is opened: from it to after that call is a section.
  Prepare,
  /// The state that it opens is closed in more than one way: the function that calls it is a section.
  Function,
};

KnownCall knownCall(llvm::StringRef name);

/// The call for which a call of kind `Prepare` leaves something, in the same block; null: it is elsewhere.
llvm::CallBase *preparedFor(llvm::CallBase &call);

/// Is `function` a part of a library of which no other request of the thread may see a half? By its name.
bool isKnownSection(llvm::StringRef name);

} // namespace caudal

#endif
