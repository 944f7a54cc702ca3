// Places short loops and the dispatches of interpreters so that they lie in as few cache lines as they need. Called by the
// machine pass in Gaps.cpp, after code generation. See Alignment.h.
#include "emit/Alignment.h"
#include "emit/CodeBytes.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/CodeGen/MachineDominators.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineLoopInfo.h"
#include "llvm/CodeGen/TargetLowering.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;

namespace caudal {

static constexpr int64_t line = 64;

/// The bytes of a loop that lie together from its first block on, without seldom executed blocks that lie elsewhere; none: more than `most`.
static std::optional<int64_t> bytesWithin(int64_t most, const MachineLoop &loop, const MachineBasicBlock &first) {
  int64_t bytes = 0;
  for (const MachineBasicBlock &block : make_range(first.getIterator(), first.getParent()->end())) {
    if (!loop.contains(&block))
      break;
    if ((bytes += bytesOf(block)) > most)
      return std::nullopt;
  }
  return bytes;
}

/// The bytes that are executed from the beginning of `first` at least up to where code does not run on; none: more than `most`.
static std::optional<int64_t> bytesWithin(int64_t most, const MachineBasicBlock &first) {
  int64_t bytes = 0;
  for (const MachineBasicBlock &block : make_range(first.getIterator(), first.getParent()->end())) {
    if ((bytes += bytesOf(block)) > most)
      return std::nullopt;
    if (!runsOn(block))
      break;
  }
  return bytes;
}

/// Has so many bytes from the beginning of `block` lie in no more lines than they need, if `most` before it are enough. Where a
/// probe's call lies elsewhere so many are more than there are, which is as well: a few bytes that do nothing before a loop cost less
/// than a loop that is one byte longer than estimated.
static void keepTogether(MachineBasicBlock &block, int64_t bytes, int64_t most) {
  block.setAlignment(Align(line));
  // They would not where less than what the last line needs is left before the next one. Never 0, which stands for any number.
  block.setMaxBytesForAlignment(unsigned(std::clamp<int64_t>((bytes - 1) % line, 1, most)));
}

/// Whether the loop calls anything but what is due: mostly, that takes longer than what a line more costs.
static bool hasCalls(const MachineLoop &loop) {
  return any_of(loop.blocks(), [](const MachineBasicBlock *block) {
    return any_of(*block, [](const MachineInstr &instruction) { return instruction.isCall(); });
  });
}

/// Whether the loop jumps to where it has computed, as an interpreter does.
static bool dispatches(const MachineLoop &loop) {
  return any_of(loop.blocks(), [](const MachineBasicBlock *block) { return any_of(*block, isIndirectJump); });
}

bool alignLoops(MachineFunction &function, bool hasIndirectJumps) {
  // What is before a loop is executed where it is entered; with up to 63 bytes code is larger, and nothing faster.
  static constexpr int64_t mostOfLoop = 112, mostInFront = 7;
  if (function.getTarget().Options.LoopAlignment != 0)
    return false;
  MachineDominatorTree dominators(function);
  MachineLoopInfo loops(dominators);
  const TargetLowering &lowering = *function.getSubtarget().getTargetLowering();
  bool changed = false;
  for (MachineBasicBlock &block : function) {
    MachineLoop *loop = loops.getLoopFor(&block);
    if (!loop || block.getAlignment() == Align(1) || block.getAlignment() != lowering.getPrefLoopAlignment(loop) ||
        findOptionMDForLoopID(loop->getLoopID(), "llvm.loop.align"))
      continue;
    bool isShort = loop->getTopBlock() == &block && loop->isInnermost() && !hasCalls(*loop);
    if (std::optional<int64_t> bytes = isShort ? bytesWithin(mostOfLoop, *loop, block) : std::nullopt)
      keepTogether(block, *bytes, dispatches(*loop) ? line - 1 : mostInFront);
    else if (!hasIndirectJumps)
      block.setAlignment(Align(1));
    else if ((bytes = bytesWithin(line, block)))
      keepTogether(block, *bytes, line - 1);
    else
      continue;
    changed = true;
  }
  return changed;
}

} // namespace caudal
