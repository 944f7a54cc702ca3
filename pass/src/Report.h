//===- Report.h - Where probes went, and what was left alone ------------------------------------------------------===//
//
// Writes which functions got probes, and which did not and why, as JSON lines. Pass.cpp makes one report for a module and notes functions
// that are left alone and plans before they are inserted; Bounded.cpp notes what the verifier found, Sections.cpp notes thread-locals and sections.
// At the end of the module, Pass.cpp has it written, if the option `report` names a file.
//
// A line for each function that got probes or was left alone is appended to that file. Compilers that run at the same time may write to
// one file, a line at a time.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_REPORT_H
#define CAUDAL_PASS_REPORT_H

#include "plan/Plan.h"
#include "verify/Verify.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Module.h"

namespace caudal {

/// The report about one module.
class Report {
public:
  Report(const llvm::Module &module, const Options &options) : module_(module), options_(options) {}

  bool isWanted() const { return !options_.report.empty(); }
  /// The plan of `function`. To be called before its insertion, because the plan's loops are gone afterwards.
  void planned(const llvm::Function &function, const Plan &plan);
  void verified(const llvm::Function &function, const Verified &verified);
  void leftAlone(const llvm::Function &function, llvm::StringRef why);
  /// Something about `function` that a reader has to know: the kind `event`, about the symbol `what`.
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
