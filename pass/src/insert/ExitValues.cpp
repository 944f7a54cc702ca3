// Lets a search hand on its own counter where it ends, so that code generation needs no copy of it. Called by Bounded.cpp,
// after insertion. See ExitValues.h.
#include "insert/ExitValues.h"
#include "analysis/LoopFacts.h"
#include "analysis/ProbesInCode.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace caudal {

/// Of what `value` is a part, or which it extends; else itself.
static Value &withoutResizing(Value &value) {
  return isa<ZExtInst, SExtInst, TruncInst>(value) ? *cast<CastInst>(value).getOperand(0) : value;
}

namespace {

/// A path out of a loop that is taken where `counter` is as large as `end`.
struct CountedExit {
  BasicBlock *from;
  Instruction *counter;
  Value *end;
};

class HandOn {
public:
  HandOn(const Loop &loop, ScalarEvolution &scev) : loop_(loop), scev_(scev) {}
  void run();

private:
  std::optional<CountedExit> countedExit(BasicBlock &from, const BasicBlock &to) const;
  bool isCounter(Value &value, Value &counter) const;
  bool isCounterElsewhere(const PHINode &phi, const BasicBlock &from, Value &counter) const;
  void handOn(BasicBlock &from, BasicBlock &to, const CountedExit &exit, function_ref<Value &()> counterThere) const;
  void handOnBeyond(BasicBlock &block, ArrayRef<CountedExit> exits) const;

  const Loop &loop_;
  ScalarEvolution &scev_;
};

std::optional<CountedExit> HandOn::countedExit(BasicBlock &from, const BasicBlock &to) const {
  const auto *branch = dyn_cast<BranchInst>(from.getTerminator());
  const auto *test = branch && branch->isConditional() ? dyn_cast<ICmpInst>(branch->getCondition()) : nullptr;
  if (!test || !test->isEquality() || branch->getSuccessor(0) == branch->getSuccessor(1) ||
      branch->getSuccessor(test->getPredicate() == ICmpInst::ICMP_EQ ? 0 : 1) != &to)
    return std::nullopt;
  Value *counter = test->getOperand(0), *end = test->getOperand(1);
  if (loop_.isLoopInvariant(counter))
    std::swap(counter, end);
  if (!isa<Instruction>(counter) || !counter->getType()->isIntegerTy() || !loop_.isLoopInvariant(end) ||
      !takesSteps(*counter, loop_, scev_))
    return std::nullopt;
  return CountedExit{&from, cast<Instruction>(counter), end};
}

/// Whether `value` is `counter` in whichever iteration, resized or not, or, behind the loop, a choice among such.
bool HandOn::isCounter(Value &value, Value &counter) const {
  Value &number = withoutResizing(value);
  if (number.getType() != counter.getType())
    return false;
  if (const auto *phi = dyn_cast<PHINode>(&number); phi && !loop_.contains(phi))
    return all_of(phi->incoming_values(), [&](Value *each) {
      const auto *within = dyn_cast<Instruction>(each);
      return within && loop_.contains(within) && isCounter(*each, counter);
    });
  return takesSteps(number, loop_, scev_) &&
         isa<SCEVConstant>(scev_.getMinusSCEV(scev_.getSCEV(&number), scev_.getSCEV(&counter)));
}

/// Whether `phi` has `counter` where it comes from elsewhere than `from`.
bool HandOn::isCounterElsewhere(const PHINode &phi, const BasicBlock &from, Value &counter) const {
  return any_of(zip(phi.blocks(), phi.incoming_values()), [&](auto incoming) {
    auto [block, value] = incoming;
    return block != &from && isCounter(*value, counter);
  });
}

/// Whether `value` is `end`, or what it was made of by extension, or its low bits.
static bool isOf(Value &value, const Value &end) {
  if (&value == &end || (isa<TruncInst>(value) && &withoutResizing(value) == &end))
    return true;
  return isa<ZExtInst, SExtInst>(end) && cast<CastInst>(end).getOperand(0) == &value;
}

/// Has phis of `to` that come from `from` with an exit's end take its counter, which is the same there: `counterThere`.
void HandOn::handOn(BasicBlock &from, BasicBlock &to, const CountedExit &exit, function_ref<Value &()> counterThere) const {
  for (PHINode &phi : to.phis()) {
    if (!isOf(*phi.getIncomingValueForBlock(&from), *exit.end) || !isCounterElsewhere(phi, from, *exit.counter))
      continue;
    Value *value = &counterThere();
    if (phi.getType() != value->getType()) {
      auto *part = new TruncInst(value, phi.getType(), value->getName() + ".part", from.getTerminator()->getIterator());
      part->setDebugLoc(from.getTerminator()->getDebugLoc());
      value = part;
    }
    phi.setIncomingValueForBlock(&from, value);
  }
}

/// The same where `block` only leads on to what has the phis, if all that come to it have counted to the same end: the copies of an
/// unrolled loop, each with its own counter.
void HandOn::handOnBeyond(BasicBlock &block, ArrayRef<CountedExit> exits) const {
  const auto *jump = dyn_cast<BranchInst>(block.getTerminator());
  const CountedExit &first = exits.front();
  if (!jump || !jump->isUnconditional() || loop_.contains(jump->getSuccessor(0)) || pred_size(&block) != exits.size() ||
      any_of(exits, [&](const CountedExit &exit) { return exit.end != first.end; }))
    return;
  PHINode *joined = nullptr;
  handOn(block, *jump->getSuccessor(0), first, [&]() -> Value & {
    if (exits.size() == 1)
      return *first.counter;
    if (!joined) {
      joined = PHINode::Create(first.counter->getType(), unsigned(exits.size()), first.counter->getName() + ".in.the.end");
      joined->insertBefore(block.begin());
      for (const CountedExit &exit : exits)
        joined->addIncoming(exit.counter, exit.from);
    }
    return *joined;
  });
}

void HandOn::run() {
  SmallVector<LoopBase<BasicBlock, Loop>::Edge, 8> edges;
  loop_.getExitEdges(edges);
  SmallMapVector<BasicBlock *, SmallVector<CountedExit, 4>, 4> exits;
  for (auto [from, to] : edges)
    if (auto exit = countedExit(*from, *to))
      exits[to].push_back(*exit);
  for (auto &[to, counted] : exits) {
    for (const CountedExit &exit : counted)
      handOn(*exit.from, *to, exit, [&]() -> Value & { return *exit.counter; });
    handOnBeyond(*to, counted);
  }
}

} // namespace

void handOnCounters(Function &function, FunctionAnalysisManager &analyses) {
  ScalarEvolution &scev = analyses.getResult<ScalarEvolutionAnalysis>(function);
  for (const Loop *loop : analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder())
    if (any_of(loop->blocks(), [](const BasicBlock *block) { return any_of(*block, isInlineProbe); }))
      HandOn(*loop, scev).run();
}

} // namespace caudal
