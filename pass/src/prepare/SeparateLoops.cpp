// Makes the short path back to the header of a loop an inner loop, so that it can do without a probe of the long one. Bounded.cpp calls
// it for each function before it is planned. It changes the function. See SeparateLoops.h.
#include "prepare/SeparateLoops.h"
#include "analysis/Cost.h"
#include "analysis/LoopFacts.h"
#include "analysis/Size.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/BranchProbabilityInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace caudal {

// A path that takes longer can have a probe each time; what goes on for less is not worth a loop around it.
static constexpr Cost longestPath = Cost::cycles(6), shortestRest = Cost::cycles(12);
static constexpr unsigned mostBlocks = 4, mostInstructions = 16;
// About as likely as not. Where pointers would have to be equal, or null, it is less (BranchProbabilityInfo guesses 3/8).
static constexpr double leastProbability = 0.45;

namespace {

/// The blocks of a path from a loop's header back to it, header and latch included.
struct ShortPath {
  SmallVector<BasicBlock *, mostBlocks> blocks;
  double probability = 1;
};

class Finder {
public:
  Finder(Loop &loop, const LoopInfo &loops, const CostModel &costs, const BranchProbabilityInfo &probabilities)
      : loop_(loop), loops_(loops), costs_(costs), probabilities_(probabilities) {}

  /// The likeliest short path; without blocks: there is none.
  ShortPath find() {
    follow(*loop_.getHeader(), ShortPath{}, Cost::zero(), 0);
    return best_;
  }

private:
  void follow(BasicBlock &block, ShortPath path, Cost cost, unsigned instructions);
  bool canEnd(const BasicBlock &block) const;

  Loop &loop_;
  const LoopInfo &loops_;
  const CostModel &costs_;
  const BranchProbabilityInfo &probabilities_;
  ShortPath best_;
};

/// Whether `block` leads to the header and else only out of the loop: then nothing in the loop but the header's phis uses
/// its values, and it can be copied.
bool Finder::canEnd(const BasicBlock &block) const {
  bool isLatch = false;
  // What it declares would be declared twice.
  if (&block != loop_.getHeader() &&
      any_of(block, [](const Instruction &instruction) { return isa<NoAliasScopeDeclInst>(instruction); }))
    return false;
  for (const BasicBlock *successor : successors(&block)) {
    isLatch |= successor == loop_.getHeader();
    if (successor != loop_.getHeader() && loop_.contains(successor) && block.hasNPredecessorsOrMore(2) &&
        &block != loop_.getHeader())
      return false;
  }
  return isLatch;
}

void Finder::follow(BasicBlock &block, ShortPath path, Cost cost, unsigned instructions) {
  if (!isa<BranchInst>(block.getTerminator()) || loops_.getLoopFor(&block) != &loop_ || path.blocks.size() == mostBlocks)
    return;
  for (const Instruction &instruction : block) {
    if (!callsNothing(instruction))
      return;
    cost = cost + costs_.issue(instruction);
    instructions += !isa<IntrinsicInst>(instruction);
  }
  if (cost > longestPath || instructions > mostInstructions)
    return;
  path.blocks.push_back(&block);
  auto towards = [&](const BasicBlock *to) {
    BranchProbability edge = probabilities_.getEdgeProbability(&block, to);
    return path.probability * edge.getNumerator() / BranchProbability::getDenominator();
  };
  if (canEnd(block)) {
    path.probability = towards(loop_.getHeader());
    if (best_.blocks.empty() || path.probability > best_.probability)
      best_ = path;
    return;
  }
  for (BasicBlock *successor : successors(&block)) {
    ShortPath on = path;
    on.probability = towards(successor);
    if (successor != loop_.getHeader() && (successor->getSinglePredecessor() || canEnd(*successor)))
      follow(*successor, on, cost, instructions);
  }
}

} // namespace

/// Whether there is much in `loop` beside `path`.
static bool hasLongRest(const Loop &loop, const ShortPath &path, const CostModel &costs) {
  Cost rest = Cost::zero();
  for (const BasicBlock *block : loop.blocks()) {
    if (is_contained(path.blocks, block))
      continue;
    for (const Instruction &instruction : *block) {
      if (!callsNothing(instruction))
        return true;
      rest = rest + costs.issue(instruction);
    }
  }
  return !loop.isInnermost() || rest >= shortestRest;
}

/// `latch` for the path from `before` alone.
static BasicBlock *copyFor(BasicBlock *before, BasicBlock *latch) {
  ValueToValueMapTy values;
  BasicBlock *copy = CloneBasicBlock(latch, values, ".short", latch->getParent());
  copy->moveAfter(before);
  for (BasicBlock *successor : successors(latch))
    for (PHINode &phi : successor->phis()) {
      Value *value = phi.getIncomingValueForBlock(latch);
      Value *copied = values.lookup(value);
      phi.addIncoming(copied ? copied : value, copy);
    }
  for (Instruction &instruction : *copy)
    RemapInstruction(&instruction, values, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
  for (PHINode &phi : make_early_inc_range(copy->phis())) {
    phi.replaceAllUsesWith(phi.getIncomingValueForBlock(before));
    phi.eraseFromParent();
  }
  for (PHINode &phi : latch->phis())
    phi.removeIncomingValue(before, /*DeletePHIIfEmpty=*/false);
  before->getTerminator()->replaceSuccessorWith(latch, copy);
  return copy;
}

static void separate(Loop &loop, ShortPath &path) {
  BasicBlock *header = loop.getHeader();
  if (path.blocks.size() > 1 && !path.blocks.back()->getSinglePredecessor())
    path.blocks.back() = copyFor(path.blocks[path.blocks.size() - 2], path.blocks.back());
  SmallVector<BasicBlock *, 8> others;
  for (BasicBlock *before : predecessors(header))
    if (before != path.blocks.back())
      others.push_back(before);
  SplitBlockPredecessors(header, others, ".outer");
}

bool separateLoops(Function &function, FunctionAnalysisManager &analyses) {
  auto &loops = analyses.getResult<LoopAnalysis>(function);
  auto &dominators = analyses.getResult<DominatorTreeAnalysis>(function);
  auto &probabilities = analyses.getResult<BranchProbabilityAnalysis>(function);
  auto &scev = analyses.getResult<ScalarEvolutionAnalysis>(function);
  auto &tti = analyses.getResult<TargetIRAnalysis>(function);
  CostModel costs(tti, loops);
  SmallVector<std::pair<Loop *, ShortPath>, 4> found;
  for (Loop *loop : loops.getLoopsInPreorder()) {
    if (loop->getHeader()->isEHPad() || !loop->getLoopPreheader() || !loop->hasDedicatedExits() ||
        LoopFacts::of(*loop, scev, tti).mostTrips != 0 || isToBeSmall(*loop->getHeader(), analyses))
      continue;
    ShortPath path = Finder(*loop, loops, costs, probabilities).find();
    if (!path.blocks.empty() && path.probability >= leastProbability && hasLongRest(*loop, path, costs))
      found.emplace_back(loop, path);
  }
  for (auto &[loop, path] : found) {
    formLCSSA(*loop, dominators, &loops, &scev);
    separate(*loop, path);
  }
  return !found.empty();
}

} // namespace caudal
