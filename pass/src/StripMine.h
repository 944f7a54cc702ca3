//===- StripMine.h - Cutting a loop into strips, with a probe after each ------------------------------------------===//
//
// The loop's body stays as it is; only the jump back to its header changes:
//
//     Test:      preheader -> strip, probe -> header ... latch --[tested value is the strip's end]--> done --> exit
//                               ^------------------------------------------------------------------------+
//     Counter:   preheader -> strip -> header ... latch --[own counter is 0]--> probe --> strip
//     Variable:  preheader -> header ... latch --[low bits of the variable are 0]--> probe --> header
//
// Test costs nothing within a strip: the test against the loop's end becomes one against the strip's. Its probe is in
// front, where the strip's length is known, and charges for the whole of it. The others' is behind.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_STRIPMINE_H
#define CAUDAL_PASS_STRIPMINE_H

#include "Plan.h"
#include "Probe.h"
#include "llvm/IR/ValueHandle.h"

namespace caudal {

/// A strip whose loop's values have been computed in front of it, while ScalarEvolution was still right.
struct PreparedStrip {
  Strip strip;
  llvm::Value *last = nullptr; ///< Test: the last value that the latch tests
  llvm::WeakTrackingVH replaced; ///< Test: the loop's own comparison, dead once the loop is cut
  llvm::BasicBlock *preheader = nullptr;
  llvm::BasicBlock *header = nullptr;
};

/// First for all strips, before anything else is changed.
PreparedStrip prepareStrip(const Strip &strip, llvm::ScalarEvolution &scev);
/// Then each is cut. Leaves dominators, loops and ScalarEvolution stale.
void cutStrip(const PreparedStrip &prepared, ProbeWriter &writer);

} // namespace caudal

#endif
