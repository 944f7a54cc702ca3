// Places the probes of Compiler Interrupts, a published technique, so that Caudal can be compared with it. Made by Pass.cpp,
// in the modes `instruction-counter` and `counter-gated-clock` alone. See CompilerInterrupts.h.
#include "baselines/CompilerInterrupts.h"
#include "baselines/StripMine.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/DomTreeUpdater.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include <deque>
#include <optional>

using namespace llvm;

namespace caudal {

namespace {

/// Most instructions that are passed on, uncounted.
constexpr int64_t interval = 1000;

/// A container: blocks with one entry and one exit, between which counts are passed on.
struct Container {
  enum class Kind { Block, Path, Branch, Loop };
  Kind kind;
  BasicBlock *first; ///< where it is entered
  BasicBlock *last;  ///< at whose end its count is added
  /// Path: in order. Branch: the condition, its arms, the join. Loop: before, header, body if it is apart, after.
  SmallVector<Container *, 4> parts = {};
  Loop *loop = nullptr;
  SmallSetVector<Container *, 4> from = {}, to = {};
  int64_t passedOn = 0; ///< uncounted where it is entered, from containers that are no part of the same one
  bool isReduced = false; ///< part of another, or its count has been passed on

  bool leadsOnlyTo(const Container *other) const { return to.size() == 1 && to.front() == other; }
  bool isEnteredOnlyFrom(const Container *other) const { return from.size() == 1 && from.front() == other; }
};

class Counter {
public:
  Counter(Function &function, const Analyses &analyses, const DenseMap<const Function *, int64_t> &leftToCallers)
      : function_(function), analyses_(analyses), leftToCallers_(leftToCallers) {}

  /// Fills in the plan, and the loops that are to be cut; returns what is left for callers to count.
  int64_t run(Plan &plan, std::vector<Strip> &strips, bool isRecursive);

private:
  void makeBlocks();
  void reduce();
  Container *newest(const BasicBlock *block) const;
  Container &replace(Container::Kind kind, ArrayRef<Container *> parts, Container &first, Container &last);
  bool reducePath(Container &container);
  bool reduceBranch(Container &container);
  bool reduceBranchTo(Container &condition, Container *join);
  bool reduceLoop(Container &container);
  void passOn();
  bool passOnToSuccessors(Container &container);
  void passOnToJoin(Container &join);
  bool isBackEdge(const BasicBlock *from, const BasicBlock *to) const {
    return analyses_.loops.isLoopHeader(to) && analyses_.loops.getLoopFor(to)->contains(from);
  }

  int64_t instructions(const Instruction &instruction) const;
  int64_t count(Container &container, int64_t pending);
  int64_t countBlock(Container &container, int64_t pending);
  int64_t countBranch(Container &container, int64_t pending);
  int64_t countLoop(Container &container, int64_t pending);
  void countIterations(Loop &loop, int64_t iteration);
  bool cut(Loop &loop, int64_t iteration);
  void add(BasicBlock &block, int64_t pending);
  void add(Instruction &before, int64_t pending);

  Function &function_;
  const Analyses &analyses_;
  const DenseMap<const Function *, int64_t> &leftToCallers_;
  Plan *plan_ = nullptr;
  std::vector<Strip> *strips_ = nullptr;
  std::deque<Container> containers_;
  DenseMap<const BasicBlock *, Container *> blocks_;
  SmallSetVector<Container *, 16> outermost_;
};

void Counter::makeBlocks() {
  ReversePostOrderTraversal<Function *> order(&function_);
  for (BasicBlock *block : order) {
    containers_.push_back({Container::Kind::Block, block, block});
    blocks_[block] = &containers_.back();
    outermost_.insert(&containers_.back());
  }
  for (BasicBlock *block : order)
    for (BasicBlock *successor : successors(block)) {
      blocks_[block]->to.insert(blocks_[successor]);
      blocks_[successor]->from.insert(blocks_[block]);
    }
}

/// The outermost container that `block` begins or ends; null: it is inside of one.
Container *Counter::newest(const BasicBlock *block) const {
  for (Container *container : outermost_)
    if (container->first == block || container->last == block)
      return container;
  return nullptr;
}

/// `parts`, entered by `first` and left by `last`, become one container.
Container &Counter::replace(Container::Kind kind, ArrayRef<Container *> parts, Container &first, Container &last) {
  containers_.push_back({kind, first.first, last.last});
  Container &whole = containers_.back();
  whole.parts.assign(parts.begin(), parts.end());
  whole.from = first.from;
  whole.to = last.to;
  for (Container *before : whole.from) {
    before->to.remove(&first);
    before->to.insert(&whole);
  }
  for (Container *behind : whole.to) {
    behind->from.remove(&last);
    behind->from.insert(&whole);
  }
  // It may lead to itself, as the body of a loop that is not yet reduced.
  if (whole.to.remove(&first))
    whole.to.insert(&whole);
  if (whole.from.remove(&last))
    whole.from.insert(&whole);
  for (Container *part : parts) {
    part->isReduced = true;
    outermost_.remove(part);
  }
  outermost_.insert(&whole);
  return whole;
}

bool Counter::reducePath(Container &container) {
  if (container.to.size() != 1)
    return false;
  Container *next = container.to.front();
  if (next == &container || !next->isEnteredOnlyFrom(&container) || analyses_.loops.isLoopHeader(next->first))
    return false;
  replace(Container::Kind::Path, {&container, next}, container, *next);
  return true;
}

bool Counter::reduceBranchTo(Container &condition, Container *join) {
  if (join == &condition || analyses_.loops.isLoopHeader(join->first) ||
      analyses_.loops.getLoopFor(join->first) != analyses_.loops.getLoopFor(condition.last))
    return false;
  SmallVector<Container *, 4> parts{&condition};
  for (Container *arm : condition.to) {
    if (arm == join)
      continue;
    if (!arm->leadsOnlyTo(join) || !arm->isEnteredOnlyFrom(&condition))
      return false;
    parts.push_back(arm);
  }
  // Nothing else leads to the join.
  if (join->from.size() != parts.size() - 1 + (condition.to.contains(join) ? 1 : 0))
    return false;
  parts.push_back(join);
  replace(Container::Kind::Branch, parts, condition, *join);
  return true;
}

bool Counter::reduceBranch(Container &container) {
  const Instruction *end = container.last->getTerminator();
  const Loop *loop = analyses_.loops.getLoopFor(container.last);
  if (container.to.size() < 2 || !isa<BranchInst, SwitchInst>(end) ||
      (loop && (loop->isLoopLatch(container.last) || loop->isLoopExiting(container.last))))
    return false;
  Container *arm = container.to.front();
  return reduceBranchTo(container, arm) || (arm->to.size() == 1 && reduceBranchTo(container, arm->to.front()));
}

bool Counter::reduceLoop(Container &header) {
  Loop *loop = analyses_.loops.getLoopFor(header.first);
  if (!loop || loop->getHeader() != header.first || !loop->getLoopLatch() || !loop->getExitingBlock())
    return false;
  BasicBlock *preheader = loop->getLoopPreheader(), *exit = loop->getExitBlock();
  if (!preheader || !exit || header.to.size() != 2)
    return false;
  Container *before = newest(preheader), *behind = newest(exit);
  if (!before || !behind || before == behind || before->last != preheader || behind->first != exit ||
      !before->leadsOnlyTo(&header) || !header.to.contains(behind) || !behind->isEnteredOnlyFrom(&header))
    return false;
  Container *inside = header.to[0] == behind ? header.to[1] : header.to[0];
  SmallVector<Container *, 4> parts{before, &header};
  if (inside != &header) {
    if (!inside->leadsOnlyTo(&header) || !inside->isEnteredOnlyFrom(&header))
      return false;
    parts.push_back(inside);
  }
  parts.push_back(behind);
  replace(Container::Kind::Loop, parts, *before, *behind).loop = loop;
  return true;
}

void Counter::reduce() {
  bool changed = true;
  while (changed) {
    changed = false;
    SmallVector<Container *, 32> all(outermost_.begin(), outermost_.end());
    for (Container *container : all)
      if (!container->isReduced)
        changed |= reducePath(*container) || reduceBranch(*container) || reduceLoop(*container);
  }
}

/// A block whose successors nothing else leads to passes its count on to each of them.
bool Counter::passOnToSuccessors(Container &container) {
  if (container.kind != Container::Kind::Block || container.to.empty())
    return false;
  for (Container *next : container.to)
    if (next->kind != Container::Kind::Block || !next->isEnteredOnlyFrom(&container) ||
        isBackEdge(container.last, next->first))
      return false;
  int64_t pending = count(container, 0);
  for (Container *next : container.to)
    next->passedOn = pending;
  return true;
}

/// Blocks that lead to `join` alone pass their mean on to it.
void Counter::passOnToJoin(Container &join) {
  if (join.kind != Container::Kind::Block || join.from.empty())
    return;
  for (Container *from : join.from)
    if (from->kind != Container::Kind::Block || from->isReduced || !from->leadsOnlyTo(&join) ||
        isBackEdge(from->last, join.first))
      return;
  int64_t sum = 0;
  for (Container *from : join.from) {
    sum += count(*from, 0);
    from->isReduced = true;
    outermost_.remove(from);
  }
  join.passedOn = sum / int64_t(join.from.size());
}

void Counter::passOn() {
  // In the order of blocks: who passes on has been passed to.
  for (BasicBlock *block : ReversePostOrderTraversal<Function *>(&function_)) {
    Container &container = *blocks_[block];
    if (container.isReduced)
      continue;
    passOnToJoin(container);
    if (passOnToSuccessors(container)) {
      container.isReduced = true;
      outermost_.remove(&container);
    }
  }
}

/// Whether the call is of a function that is not in the module.
static bool isExternal(const CallBase &call) {
  const Function *callee = call.getCalledFunction();
  return callee && callee->isDeclaration() && !callee->isIntrinsic();
}

int64_t Counter::instructions(const Instruction &instruction) const {
  static constexpr int64_t externalCall = 100;
  if (isa<PHINode, GetElementPtrInst, CastInst, AllocaInst>(instruction) || instruction.isDebugOrPseudoInst())
    return 0;
  const auto *call = dyn_cast<CallBase>(&instruction);
  if (!call)
    return 1;
  if (isExternal(*call))
    return 1 + externalCall;
  const Function *callee = call->getCalledFunction();
  return callee ? 1 + leftToCallers_.lookup(callee) : 0;
}

/// Whether nothing can be inserted in the block, or it would not be executed.
static bool isClosed(const BasicBlock &block) {
  return block.getFirstInsertionPt() == block.end() || isa<UnreachableInst>(block.getTerminator());
}

void Counter::add(Instruction &before, int64_t pending) {
  if (pending > 0)
    plan_->sites.push_back({&before, Cost::cycles(pending), Cost::cycles(pending)});
}

/// At the end of `block`: before its jump, and of the comparison that the jump waits for.
void Counter::add(BasicBlock &block, int64_t pending) {
  if (isClosed(block))
    return;
  Instruction *before = block.getTerminator();
  if (CallInst *last = block.getTerminatingMustTailCall())
    before = last;
  else if (Instruction *previous = before->getPrevNode(); previous && isa<CmpInst>(previous) && previous->hasOneUse())
    before = previous;
  add(*before, pending);
}

/// Counts what is in a container. `pending`: uncounted where it is entered; returns what is uncounted where it is left.
int64_t Counter::count(Container &container, int64_t pending) {
  switch (container.kind) {
  case Container::Kind::Block:
    return countBlock(container, pending);
  case Container::Kind::Path:
    return count(*container.parts[1], count(*container.parts[0], pending));
  case Container::Kind::Branch:
    return countBranch(container, pending);
  case Container::Kind::Loop:
    return countLoop(container, pending);
  }
  llvm_unreachable("a kind of container without a case");
}

int64_t Counter::countBlock(Container &container, int64_t pending) {
  int64_t sum = pending + container.passedOn;
  for (Instruction &instruction : *container.first) {
    int64_t more = instructions(instruction);
    bool mayPrecede = !instruction.isEHPad() && !isClosed(*container.first) && !container.first->getTerminatingMustTailCall();
    if (sum + more > interval && mayPrecede) {
      add(instruction, sum);
      sum = 0;
    }
    sum += more;
  }
  return std::min(sum, interval);
}

int64_t Counter::countBranch(Container &container, int64_t pending) {
  Container &condition = *container.parts.front(), &join = *container.parts.back();
  int64_t before = count(condition, pending);
  double mean = 0, armed = 0;
  for (Container *arm : ArrayRef(container.parts).drop_front().drop_back()) {
    BranchProbability probability = analyses_.probabilities.getEdgeProbability(condition.last, arm->first);
    double share = double(probability.getNumerator()) / BranchProbability::getDenominator();
    mean += share * double(count(*arm, before));
    armed += share;
  }
  mean += std::max(0.0, 1 - armed) * double(before);
  return count(join, int64_t(mean));
}

int64_t Counter::countLoop(Container &container, int64_t pending) {
  Container &before = *container.parts[0], &header = *container.parts[1], &behind = *container.parts.back();
  bool hasBody = container.parts.size() == 4;
  int64_t inFront = count(before, pending);
  int64_t perHeader = count(header, 0);
  int64_t iteration = hasBody ? count(*container.parts[2], perHeader) : perHeader;
  // A header that is left from runs once more than the body.
  int64_t tail = hasBody ? perHeader : 0;
  if (int64_t trips = analyses_.scev.getSmallConstantTripCount(container.loop)) {
    int64_t whole = iteration * (hasBody ? trips - 1 : trips) + tail;
    if (whole <= interval) {
      bool together = inFront + whole <= interval;
      if (!together)
        add(*before.last, inFront);
      plan_->loops.push_back({container.loop, LoopKind::Short, uint64_t(trips)});
      return count(behind, together ? inFront + whole : whole);
    }
  }
  add(*before.last, inFront);
  countIterations(*container.loop, iteration);
  return count(behind, tail);
}

void Counter::countIterations(Loop &loop, int64_t iteration) {
  if (iteration <= 0)
    return;
  if (cut(loop, iteration))
    return;
  plan_->loops.push_back({&loop, LoopKind::Each, 1});
  add(*loop.getLoopLatch(), iteration);
}

/// Cuts the loop into strips that count an interval each.
bool Counter::cut(Loop &loop, int64_t iteration) {
  static constexpr int64_t fewest = 10;
  int64_t length = interval / iteration;
  bool isOneBlock = loop.getNumBlocks() == 1;
  if (length < (isOneBlock ? 1 : fewest + 1) || !loop.getInductionVariable(analyses_.scev))
    return false;
  LoopFacts facts = LoopFacts::of(loop, analyses_.scev, analyses_.tti);
  if (!facts.isCounted)
    return false;
  strips_->push_back({&loop, facts, uint64_t(length), Cost::cycles(iteration)});
  plan_->loops.push_back({&loop, LoopKind::Stripped, uint64_t(length)});
  return true;
}

int64_t Counter::run(Plan &plan, std::vector<Strip> &strips, bool isRecursive) {
  plan_ = &plan;
  strips_ = &strips;
  makeBlocks();
  reduce();
  passOn();
  const Container *entry = newest(&function_.getEntryBlock());
  auto returns = find_if(outermost_, [](Container *each) { return isa<ReturnInst>(each->last->getTerminator()); });
  const Container *exit = returns == outermost_.end() ? nullptr : *returns;
  int64_t left = 0;
  for (Container *container : outermost_) {
    int64_t pending = count(*container, 0);
    if (!isRecursive && (container == entry || container == exit) && left + pending < interval)
      left += pending;
    else
      add(*container->last, pending);
  }
  return left;
}

/// Whether all paths from `start`, up to `end`, lead through blocks that `start` dominates.
bool leadsOnlyTo(BasicBlock *start, BasicBlock *end, const DominatorTree &dominators) {
  SmallVector<BasicBlock *, 16> open{start};
  SmallPtrSet<BasicBlock *, 16> seen;
  while (!open.empty())
    for (BasicBlock *next : successors(open.pop_back_val())) {
      if (next == end || !seen.insert(next).second)
        continue;
      if (!dominators.dominates(start, next))
        return false;
      open.push_back(next);
    }
  return true;
}

/// Where the paths from `start` meet, together with others; null: they do not, or alone.
BasicBlock *sharedJoin(BasicBlock *start, const DominatorTree &dominators, const PostDominatorTree &postDominators,
                       const LoopInfo &loops) {
  const auto *node = postDominators.getNode(start);
  BasicBlock *join = node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
  if (!join || join->isEHPad() || loops.isLoopHeader(join) || loops.getLoopFor(join) != loops.getLoopFor(start))
    return nullptr;
  const auto *above = dominators.getNode(join) ? dominators.getNode(join)->getIDom() : nullptr;
  if (!above || above->getBlock() == start || !dominators.dominates(above->getBlock(), start))
    return nullptr;
  return leadsOnlyTo(start, join, dominators) ? join : nullptr;
}

/// Gives conditions that share an arm with others (a && b) a join of their own; whether there were any. Before planning;
/// what is cached of the function is stale then.
bool makeJoins(Function &function, FunctionAnalysisManager &analyses) {
  auto &dominators = analyses.getResult<DominatorTreeAnalysis>(function);
  auto &postDominators = analyses.getResult<PostDominatorTreeAnalysis>(function);
  auto &loops = analyses.getResult<LoopAnalysis>(function);
  DomTreeUpdater updater(dominators, postDominators, DomTreeUpdater::UpdateStrategy::Eager);
  SmallVector<BasicBlock *, 32> blocks(post_order(&function.getEntryBlock()));
  bool changed = false;
  // Innermost conditions are last in the order of execution.
  for (BasicBlock *start : blocks) {
    if (start->getSingleSuccessor())
      continue;
    BasicBlock *join = sharedJoin(start, dominators, postDominators, loops);
    if (!join)
      continue;
    SmallSetVector<BasicBlock *, 8> from;
    for (BasicBlock *before : predecessors(join))
      if (dominators.dominates(start, before))
        from.insert(before);
    bool canSplit = all_of(from, [](BasicBlock *before) { return isa<BranchInst, SwitchInst>(before->getTerminator()); });
    if (from.size() < 2 || !canSplit)
      continue;
    changed |= SplitBlockPredecessors(join, from.getArrayRef(), ".join", &updater, &loops) != nullptr;
  }
  return changed;
}

class CompilerInterrupts : public Strategy {
public:
  explicit CompilerInterrupts(const Functions &functions) : functions_(functions) {}

  void prepare(Component &component) override {
    for (Function *function : component.functions) {
      functions_.prepareLoops(*function);
      functions_.loopsChanged(*function, makeJoins(*function, functions_.manager()));
    }
  }

  std::vector<Plan> plan(Component &component) override {
    std::vector<Plan> plans;
    for (Function *function : component.functions) {
      Analyses analyses = functions_.analysesOf(*function);
      int64_t left = Counter(*function, analyses, leftToCallers_).run(plans.emplace_back(), strips_[function], component.isRecursive);
      leftToCallers_[function] = left;
    }
    return plans;
  }

  void insert(Function &function, const Plan &plan, ProbeWriter &writer) override;

private:
  const Functions &functions_;
  DenseMap<const Function *, std::vector<Strip>> strips_;
  DenseMap<const Function *, int64_t> leftToCallers_; ///< instructions that a call adds to its caller's count
};

void CompilerInterrupts::insert(Function &function, const Plan &plan, ProbeWriter &writer) {
  auto &scev = functions_.manager().getResult<ScalarEvolutionAnalysis>(function);
  std::vector<PreparedStrip> prepared;
  for (const Strip &strip : strips_.lookup(&function))
    prepared.push_back(prepareStrip(strip, scev));
  SmallPtrSet<const Instruction *, 16> computing; // where strips end is part of the paths to their loops
  for (const PreparedStrip &strip : prepared) {
    computing.insert(strip.computing.begin(), strip.computing.end());
    cutStrip(strip, writer);
  }
  for (const Site &site : plan.sites) {
    Instruction *before = site.before;
    while (before->getPrevNode() && computing.contains(before->getPrevNode()))
      before = before->getPrevNode();
    writer.probe(before, site.expected.inCycles(), site.isSeldom);
  }
  for (PreparedStrip &strip : prepared)
    if (strip.replaced)
      RecursivelyDeleteTriviallyDeadInstructions(strip.replaced);
}

} // namespace

std::unique_ptr<Strategy> makeCompilerInterrupts(const Functions &functions) {
  return std::make_unique<CompilerInterrupts>(functions);
}

} // namespace caudal
