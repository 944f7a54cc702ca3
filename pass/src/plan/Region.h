//===- Region.h - The longest paths through a piece of a function, and the probes on them --------------------------===//
//
// Follows the longest paths through a loop body or a function body, and decides which probes they need. Plan.cpp makes a region for
// each loop, inner loops first, and one for the function's body, each time that a function is planned. It adds to the plan and changes
// no function.
//
// A region is a loop's body, or the function's, in which each inner loop is one node. Its paths are followed in topological order. For each
// place, two things are kept: the longest path to it, and the mean cost since the last probe, which no probe has charged yet. Where the next
// piece of code would make a path longer than the bound, a probe goes before it. A cycle that is no natural loop is cut by a probe of the
// region, or by an inner loop in which every path has a probe; the inner loop then charges for the code before it, too.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_REGION_H
#define CAUDAL_PASS_REGION_H

#include "plan/Plan.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace caudal {

/// The longest paths to a place of a region, and the mean cost there that no probe has charged yet.
struct Place {
  Cost through;         ///< from the region's entry, without a probe
  Cost since;           ///< from the last probe
  double expected = 0;  ///< units; weighted while paths are gathered
  double weight = 0;
};

using Walks = llvm::SmallPtrSet<const llvm::Instruction *, 16>;
/// The charge of budget mode for a load on a walk along pointers: some 4 cycles if it hits, 100 times as many if it misses.
inline constexpr Cost walked = Cost::cycles(24);
/// The jump that ends a block.
inline constexpr Cost jump = Cost::cycles(1);

/// Whether nothing can be inserted into `block`. Landing pads may have probes after their first instruction: a runtime
/// does not yield while the stack unwinds.
inline bool isForbidden(const llvm::BasicBlock &block) { return block.getFirstInsertionPt() == block.end(); }

/// A region: a loop's body (loop != null) or the function's (null).
class Region {
public:
  Region(Plan &plan, const Analyses &analyses, const Calls &calls, const Limits &limits, CostModel &costs,
         llvm::DenseMap<const llvm::Loop *, PathBounds> &inner, const Walks &walks, llvm::Loop *loop, Cost allowance)
      : plan_(plan), analyses_(analyses), calls_(calls), limits_(limits), costs_(costs), inner_(inner), walks_(walks),
        loop_(loop),
        // A path that enters the region may be this long already.
        entered_(Cost::units(limits.bound.inUnits() - allowance.inUnits())) {}

  /// Follows all paths from `entry`, and adds the probes that they need to the plan. `start`: the mean cost that is not charged yet there.
  void follow(llvm::BasicBlock &entry, double start);

  Cost prefix;   ///< longest path from entry to the first probe
  Place latches; ///< gathered where paths go back to the header
  Place exits;   ///< gathered where paths leave the region

private:
  llvm::BasicBlock *nodeOf(llvm::BasicBlock *block) const;
  void order(llvm::BasicBlock *first, llvm::SmallVectorImpl<llvm::BasicBlock *> &nodes);
  void walk(llvm::BasicBlock *from, llvm::BasicBlock *first, llvm::SmallVectorImpl<llvm::BasicBlock *> &nodes,
            llvm::SmallVectorImpl<llvm::BasicBlock *> *behind);
  void breakCycle(llvm::BasicBlock *entered, llvm::BasicBlock *last);
  void probeInFront(llvm::BasicBlock *node, const PathBounds &paths, Place &place);
  void passLoop(llvm::BasicBlock *node, const llvm::Loop &inner, Place &place);
  void chargeWithin(const llvm::Loop &inner, Place &place);
  using Edge = std::pair<llvm::BasicBlock *, llvm::BasicBlock *>;
  void successors(llvm::BasicBlock *node, llvm::SmallVectorImpl<Edge> &edges) const;
  void leave(llvm::BasicBlock *node, Place place);
  PathBounds pathsAcross(const llvm::Loop &inner) const;
  bool alwaysProbes(const llvm::BasicBlock *node) const;
  void startBehindProbes(llvm::ArrayRef<llvm::BasicBlock *> nodes);
  double weightOf(llvm::BasicBlock *from, llvm::BasicBlock *to) const;
  void gather(Place &into, const Place &from, double weight);
  Place merge(llvm::BasicBlock *node);
  bool exceeds(const llvm::BasicBlock &block, const Place &place);
  void passBlock(llvm::BasicBlock &block, Place &place);
  PathBounds pathsOf(const llvm::Instruction &instruction, Cost cost) const;
  bool needsProbe(const Place &place, const PathBounds &paths) const;
  void pass(Place &place, const PathBounds &paths);
  void probe(Place &place, llvm::Instruction *before);
  void probeAtEnd(Place &place, llvm::BasicBlock &block);
  void probeAtStart(Place &place, llvm::BasicBlock &header);
  void finish(llvm::Instruction &terminator, Place &place);
  Cost distance(const Place &place) const { return longer(place.through + entered_, place.since); }

  Plan &plan_;
  const Analyses &analyses_;
  const Calls &calls_;
  const Limits &limits_;
  CostModel &costs_;
  llvm::DenseMap<const llvm::Loop *, PathBounds> &inner_;
  const Walks &walks_;
  llvm::Loop *loop_;
  Cost entered_;
  llvm::BasicBlock *entry_ = nullptr;
  struct Path {
    llvm::BasicBlock *from; ///< null: the region's entry
    Place place;
    double weight;
  };
  llvm::DenseMap<llvm::BasicBlock *, llvm::SmallVector<Path, 2>> paths_;
  llvm::DenseMap<llvm::BasicBlock *, unsigned> state_; ///< while ordering: 1 on the path, 2 done
  llvm::DenseSet<llvm::BasicBlock *> entangled_;       ///< entered backwards, but not by their loop's latch: probed at once
  /// For each block of `entangled_` that is an inner loop: the block that leads there, which is probed at its end, and the loop's header.
  llvm::SmallVector<Edge, 2> endsEntangled_;
  bool isCut_ = false;                                 ///< whether paths are followed anew after inner loops that always probe
};

} // namespace caudal

#endif
