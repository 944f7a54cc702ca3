//===- Exclusions.h - Functions that a list names -----------------------------------------------------------------===//
//
// Reads the lists of functions that users have for `--probe-exclude`. Called by Sections.cpp, KeepNames.cpp and
// Marks.cpp.
//
// A list says of functions, by name, what keeps them safe under preemption: for code that asserts something about its thread.
// One a line, by the linker's name or as it is written in source, with *, ? and [...]; '#' begins a comment:
//
//     leave     NAME    no probes in it; a line without a word in front means the same
//     nopreempt NAME    it, and all that it calls, is a critical section
//     call      NAME    each call of it is a critical section, though nobody instruments it
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_EXCLUSIONS_H
#define CAUDAL_PASS_EXCLUSIONS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <string>
#include <vector>

namespace caudal {

enum class Exclusion { Leave, NoPreempt, Call };

class Exclusions {
public:
  /// A line of a list.
  struct Rule {
    Exclusion what;
    llvm::GlobPattern pattern;
    std::string place; ///< "FILE:LINE"
  };

  /// Reads `path`; nothing is excluded where it is empty. An error names the file and the line.
  static llvm::Expected<Exclusions> read(llvm::StringRef path);

  /// The first line that says `what` of the function with the linker's name `symbol`; null: none does.
  const Rule *find(Exclusion what, llvm::StringRef symbol) const;

private:
  /// The text that was read: patterns point into it.
  std::shared_ptr<llvm::MemoryBuffer> text_;
  std::vector<Rule> rules_;
};

} // namespace caudal

#endif
