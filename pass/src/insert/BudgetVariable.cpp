// Holds what is left of the budget as a variable within a loop. BudgetInLoops.cpp makes one for each loop that it chooses, once all
// probes of the function are written. See BudgetVariable.h.
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
static bool callsInside(const Loop &loop) {
  return any_of(loop.blocks(), [](const BasicBlock *block) {
    return any_of(*block, [](const Instruction &instruction) {
      const auto *call = dyn_cast<CallBase>(&instruction);
      return call && !call->isInlineAsm() && (!isa<IntrinsicInst>(call) || isa<MemIntrinsic>(call));
    });
  });
}

/// A variable of the function that `loop` is in.
static AllocaInst *variableFor(const Loop &loop, Type *type) {
  Function &function = *loop.getHeader()->getParent();
  return new AllocaInst(type, function.getDataLayout().getAllocaAddrSpace(), "caudal.left", function.getEntryBlock().begin());
}

BudgetVariable::BudgetVariable(const Loop &loop, ProbeWriter &writer, Spending &spending)
    : loop_(loop), writer_(writer), left_(variableFor(loop, writer.budgetType())) {
  bool acrossCalls = callsInside(loop);
  erase_if(spending, [&](CallInst *probe) {
    bool within = loop.contains(probe);
    if (within)
      writer_.spendVariable(left_, probe, acrossCalls);
    return within;
  });
}

void separateReturn(CallBase &call, DominatorTree *dominators, LoopInfo *loops) {
  auto *invoke = dyn_cast<InvokeInst>(&call);
  if (invoke && !invoke->getNormalDest()->getSinglePredecessor())
    SplitEdge(invoke->getParent(), invoke->getNormalDest(), dominators, loops);
}

void BudgetVariable::aroundCall(CallBase &call, const Slack &slack) const {
  writer_.putBack(left_, &call, slack.at(*call.getParent()));
  if (auto *invoke = dyn_cast<InvokeInst>(&call)) {
    BasicBlock *normal = invoke->getNormalDest();
    if (loop_.contains(normal))
      writer_.take(left_, &*normal->getFirstInsertionPt(), slack.at(*normal));
  } else {
    writer_.take(left_, call.getNextNode(), slack.at(*call.getParent()));
  }
}

void BudgetVariable::beforeThrow(CallBase &call, const Slack &slack) const {
  writer_.putBack(left_, &call, slack.at(*call.getParent()));
}

} // namespace caudal
