//===- Options.h - What the pass can be told ----------------------------------------------------------------------===//
//
// Reads the options of the pass. Called by Plugin.cpp; their values go to all other files.
//
// Options reach the pass as one text, "mode=flag;bound=300": as the parameters of `caudal-probes<...>` in a pipeline, as
// clang's `-mllvm -caudal-probes=...`, or, for linkers, which pass nothing on to a plugin, in a file beside the plugin
// that has its name and ".options" appended.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_OPTIONS_H
#define CAUDAL_PASS_OPTIONS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace caudal {

/// The mode of probes: how they find out whether the quantum has ended.
enum class Mode {
  /// Reads the time-stamp counter (Tiny Quanta, section 3.1, listing 1).
  Clock,
  /// Subtracts what was spent from a budget; the clock is read where it is used up.
  Budget,
  /// Looks at a byte that another core sets.
  Flag,
  /// For comparison: a counter that each basic block adds to (Compiler Interrupts, as in Tiny Quanta's Table 3).
  InstructionCounter,
  /// For comparison: the same counter, and the clock where it exceeds a threshold (CI-Cycles, Table 3).
  CounterGatedClock,
};

/// How probes reach the thread's lines.
enum class Tls {
  /// Local-exec in code that can only become part of an executable (-fPIE, -fno-pic), which by the probe ABI defines the
  /// lines; else initial-exec.
  Auto,
  /// A load of the offset for each, which takes a register; for code of shared objects.
  InitialExec,
  /// The offset is part of the instruction; for executables that have the probe library in them.
  LocalExec,
};

llvm::StringRef modeName(Mode mode);
/// Whether the mode is there to compare with (baselines/): it promises no bound.
inline bool isBaseline(Mode mode) { return mode == Mode::InstructionCounter || mode == Mode::CounterGatedClock; }

/// A mechanism of the pass that can be left out, to measure what it brings (pass/bench/ablation): the code is right without any of them.
enum class Step {
  SeparateLoops,
  UnrollUncounted,
  UnrollCounted,
  UnrollRecursion,
  TailCalls,
  Seldom,
  BudgetInLoops,
  DeferredChecks,
  OwnSteps,
  Gaps,
  AlignLoops,
};

struct Options {
  Mode mode = Mode::Budget;
  /// Longest estimated path between two probes, in cycles of the time-stamp counter; 16 to 100,000.
  unsigned bound = 250;
  /// The assumed length of a call into code that nobody instrumented, in cycles.
  unsigned unknownCall = 50;
  Tls tls = Tls::Auto;
  /// Recompute the longest paths after insertion; an error where one exceeds the bound.
  bool verify = false;
  /// File that the report is appended to, JSON lines; empty: none.
  std::string report;
  /// File with names of functions to leave alone, and the like, one a line (Exclusions.h).
  std::string exclude;
  /// Redirect locks and make sections (Sections.h). Without that, code that locks deadlocks: for tests that show it.
  bool sections = true;
  /// Before an optimising link: write at functions what holds for them there (Marks.h), and no probes.
  bool atLink = false;
  /// No probes; before an optimising link, none there either.
  bool off = false;
  /// Mechanisms that are left out, a bit each by their number.
  unsigned without = 0;
  bool does(Step step) const { return !(without >> unsigned(step) & 1); }
  /// Whether these were said, and are no defaults by themselves (Marks.h).
  bool saysMode = false, saysBound = false, saysUnknownCall = false;

  /// Parses "key=value;key;...". An error names the key and says what would be right.
  static llvm::Expected<Options> parse(llvm::StringRef text);
};

} // namespace caudal

#endif
