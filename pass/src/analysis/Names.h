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

/// The name in the source of the linker's name `symbol`, for reports and lists. Rust's older names are C++'s with escapes and a hash;
/// both are removed: `alloc::vec::Vec<T>::push`.
std::string sourceName(llvm::StringRef symbol);

} // namespace caudal

#endif
