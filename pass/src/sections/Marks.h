//===- Marks.h - What a compilation before an optimising link was told --------------------------------------------===//
//
// Writes at each function what its compilation was told, so that an optimising link knows it. Called by Plugin.cpp in
// front of such a link, and read by the files beside this one in it.
//
// Under link-time optimisation probes come in at the link, with the link's options. What a single compilation was told of its
// own functions has to hold there, too. So it is written at them:
//
//     "caudal-leave"="WHY"         of a function: no probes in it (off, a list's `leave`)
//     "caudal-nopreempt"="WHY"     of a function: a critical section (a list's `nopreempt`)
//     "caudal-call"                of a call: a critical section (a list's `call`)
//     "caudal-told"="mode=flag"    of a function: what a link decides for all that it links. Where it was told something else, it
//                                  says so
//
// Without the pass in the link, none of these says anything to anybody.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_MARKS_H
#define CAUDAL_PASS_MARKS_H

#include "Options.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/PassManager.h"

namespace caudal {

/// At the end of such a compilation. Functions that it inlines until then are kept apart by KeepNamesPass (KeepNames.h).
class MarkPass : public llvm::PassInfoMixin<MarkPass> {
public:
  explicit MarkPass(Options options) : options_(std::move(options)) {}
  llvm::PreservedAnalyses run(llvm::Module &module, llvm::ModuleAnalysisManager &);
  static bool isRequired() { return true; }

private:
  Options options_;
};

/// Why `function` is to have no probes, or to be a critical section; empty: no mark says so.
llvm::StringRef markedLeave(const llvm::Function &function);
llvm::StringRef markedNoPreempt(const llvm::Function &function);
/// Whether `call` is marked as a critical section.
bool isMarkedCall(const llvm::CallBase &call);

/// A warning, once for `module`, where a compilation was told of a mode, a bound or assumed calls that `options` have not.
void warnOfOthers(const llvm::Module &module, const Options &options);

} // namespace caudal

#endif
