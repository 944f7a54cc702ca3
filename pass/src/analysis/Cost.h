//===- Cost.h - Estimates of the time of code ---------------------------------------------------------------------===//
//
// Estimates in cycles what code takes. All decisions of the planner rest on these estimates. Called by the planner, the
// verifier, and whatever changes loops or recursion.
//
// The estimates come from LLVM's TargetTransformInfo, and from a table for what LLVM does not know (division, atomics, memory
// intrinsics, library calls). Code outside of loops takes the longer of two times: half its critical chain, and its instructions over
// the issue width. The chain counts half because the processor overlaps it with the code before and after it. An iteration of a loop takes
// the longer of its instructions over the issue width and the chain from one iteration to the next, because the processor overlaps iterations.
//
// Loads are assumed to hit the first-level cache and branches to be predicted: a program that misses is slower than
// estimated, which budget mode measures and clock mode does not need to know. Only the charge of budget mode for a walk along
// pointers (Plan.cpp) lies between a hit and a miss. Otherwise the pace of such a walk would differ from that of other code by as much as
// hits and misses do.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_COST_H
#define CAUDAL_PASS_COST_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include <algorithm>
#include <cstdint>

namespace caudal {

/// A cost in sixteenths of a cycle, or none (there is no such path). Sums saturate.
class Cost {
public:
  static constexpr int64_t unitsPerCycle = 16;

  constexpr Cost() : units_(noneUnits) {}
  static constexpr Cost none() { return Cost(); }
  static constexpr Cost zero() { return Cost(0); }
  static constexpr Cost units(int64_t units) { return Cost(units); }
  static constexpr Cost cycles(int64_t cycles) { return Cost(cycles * unitsPerCycle); }

  constexpr bool isNone() const { return units_ < 0; }
  /// Sixteenths of a cycle; 0 where there is none.
  constexpr int64_t inUnits() const { return isNone() ? 0 : units_; }
  /// Rounded to whole cycles.
  constexpr int64_t inCycles() const { return (inUnits() + unitsPerCycle / 2) / unitsPerCycle; }

  /// One path after the other: none if either is none.
  constexpr Cost operator+(Cost other) const {
    return isNone() || other.isNone() ? none() : Cost(std::min(units_ + other.units_, most));
  }
  /// A path `times` times over.
  constexpr Cost operator*(int64_t times) const {
    if (isNone())
      return none();
    return units_ != 0 && times > most / units_ ? Cost(most) : Cost(units_ * times);
  }
  /// Ordered with none below all.
  constexpr bool operator<(Cost other) const { return units_ < other.units_; }
  constexpr bool operator>(Cost other) const { return other < *this; }
  constexpr bool operator<=(Cost other) const { return !(other < *this); }
  constexpr bool operator>=(Cost other) const { return !(*this < other); }
  constexpr bool operator==(Cost other) const { return units_ == other.units_; }

private:
  static constexpr int64_t noneUnits = -1;
  static constexpr int64_t most = INT64_C(1) << 50;
  explicit constexpr Cost(int64_t units) : units_(units) {}
  int64_t units_;
};

inline constexpr Cost longer(Cost a, Cost b) { return std::max(a, b); }

/// The cycles of a probe itself until its jump is decided: a load, a subtraction, a comparison, each of which waits for the
/// one before. It is part of the path that it ends.
inline constexpr Cost probeCost = Cost::cycles(6);

/// Whether `instruction` is no call, or one of an intrinsic that becomes a few instructions or none.
bool callsNothing(const llvm::Instruction &instruction);

/// The estimates for one function. Calls cost nothing here: Calls.h knows them.
class CostModel {
public:
  CostModel(const llvm::TargetTransformInfo &tti, const llvm::LoopInfo &loops) : tti_(tti), loops_(loops) {}

  /// The issue slots of the processor that an instruction takes.
  Cost issue(const llvm::Instruction &instruction) const;
  /// Least cost of an iteration of `loop`: the longest chain of dependent instructions from one iteration to the next.
  Cost recurrence(const llvm::Loop &loop) const;

  /// Adds `loop`'s own loads whose address is, or is computed from, what they loaded in the iteration before: walks along
  /// pointers. Not where that is compared or added only.
  void addWalks(const llvm::Loop &loop, llvm::SmallPtrSetImpl<const llvm::Instruction *> &loads) const;

  /// Goes through a block, one instruction after the other.
  class Walk {
  public:
    Walk(const CostModel &costs, const llvm::BasicBlock &block)
        : costs_(costs), inLoop_(costs.loops_.getLoopFor(&block) != nullptr) {}
    /// The cycles that the next instruction adds to the path since the start.
    Cost add(const llvm::Instruction &instruction);
    /// A probe is here: what follows waits for nothing before it.
    void restart() { *this = Walk(costs_, inLoop_); }

  private:
    Walk(const CostModel &costs, bool inLoop) : costs_(costs), inLoop_(inLoop) {}
    Walk &operator=(Walk &&other) {
      issued_ = other.issued_;
      chain_ = other.chain_;
      ready_.clear();
      return *this;
    }
    Cost soFar() const { return longer(issued_, Cost::units(chain_.inUnits() / 2)); }

    const CostModel &costs_;
    bool inLoop_;
    Cost issued_ = Cost::zero();
    Cost chain_ = Cost::zero(); ///< longest chain of dependent instructions
    llvm::SmallDenseMap<const llvm::Instruction *, Cost, 16> ready_;
  };

private:
  const llvm::TargetTransformInfo &tti_;
  const llvm::LoopInfo &loops_;
};

} // namespace caudal

#endif
