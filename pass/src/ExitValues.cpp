#include "ExitValues.h"
#include "LoopFacts.h"
#include "Probe.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace caudal {

/// Of what `value` is a part, or which it extends; else itself.
static Value &withoutResizing(Value &value) {
  return isa<ZExtInst, SExtInst, TruncInst>(value) ? *cast<CastInst>(value).getOperand(0) : value;
}

/// A way out of `loop` that is taken where `counter` is as large as `end`.
struct CountedExit {
  Instruction *counter;
  Value *end;
};

static std::optional<CountedExit> countedExit(const BasicBlock &from, const BasicBlock &to, const Loop &loop, ScalarEvolution &scev) {
  const auto *branch = dyn_cast<BranchInst>(from.getTerminator());
  const auto *test = branch && branch->isConditional() ? dyn_cast<ICmpInst>(branch->getCondition()) : nullptr;
  if (!test || !test->isEquality() || branch->getSuccessor(0) == branch->getSuccessor(1) ||
      branch->getSuccessor(test->getPredicate() == ICmpInst::ICMP_EQ ? 0 : 1) != &to)
    return std::nullopt;
  Value *counter = test->getOperand(0), *end = test->getOperand(1);
  if (loop.isLoopInvariant(counter))
    std::swap(counter, end);
  if (!counter->getType()->isIntegerTy() || !loop.isLoopInvariant(end) || !steppingIn(*counter, loop, scev))
    return std::nullopt;
  auto *instruction = dyn_cast<Instruction>(counter);
  return instruction ? std::optional(CountedExit{instruction, end}) : std::nullopt;
}

/// Whether `phi` is what `loop` counts by where it comes from elsewhere than `from`.
static bool isCounterElsewhere(const PHINode &phi, const BasicBlock &from, const Loop &loop, ScalarEvolution &scev) {
  return any_of(zip(phi.blocks(), phi.incoming_values()), [&](auto incoming) {
    auto [block, value] = incoming;
    return block != &from && steppingIn(withoutResizing(*value), loop, scev);
  });
}

/// Whether `value` is `end`, or the same number in fewer bits.
static bool isSame(Value &value, Value &end) {
  if (&value == &end)
    return true;
  bool isExtended = isa<ZExtInst, SExtInst>(end) && &withoutResizing(end) == &value;
  return isExtended || (isa<TruncInst>(value) && &withoutResizing(value) == &end);
}

static void handOn(BasicBlock &from, BasicBlock &to, const CountedExit &exit, const Loop &loop, ScalarEvolution &scev) {
  for (PHINode &phi : to.phis()) {
    Value *value = phi.getIncomingValueForBlock(&from);
    if (!isSame(*value, *exit.end) || !isCounterElsewhere(phi, from, loop, scev))
      continue;
    value = exit.counter;
    if (phi.getType() != value->getType())
      value = new TruncInst(value, phi.getType(), value->getName() + ".part", from.getTerminator()->getIterator());
    phi.setIncomingValueForBlock(&from, value);
  }
}

/// Where `block` goes on to whatever it does; null: there are several such places, or others come to it.
static BasicBlock *beyond(BasicBlock &block) {
  const auto *jump = dyn_cast<BranchInst>(block.getTerminator());
  return jump && jump->isUnconditional() && block.getSinglePredecessor() ? jump->getSuccessor(0) : nullptr;
}

void handOnCounters(Function &function, FunctionAnalysisManager &analyses) {
  ScalarEvolution &scev = analyses.getResult<ScalarEvolutionAnalysis>(function);
  for (const Loop *loop : analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder()) {
    if (none_of(loop->blocks(), [](const BasicBlock *block) { return any_of(*block, isInlineProbe); }))
      continue;
    SmallVector<LoopBase<BasicBlock, Loop>::Edge, 8> exits;
    loop->getExitEdges(exits);
    for (auto [from, to] : exits)
      if (auto exit = countedExit(*from, *to, *loop, scev)) {
        handOn(*from, *to, *exit, *loop, scev);
        if (BasicBlock *next = beyond(*to); next && !loop->contains(next))
          handOn(*to, *next, *exit, *loop, scev);
      }
  }
}

} // namespace caudal
