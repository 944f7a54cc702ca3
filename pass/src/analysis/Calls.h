//===- Calls.h - What a call takes, and where its callee's probes are ---------------------------------------------===//
//
// Knows what a call takes and where the probes of its callee are, so that callers can be planned. Called by the planner
// (plan/), the verifier (verify/), and all that changes calls.
//
// A callee is a path in (to its first probe), a path out (from its last probe), a path across (without a probe), and what
// it leaves to its caller to charge. Functions of this module are planned before their callers, so these are known; for
// recursive calls, calls through pointers and functions of other modules the limits of Limits.h stand in, to which every
// instrumented function keeps; for code that nobody instruments, a table and an assumption.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_CALLS_H
#define CAUDAL_PASS_CALLS_H

#include "analysis/Cost.h"
#include "analysis/Limits.h"
#include "Options.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/InstrTypes.h"

namespace caudal {

/// A piece of code with one entry, as the code around it sees it.
struct PathBounds {
  Cost prefix;   ///< longest path from its entry to a probe; none: no path meets a probe
  Cost through;  ///< longest path from entry to exit that meets no probe; none: every path meets one
  Cost suffix;   ///< longest path from a probe to the exit; none: no path meets a probe
  Cost expected; ///< mean cost that is not charged by its own probes

  /// The longest of all.
  Cost longest() const { return longer(prefix, longer(through, suffix)); }

  /// Without probes.
  static PathBounds plain(Cost cost, Cost expected) { return {Cost::none(), cost, Cost::none(), expected}; }
};

/// How much is known about a callee, for the report.
enum class Callee {
  Known,    ///< a function of this module, planned before
  Contract, ///< instrumented, or may be: another module's, through a pointer, or recursive
  Library,  ///< nobody instruments it: in the table, or taken to be as long as the option says
  Wrapper,  ///< of the probe library, for one of those, or around one: may let others run
  Inlined,  ///< an intrinsic that becomes a few instructions, or none
  Assembly, ///< inline assembly
};

/// Whether `instruction` begins a handler of C++, which an exception has come to, and the program does not end there.
bool beginsHandler(const llvm::Instruction &instruction);

/// Whether nobody but the module's functions that name it calls `function`.
bool isOwn(const llvm::Function &function);

class Calls {
public:
  Calls(const Options &options, const Limits &limits) : options_(options), limits_(limits) {}

  /// Whether a mechanism is in use.
  bool does(Step step) const { return options_.does(step); }
  /// The path and the costs of `call`.
  PathBounds of(const llvm::CallBase &call) const;
  static Callee kind(const llvm::CallBase &call);
  /// Whether it is known what `call` does: that it neither meets a probe nor lets others run.
  bool isSimple(const llvm::CallBase &call) const;

  /// The limits that every function keeps to which may be called from elsewhere, on all paths.
  Cost part() const { return limits_.call; }

  /// `function` is called in a circle: until it is planned, it is taken to keep to `part` in all ways.
  void expect(const llvm::Function &function, Cost part) { known_[&function] = {part, part, part, Cost::cycles(2)}; }
  /// `function` has been planned.
  void learn(const llvm::Function &function, const PathBounds &paths);
  /// The knowledge of `function`; null: none.
  const PathBounds *find(const llvm::Function &function) const {
    auto found = known_.find(&function);
    return found == known_.end() ? nullptr : &found->second;
  }

private:
  PathBounds ofWrapper(llvm::StringRef name) const;
  PathBounds assumed(Cost cost) const { return PathBounds::plain(std::min(cost, limits_.call), cost); }

  const Options &options_;
  Limits limits_;
  llvm::DenseMap<const llvm::Function *, PathBounds> known_;
  llvm::SmallPtrSet<const llvm::Function *, 16> meddling_; ///< the known ones with calls that are not simple
};

} // namespace caudal

#endif
