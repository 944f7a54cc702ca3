//===- Report.h - Where probes went, and what was left alone ------------------------------------------------------===//
//
// Writes which functions got probes, and which did not and why, as JSON lines. Called by Pass.cpp, Bounded.cpp and
// Sections.cpp, with the option `report`.
//
// JSON lines, one for each function that got probes or was left alone, appended to the file that the option `report`
// names: compilers run side by side write to one file, a line at a time.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_REPORT_H
#define CAUDAL_PASS_REPORT_H

#include "plan/Plan.h"
#include "verify/Verify.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Module.h"

namespace caudal {

class Report {
public:
  Report(const llvm::Module &module, const Options &options) : module_(module), options_(options) {}

  bool isWanted() const { return !options_.report.empty(); }
  /// Before insertion: afterwards the plan's loops are gone.
  void planned(const llvm::Function &function, const Plan &plan);
  void verified(const llvm::Function &function, const Verified &verified);
  void leftAlone(const llvm::Function &function, llvm::StringRef why);
  /// Something about `function` that a reader has to know: `event`, which names `what`.
  void note(const llvm::Function &function, llvm::StringRef event, llvm::StringRef what, const llvm::DebugLoc &at);
  /// Calls that are sections, or go to a wrapper, by the linker's name.
  void sections(const llvm::StringMap<int64_t> &calls);
  /// Appends to the file; an error names it.
  llvm::Error write() const;

private:
  const llvm::Module &module_;
  const Options &options_;
  std::vector<std::string> lines_;
};

} // namespace caudal

#endif
