// Holds what is left of the budget as a variable within a part of a function. Called by BudgetInLoops.cpp for loops and
// BudgetInCalls.cpp for recursion. See BudgetVariable.h.
#include "insert/BudgetVariable.h"
#include "analysis/ProbesInCode.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace caudal {

bool maySpend(const Instruction &instruction, const Calls &calls) {
  const auto *call = dyn_cast<CallBase>(&instruction);
  if (!call || isProbe(*call))
    return false;
  return isColdCall(*call) || !calls.isSimple(*call);
}

/// Whether code generation calls something there that keeps fewer registers than a probe.
static bool callsInside(const Function &function, const Loop *loop) {
  return any_of(function, [&](const BasicBlock &block) {
    return (!loop || loop->contains(&block)) && any_of(block, [](const Instruction &instruction) {
             const auto *call = dyn_cast<CallBase>(&instruction);
             return call && !call->isInlineAsm() && (!isa<IntrinsicInst>(call) || isa<MemIntrinsic>(call));
           });
  });
}

Purse::Purse(Function &function, const Loop *loop, ProbeWriter &writer, Spending &spending)
    : loop_(loop), writer_(writer),
      left_(new AllocaInst(writer.purseType(), function.getDataLayout().getAllocaAddrSpace(), "caudal.left",
                           function.getEntryBlock().begin())) {
  bool acrossCalls = callsInside(function, loop);
  erase_if(spending, [&](CallInst *probe) {
    bool within = contains(probe->getParent());
    if (within)
      writer_.carryThrough(left_, probe, acrossCalls);
    return within;
  });
}

void separateReturn(CallBase &call, DominatorTree *dominators, LoopInfo *loops) {
  auto *invoke = dyn_cast<InvokeInst>(&call);
  if (invoke && !invoke->getNormalDest()->getSinglePredecessor())
    SplitEdge(invoke->getParent(), invoke->getNormalDest(), dominators, loops);
}

void Purse::aroundCall(CallBase &call, const Loans *loans) const {
  auto lent = [&](const BasicBlock *block) { return loans ? loans->lentAt(*block) : 0; };
  writer_.putBack(left_, &call, lent(call.getParent()));
  if (auto *invoke = dyn_cast<InvokeInst>(&call)) {
    BasicBlock *normal = invoke->getNormalDest();
    if (contains(normal))
      writer_.take(left_, &*normal->getFirstInsertionPt(), lent(normal));
  } else {
    writer_.take(left_, call.getNextNode(), lent(call.getParent()));
  }
}

void Purse::beforeThrow(CallBase &call, const Loans *loans) const {
  writer_.putBack(left_, &call, loans ? loans->lentAt(*call.getParent()) : 0);
}

} // namespace caudal
