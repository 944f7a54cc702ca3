// Keeps what is left of the budget in a register within a nest of loops, where memory would be slower than the code between two probes.
// Bounded.cpp calls it for each function of a component, once all probes of the component are written. It changes the function. See
// BudgetInLoops.h.
#include "insert/BudgetInLoops.h"
#include "analysis/Cost.h"
#include "insert/DeferredChecks.h"
#include "insert/BudgetVariable.h"
#include "analysis/Size.h"
#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace caudal {

namespace {

class LoopBudget {
public:
  LoopBudget(Function &function, FunctionAnalysisManager &analyses, const Calls &calls, ProbeWriter &writer, Spending spending,
             ArrayRef<const BasicBlock *> loopsWithSlack)
      : loops_(analyses.getResult<LoopAnalysis>(function)), scev_(analyses.getResult<ScalarEvolutionAnalysis>(function)),
        dominators_(analyses.getResult<DominatorTreeAnalysis>(function)),
        frequencies_(analyses.getResult<BlockFrequencyAnalysis>(function)),
        costs_(analyses.getResult<TargetIRAnalysis>(function), loops_), calls_(calls), writer_(writer),
        spending_(std::move(spending)), loopsWithSlack_(loopsWithSlack), analyses_(analyses) {}

  void run();

private:
  double frequency(const BasicBlock *block) const { return double(frequencies_.getBlockFreq(block).getFrequency()); }
  /// How often the probes of a loop are executed, how many moves a register for the budget would add, and how many cycles pass in the loop,
  /// all for one execution of the function.
  struct Gauge {
    double spends, moves, cycles;
  };
  Gauge gauge(const Loop &loop) const;
  bool pays(const Loop &loop, const Gauge &gauged) const;
  bool waits(const Loop &loop, const Gauge &gauged) const;
  int bytesAdded(const Loop &loop) const;
  double scatteredStores(const Loop &loop) const;
  void choose(Loop &loop, SmallVectorImpl<Loop *> &chosen) const;
  AllocaInst *keepIn(Loop &loop, ArrayRef<const BasicBlock *> probed);
  /// Calls in a loop around which what is left has to be in its place, and others that may throw.
  struct CallsWithin {
    SmallVector<CallBase *, 8> spending;
    SmallVector<CallBase *, 4> throwing;
  };
  CallsWithin callsWithin(const Loop &loop) const;
  void aroundCalls(Loop &loop, const BudgetVariable &budget, const Slack &slack, const CallsWithin &calls);

  LoopInfo &loops_;
  ScalarEvolution &scev_;
  DominatorTree &dominators_;
  BlockFrequencyInfo &frequencies_;
  CostModel costs_;
  const Calls &calls_;
  ProbeWriter &writer_;
  Spending spending_;
  ArrayRef<const BasicBlock *> loopsWithSlack_;
  FunctionAnalysisManager &analyses_;
};

LoopBudget::Gauge LoopBudget::gauge(const Loop &loop) const {
  double spends = 0, moves = 0, cycles = 0;
  for (const CallInst *probe : spending_)
    if (loop.contains(probe))
      spends += frequency(probe->getParent());
  for (const BasicBlock *block : loop.blocks())
    for (const Instruction &instruction : *block) {
      cycles += frequency(block) * double(costs_.issue(instruction).inUnits()) / double(Cost::unitsPerCycle);
      moves += maySpend(instruction, calls_) ? frequency(block) : 0;
    }
  for (const BasicBlock *before : predecessors(loop.getHeader()))
    if (!loop.contains(before))
      moves += frequency(before);
  return {spends, moves, cycles};
}

/// Whether a loop's probes are so close to each other, and so many for each call and each entry, that a register for the budget pays. In an
/// innermost loop with little between its probes less is enough, for each waits in memory for the one before.
bool LoopBudget::pays(const Loop &loop, const Gauge &gauged) const {
  static constexpr double farApart = 24, leastGain = 8;
  static constexpr double close = 12, leastGainClose = 3;
  static constexpr double farAmongScattered = 100;
  auto [spends, moves, cycles] = gauged;
  if (loop.isInnermost() && cycles < close * spends && spends > leastGainClose * moves)
    return true;
  if (spends <= leastGain * moves || cycles >= farAmongScattered * spends)
    return false;
  return cycles < farApart * spends || 2 * scatteredStores(loop) > spends;
}

/// Stores of the loop to places that no loop of the function counts up to. Where these miss the cache, stores to the budget take
/// half of the buffer in which they wait, and half of them go on at the same time.
double LoopBudget::scatteredStores(const Loop &loop) const {
  double sum = 0;
  for (const BasicBlock *block : loop.blocks())
    for (const Instruction &instruction : *block)
      if (const auto *store = dyn_cast<StoreInst>(&instruction)) {
        const SCEV *place = scev_.getSCEV(const_cast<Value *>(store->getPointerOperand()));
        bool isFollowed = scev_.isLoopInvariant(place, loops_.getLoopFor(block)) || isa<SCEVAddRecExpr>(place);
        sum += isFollowed ? 0 : frequency(block);
      }
  return sum;
}

/// Bytes that it takes to have the budget in a register within the loop: to fetch it and to put it back, less what that spares in
/// each probe. Without what unwinding adds, though that is code as well: a loop that calls what may throw would seldom have a register
/// then, and of such the hottest took 15 instead of 3 % (`regex_nfa`, AMD Zen 5) for a point of code.
int LoopBudget::bytesAdded(const Loop &loop) const {
  static constexpr int bytesOfMove = 9, bytesSpared = 6;
  int moves = 1 + int(exitsOf(loop).size() + 2 * callsWithin(loop).spending.size());
  int probes = int(count_if(spending_, [&](const CallInst *probe) { return loop.contains(probe); }));
  return moves * bytesOfMove - probes * bytesSpared;
}

/// Whether a probe in memory would wait for the one before, or for stores that miss the cache.
bool LoopBudget::waits(const Loop &loop, const Gauge &gauged) const {
  static constexpr double close = 6; // cycles between probes
  return gauged.cycles < close * gauged.spends || 2 * scatteredStores(loop) > gauged.spends;
}

void LoopBudget::choose(Loop &loop, SmallVectorImpl<Loop *> &chosen) const {
  // The code becomes no larger by it, or, where that helps most, by what one probe and one path out add. Of a nest with many paths out, or
  // calls, the loops within are asked.
  static constexpr int mostBytes = 0, mostBytesWhereWaiting = 12;
  int added = bytesAdded(loop);
  Gauge gauged = gauge(loop);
  bool isSmall = added <= mostBytes || (added <= mostBytesWhereWaiting && waits(loop, gauged));
  if (isSmall && !isCold(*loop.getHeader(), analyses_) && pays(loop, gauged)) {
    chosen.push_back(&loop);
    return;
  }
  for (Loop *inner : loop.getSubLoops())
    choose(*inner, chosen);
}

/// Calls in the loop that spend find what is left in its place, and leave it there; so do landing pads, whatever unwinds to them.
void LoopBudget::aroundCalls(Loop &loop, const BudgetVariable &budget, const Slack &slack, const CallsWithin &calls) {
  for (BasicBlock *block : loop.blocks())
    if (block->isEHPad())
      writer_.take(budget.variable(), &*block->getFirstInsertionPt(), slack.at(*block));
  for (CallBase *call : calls.spending)
    budget.aroundCall(*call, slack);
  for (CallBase *call : calls.throwing)
    budget.beforeThrow(*call, slack);
}

LoopBudget::CallsWithin LoopBudget::callsWithin(const Loop &loop) const {
  CallsWithin calls;
  for (BasicBlock *block : loop.blocks())
    for (Instruction &instruction : *block) {
      auto *call = dyn_cast<CallBase>(&instruction);
      if (!call)
        continue;
      if (maySpend(*call, calls_))
        calls.spending.push_back(call);
      else if (!call->doesNotThrow())
        calls.throwing.push_back(call);
    }
  return calls;
}

/// Makes what is left a variable within `loop`; null: the loop cannot be entered or left in one place, or has a probe that somebody
/// wrote with `asm goto`, which comes back in many. `probed`: blocks of all of the function's probes.
AllocaInst *LoopBudget::keepIn(Loop &loop, ArrayRef<const BasicBlock *> probed) {
  CallsWithin calls = callsWithin(loop);
  if (any_of(calls.spending, [](const CallBase *call) { return isa<CallBrInst>(call); }))
    return nullptr;
  for (CallBase *call : calls.spending)
    separateReturn(*call, &dominators_, &loops_);
  BasicBlock *preheader = loop.getLoopPreheader();
  if (!preheader)
    preheader = InsertPreheaderForLoop(&loop, &dominators_, &loops_, nullptr, /*PreserveLCSSA=*/false);
  formDedicatedExitBlocks(&loop, &dominators_, &loops_, nullptr, /*PreserveLCSSA=*/false);
  if (!preheader || !loop.hasDedicatedExits())
    return nullptr;
  Slack slack(loop, loopsWithSlack_, probed, dominators_, loops_);
  BudgetVariable budget(loop, writer_, spending_);
  AllocaInst *left = budget.variable();
  aroundCalls(loop, budget, slack, calls);
  writer_.take(left, preheader->getTerminator());
  // Where calls come back after the loop, what they leave is in its place, as it is where they unwind to. And where nothing gets to,
  // nothing is needed: a switch whose default that is needs no test for it, as long as there is nothing in it.
  for (BasicBlock *exit : exitsOf(loop))
    if (!isReturnOf(*exit, calls.spending))
      writer_.putBack(left, &*exit->getFirstInsertionPt());
  slack.write(*left, calls.spending); // before what is put back
  return left;
}

void LoopBudget::run() {
  SmallVector<Loop *, 4> chosen;
  for (Loop *loop : loops_)
    choose(*loop, chosen);
  SmallVector<const BasicBlock *, 16> probed;
  for (const CallInst *probe : spending_)
    probed.push_back(probe->getParent());
  SmallVector<AllocaInst *, 4> variables;
  for (Loop *loop : chosen)
    if (AllocaInst *left = keepIn(*loop, probed))
      variables.push_back(left);
  if (!variables.empty())
    PromoteMemToReg(variables, dominators_);
}

} // namespace

void keepBudgetInLoops(Function &function, FunctionAnalysisManager &analyses, const Calls &calls, ProbeWriter &writer,
                       Spending spending, ArrayRef<const BasicBlock *> loopsWithSlack) {
  if (!spending.empty())
    LoopBudget(function, analyses, calls, writer, std::move(spending), loopsWithSlack).run();
}

} // namespace caudal
