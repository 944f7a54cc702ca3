#include "Alignment.h"
#include "CodeBytes.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/CodeGen/MachineDominators.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineLoopInfo.h"
#include "llvm/CodeGen/TargetLowering.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;

namespace caudal {

static bool isLongerThan(int64_t bytes, const MachineLoop &loop) {
  for (const MachineBasicBlock *block : loop.blocks())
    for (const MachineInstr &instruction : *block)
      if ((bytes -= bytesOf(instruction)) < 0)
        return true;
  return false;
}

/// Whether `block` begins a loop that is fetched over and over.
static bool beginsShort(const MachineBasicBlock &block, const MachineLoop &loop) {
  static constexpr int64_t line = 64;
  return loop.getHeader() == &block && loop.isInnermost() && !isLongerThan(line, loop);
}

bool alignFewerLoops(MachineFunction &function) {
  if (function.getTarget().Options.LoopAlignment != 0)
    return false;
  MachineDominatorTree dominators(function);
  MachineLoopInfo loops(dominators);
  const TargetLowering &lowering = *function.getSubtarget().getTargetLowering();
  bool changed = false;
  for (MachineBasicBlock &block : function) {
    MachineLoop *loop = loops.getLoopFor(&block);
    if (!loop || block.getAlignment() == Align(1) || block.getAlignment() != lowering.getPrefLoopAlignment(loop) ||
        beginsShort(block, *loop) || findOptionMDForLoopID(loop->getLoopID(), "llvm.loop.align"))
      continue;
    block.setAlignment(Align(1));
    changed = true;
  }
  return changed;
}

} // namespace caudal
