//===- StripMine.h - Cutting a loop into strips, with a probe before each -----------------------------------------===//
//
// Cuts a counted loop into strips, with one probe before each strip. Called by CompilerInterrupts.cpp,
// when probes are written.
//
// The loop's body stays as it is; only the jump back to its header changes:
//
//     preheader -> strip, probe -> header ... latch --[tested value is the strip's end]--> done --> exit
//                    ^------------------------------------------------------------------------+
//
// Within a strip that costs nothing: the test against the loop's end becomes one against the strip's. The probe is in front,
// where the strip's length is known, and charges for the whole of it.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_STRIPMINE_H
#define CAUDAL_PASS_STRIPMINE_H

#include "analysis/Cost.h"
#include "analysis/LoopFacts.h"
#include "insert/Probe.h"
#include "llvm/IR/ValueHandle.h"

namespace caudal {

/// A loop that is cut into strips of `length` iterations, with a probe before each.
struct Strip {
  llvm::Loop *loop;
  LoopFacts facts;
  uint64_t length;
  Cost expected; ///< mean iteration
};

/// A strip whose loop's values have been computed before it, while ScalarEvolution was still right.
struct PreparedStrip {
  Strip strip;
  llvm::Value *last = nullptr; ///< the last value that the latch tests
  llvm::WeakTrackingVH replaced; ///< the loop's own comparison, dead once the loop is cut
  llvm::SmallVector<llvm::Instruction *, 8> computing; ///< what computes it, before this loop or of one around it
  llvm::BasicBlock *preheader = nullptr;
  llvm::BasicBlock *header = nullptr;
};

/// First for all strips, before anything else is changed.
PreparedStrip prepareStrip(const Strip &strip, llvm::ScalarEvolution &scev);
/// Then each is cut. Leaves dominators, loops and ScalarEvolution stale.
void cutStrip(const PreparedStrip &prepared, ProbeWriter &writer);

} // namespace caudal

#endif
