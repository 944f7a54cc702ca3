#include "Carry.h"
#include "Cost.h"
#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace caudal {

namespace {

class Carrier {
public:
  Carrier(Function &function, FunctionAnalysisManager &analyses, const Calls &calls, const ProbeWriter &writer,
          Spending spending)
      : loops_(analyses.getResult<LoopAnalysis>(function)),
        dominators_(analyses.getResult<DominatorTreeAnalysis>(function)),
        frequencies_(analyses.getResult<BlockFrequencyAnalysis>(function)),
        costs_(analyses.getResult<TargetIRAnalysis>(function), loops_), calls_(calls), writer_(writer),
        spending_(std::move(spending)), function_(function) {}

  void run();

private:
  double frequency(const BasicBlock *block) const { return double(frequencies_.getBlockFreq(block).getFrequency()); }
  bool maySpend(const Instruction &instruction) const;
  bool pays(const Loop &loop) const;
  void choose(Loop &loop, SmallVectorImpl<Loop *> &chosen) const;
  AllocaInst *carry(Loop &loop);
  void aroundCalls(Loop &loop, AllocaInst *left);

  LoopInfo &loops_;
  DominatorTree &dominators_;
  BlockFrequencyInfo &frequencies_;
  CostModel costs_;
  const Calls &calls_;
  const ProbeWriter &writer_;
  Spending spending_;
  Function &function_;
};

/// Whether `instruction` is a call after which less may be left, or another thread's budget counts.
bool Carrier::maySpend(const Instruction &instruction) const {
  const auto *call = dyn_cast<CallBase>(&instruction);
  if (!call || is_contained(spending_.colds, call))
    return false;
  return isColdCall(*call) /* a critical section's end */ || !calls_.isSimple(*call);
}

/// Whether a loop's probes are so close to each other, and so many for each call and each entry, that carrying pays.
bool Carrier::pays(const Loop &loop) const {
  static constexpr double farApart = 48, leastGain = 1.25;
  double spends = 0, moves = 0, cycles = 0;
  for (const LoadInst *load : spending_.loads)
    if (loop.contains(load))
      spends += frequency(load->getParent());
  for (const BasicBlock *block : loop.blocks())
    for (const Instruction &instruction : *block) {
      cycles += frequency(block) * double(costs_.issue(instruction).inUnits()) / double(Cost::unitsPerCycle);
      moves += maySpend(instruction) ? frequency(block) : 0;
    }
  for (const BasicBlock *before : predecessors(loop.getHeader()))
    if (!loop.contains(before))
      moves += frequency(before);
  return spends > leastGain * moves && cycles < farApart * spends;
}

void Carrier::choose(Loop &loop, SmallVectorImpl<Loop *> &chosen) const {
  if (pays(loop)) {
    chosen.push_back(&loop);
    return;
  }
  for (Loop *inner : loop.getSubLoops())
    choose(*inner, chosen);
}

/// Calls in the loop that spend find what is left in its place, and leave it there.
void Carrier::aroundCalls(Loop &loop, AllocaInst *left) {
  SmallVector<CallBase *, 8> calls;
  for (BasicBlock *block : loop.blocks()) {
    for (Instruction &instruction : *block)
      if (maySpend(instruction))
        calls.push_back(cast<CallBase>(&instruction));
    if (block->isEHPad())
      writer_.take(left, &*block->getFirstInsertionPt());
  }
  for (CallBase *call : calls) {
    writer_.putBack(left, call);
    if (auto *invoke = dyn_cast<InvokeInst>(call)) {
      BasicBlock *normal = invoke->getNormalDest();
      if (!normal->getSinglePredecessor())
        normal = SplitEdge(invoke->getParent(), normal, &dominators_, &loops_);
      if (loop.contains(normal))
        writer_.take(left, &*normal->getFirstInsertionPt());
    } else {
      writer_.take(left, call->getNextNode());
    }
  }
}

/// Makes what is left a variable within `loop`; null: the loop cannot be entered or left in one place.
AllocaInst *Carrier::carry(Loop &loop) {
  BasicBlock *preheader = loop.getLoopPreheader();
  if (!preheader)
    preheader = InsertPreheaderForLoop(&loop, &dominators_, &loops_, nullptr, /*PreserveLCSSA=*/false);
  formDedicatedExitBlocks(&loop, &dominators_, &loops_, nullptr, /*PreserveLCSSA=*/false);
  if (!preheader || !loop.hasDedicatedExits())
    return nullptr;
  auto *left = new AllocaInst(writer_.purseType(), function_.getDataLayout().getAllocaAddrSpace(), "caudal.left",
                              function_.getEntryBlock().begin());
  for (LoadInst *load : spending_.loads)
    if (loop.contains(load))
      load->setOperand(0, left);
  for (StoreInst *store : spending_.stores)
    if (loop.contains(store))
      store->setOperand(1, left);
  aroundCalls(loop, left);
  erase_if(spending_.colds, [&](CallInst *cold) {
    bool within = loop.contains(cold);
    if (within)
      writer_.carryThrough(left, cold);
    return within;
  });
  writer_.take(left, preheader->getTerminator());
  SmallVector<BasicBlock *, 8> exits;
  loop.getUniqueExitBlocks(exits);
  for (BasicBlock *exit : exits)
    if (!exit->isEHPad()) // what is unwound to comes from a call
      writer_.putBack(left, &*exit->getFirstInsertionPt());
  return left;
}

void Carrier::run() {
  SmallVector<Loop *, 4> chosen;
  for (Loop *loop : loops_)
    choose(*loop, chosen);
  SmallVector<AllocaInst *, 4> variables;
  for (Loop *loop : chosen)
    if (AllocaInst *left = carry(*loop))
      variables.push_back(left);
  if (!variables.empty())
    PromoteMemToReg(variables, dominators_);
}

} // namespace

void carryInLoops(Function &function, FunctionAnalysisManager &analyses, const Calls &calls, const ProbeWriter &writer,
                  Spending spending) {
  if (spending.loads.empty())
    return;
  Carrier(function, analyses, calls, writer, std::move(spending)).run();
}

} // namespace caudal
