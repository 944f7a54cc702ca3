//===- Names.h - What a function is called in its source ----------------------------------------------------------===//
//
// Turns the names that the linker knows into those of the source. Called by Exclusions.cpp, Known.cpp, Report.cpp and
// Sections.cpp.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_NAMES_H
#define CAUDAL_PASS_NAMES_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace caudal {

/// What the linker's name `symbol` stands for, for reports and lists. Of Rust's older names, which are C++'s with escapes and a
/// hash, neither is left: `alloc::vec::Vec<T>::push`.
std::string sourceName(llvm::StringRef symbol);

} // namespace caudal

#endif
