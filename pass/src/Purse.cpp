#include "Purse.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace caudal {

bool maySpend(const Instruction &instruction, const Calls &calls) {
  const auto *call = dyn_cast<CallBase>(&instruction);
  if (!call || isProbe(*call))
    return false;
  return isColdCall(*call) || !calls.isSimple(*call);
}

Purse::Purse(Function &function, const Loop *loop, ProbeWriter &writer, Spending &spending)
    : loop_(loop), writer_(writer),
      left_(new AllocaInst(writer.purseType(), function.getDataLayout().getAllocaAddrSpace(), "caudal.left",
                           function.getEntryBlock().begin())) {
  erase_if(spending, [&](CallInst *probe) {
    bool within = contains(probe->getParent());
    if (within)
      writer_.carryThrough(left_, probe);
    return within;
  });
}

void Purse::aroundCall(CallBase &call, DominatorTree *dominators, LoopInfo *loops) const {
  writer_.putBack(left_, &call);
  auto *invoke = dyn_cast<InvokeInst>(&call);
  if (!invoke) {
    writer_.take(left_, call.getNextNode());
    return;
  }
  BasicBlock *normal = invoke->getNormalDest();
  if (!normal->getSinglePredecessor())
    normal = SplitEdge(invoke->getParent(), normal, dominators, loops);
  if (contains(normal))
    writer_.take(left_, &*normal->getFirstInsertionPt());
}

} // namespace caudal
