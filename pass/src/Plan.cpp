#include "Plan.h"
#include "Compat.h"
#include "Lend.h"
#include "ShortLoops.h"
#include "TailCalls.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace caudal {

namespace {

/// The longest ways to a place of a region, and the mean cost that nobody has charged there.
struct Place {
  Cost through;         ///< from the region's entry, without a probe
  Cost since;           ///< from the last probe
  double expected = 0;  ///< units; weighted while ways are gathered
  double weight = 0;

  bool reached() const { return !through.isNone() || !since.isNone(); }
};

using Walks = SmallPtrSet<const Instruction *, 16>;
/// What budget mode charges for a load on a walk along pointers: some 4 cycles if it hits, 100 times as many if it misses.
static constexpr Cost walked = Cost::cycles(24);

/// A block in which nothing can be inserted. Landing pads may have probes behind their first instruction: a runtime
/// declines to yield while the stack unwinds.
static bool isForbidden(const BasicBlock &block) { return block.getFirstInsertionPt() == block.end(); }

// What insertion adds to ways, so that the finished code keeps to what was planned:

/// The jump that ends a block.
static constexpr Cost jump = Cost::cycles(1);
/// Around a call in a loop, what is left of the budget (Carry.h) is put back and fetched: nothing waits for it.
static constexpr Cost moved = Cost::units(9);
/// In front of a loop it is fetched, and what strips end at (StripMine.h) is computed: within another loop, where nothing
/// waits for either, and elsewhere. Behind a loop it is put back.
static constexpr Cost enterWithin = Cost::cycles(2), enter = Cost::cycles(8), leaveLoop = Cost::cycles(1);

/// A region: a loop's body (loop != null) or the function's (null).
class Region {
public:
  Region(Plan &plan, const Analyses &analyses, const Calls &calls, const Limits &limits, CostModel &costs,
         DenseMap<const Loop *, Ways> &inner, const Walks &walks, Loop *loop, Cost allowance)
      : plan_(plan), analyses_(analyses), calls_(calls), limits_(limits), costs_(costs), inner_(inner), walks_(walks),
        loop_(loop),
        // A way may have come so far when it enters.
        entered_(Cost::units(limits.bound.inUnits() - allowance.inUnits())) {}

  /// Follows all ways from `entry`. `start`: what is expected to be uncharged there.
  void follow(BasicBlock &entry, double start);

  Cost prefix;   ///< longest way from entry to the first probe
  Place latches; ///< gathered where ways go back to the header
  Place exits;   ///< gathered where ways leave the region
  BasicBlock *entry() const { return entry_; }

private:
  BasicBlock *nodeOf(BasicBlock *block) const;
  void order(BasicBlock *first, SmallVectorImpl<BasicBlock *> &nodes);
  void walk(BasicBlock *from, BasicBlock *first, SmallVectorImpl<BasicBlock *> &nodes, SmallVectorImpl<BasicBlock *> *behind);
  void breakCycle(BasicBlock *entered, ArrayRef<BasicBlock *> way);
  void probeInFront(BasicBlock *node, Place &place);
  void passLoop(BasicBlock *node, const Loop &inner, Place &place);
  void chargeWithin(const Loop &inner, Place &place);
  void successors(BasicBlock *node, SmallVectorImpl<std::pair<BasicBlock *, BasicBlock *>> &edges) const;
  void leave(BasicBlock *node, Place place);
  Ways waysAcross(const Loop &inner) const;
  bool alwaysProbes(const BasicBlock *node) const;
  void startBehindProbes(ArrayRef<BasicBlock *> nodes);
  double weightOf(BasicBlock *from, BasicBlock *to) const;
  void gather(Place &into, const Place &from, double weight);
  Place merge(BasicBlock *node);
  bool exceeds(const BasicBlock &block, const Place &place);
  void passBlock(BasicBlock &block, Place &place);
  Ways waysOf(const Instruction &instruction, Cost cost) const;
  bool needsProbe(const Place &place, const Ways &ways) const;
  void pass(Place &place, const Ways &ways);
  void probe(Place &place, Instruction *before);
  void probeAtEnd(Place &place, BasicBlock &block);
  void finish(Instruction &terminator, Place &place);
  Cost distance(const Place &place) const { return longer(place.through + entered_, place.since); }

  Plan &plan_;
  const Analyses &analyses_;
  const Calls &calls_;
  const Limits &limits_;
  CostModel &costs_;
  DenseMap<const Loop *, Ways> &inner_;
  const Walks &walks_;
  Loop *loop_;
  Cost entered_;
  BasicBlock *entry_ = nullptr;
  struct Way {
    BasicBlock *from; ///< null: the region's entry
    Place place;
    double weight;
  };
  DenseMap<BasicBlock *, SmallVector<Way, 2>> ways_;
  DenseMap<BasicBlock *, unsigned> state_; ///< while ordering: 1 on the way, 2 done
  DenseSet<BasicBlock *> entangled_;       ///< entered backwards, but no loop's header: probed at once
  DenseSet<BasicBlock *> endsEntangled_;   ///< where that is an inner loop, the block that leads there: probed at its end
  bool isCut_ = false;                     ///< whether ways are followed anew behind inner loops that always probe
};

/// The node that `block` is part of: itself, or the header of the inner loop that stands for it; null: another region's.
BasicBlock *Region::nodeOf(BasicBlock *block) const {
  Loop *of = analyses_.loops.getLoopFor(block);
  if (of == loop_)
    return block;
  while (of && of->getParentLoop() != loop_)
    of = of->getParentLoop();
  return of ? of->getHeader() : nullptr;
}

/// Edges out of a node, as the block they leave and the block they enter.
void Region::successors(BasicBlock *node, SmallVectorImpl<std::pair<BasicBlock *, BasicBlock *>> &edges) const {
  Loop *of = analyses_.loops.getLoopFor(node);
  if (of == loop_) {
    for (BasicBlock *successor : llvm::successors(node))
      edges.emplace_back(node, successor);
    return;
  }
  while (of->getParentLoop() != loop_)
    of = of->getParentLoop();
  SmallVector<Loop::Edge, 8> exits;
  of->getExitEdges(exits);
  for (auto [from, to] : exits)
    edges.emplace_back(const_cast<BasicBlock *>(from), const_cast<BasicBlock *>(to));
}

/// Marks where a cycle is probed that is no natural loop: along `way` to its end, and from there back to `entered`.
void Region::breakCycle(BasicBlock *entered, ArrayRef<BasicBlock *> way) {
  auto isPlain = [&](BasicBlock *node) { return analyses_.loops.getLoopFor(node) == loop_ && !isForbidden(*node); };
  if (isPlain(entered)) {
    entangled_.insert(entered);
    return;
  }
  for (BasicBlock *node : reverse(way)) {
    if (node == entered)
      return; // loops alone, and what nothing can stand in
    if (isPlain(node) && !jumpOf(*node)) {
      endsEntangled_.insert(node);
      return;
    }
  }
}

/// Adds the nodes that are reached from `from`, and not yet in `nodes`, in reverse topological order. Edges back to a node on the
/// way, other than to the region's header `first`, are of no natural loop: such a cycle is broken. `behind`, if not null: inner
/// loops that always probe are not left, and gathers where they lead.
void Region::walk(BasicBlock *from, BasicBlock *first, SmallVectorImpl<BasicBlock *> &nodes,
                  SmallVectorImpl<BasicBlock *> *behind) {
  SmallVector<BasicBlock *, 16> way;
  SmallVector<SmallVector<BasicBlock *, 4>, 16> targetsOf; // of each node on the way
  auto enter = [&](BasicBlock *node) {
    state_[node] = 1;
    way.push_back(node);
    SmallVector<BasicBlock *, 4> &targets = targetsOf.emplace_back();
    SmallVector<std::pair<BasicBlock *, BasicBlock *>, 4> edges;
    successors(node, edges);
    for (auto [_, to] : edges)
      if (BasicBlock *target = nodeOf(to); target && !(loop_ && target == first))
        targets.push_back(target);
    if (behind && alwaysProbes(node)) {
      behind->append(targets.begin(), targets.end());
      targets.clear();
    }
  };
  enter(from);
  while (!way.empty()) {
    if (targetsOf.back().empty()) {
      state_[way.back()] = 2;
      nodes.push_back(way.pop_back_val());
      targetsOf.pop_back();
      continue;
    }
    BasicBlock *node = targetsOf.back().pop_back_val();
    if (state_.lookup(node) == 1)
      breakCycle(node, way);
    else if (state_.lookup(node) == 0)
      enter(node);
  }
}

/// Nodes in reverse topological order. Where there are cycles that are no natural loops, those that an inner loop with a probe on
/// each way through it is part of (an interpreter's dispatch, say) need no other: then nodes are in such an order but for the edges
/// out of such loops. What nobody has charged in front of one is charged by its own probes (chargeWithin).
void Region::order(BasicBlock *first, SmallVectorImpl<BasicBlock *> &nodes) {
  walk(first, first, nodes, nullptr);
  if (entangled_.empty() && endsEntangled_.empty())
    return;
  nodes.clear();
  state_.clear();
  entangled_.clear();
  endsEntangled_.clear();
  isCut_ = true;
  SmallVector<BasicBlock *, 8> starts = {first};
  for (size_t i = 0; i < starts.size(); ++i)
    if (BasicBlock *start = starts[i]; state_.lookup(start) == 0)
      walk(start, first, nodes, &starts);
}

void Region::gather(Place &into, const Place &from, double weight) {
  into.through = longer(into.through, from.through);
  into.since = longer(into.since, from.since);
  into.expected += from.expected * weight;
  into.weight += weight;
}

/// `ways` with what insertion may put in front of them and behind.
static Ways lengthened(Ways ways, Cost before, Cost behind) {
  ways.prefix = ways.prefix + before;
  ways.suffix = ways.suffix + behind;
  ways.through = ways.through + before + behind;
  return ways;
}

/// How often a way goes from `from` to `to`, but never 0.
double Region::weightOf(BasicBlock *from, BasicBlock *to) const {
  return double(analyses_.frequencies.getBlockFreq(from).getFrequency()) *
             analyses_.probabilities.getEdgeProbability(from, to).getNumerator() / BranchProbability::getDenominator() +
         1e-9;
}

/// An inner loop, as what is around it sees it.
Ways Region::waysAcross(const Loop &inner) const {
  Ways ways = inner_.lookup(&inner);
  if (ways.prefix.isNone())
    return ways;
  ways = lengthened(ways, loop_ ? enterWithin : enter, leaveLoop);
  return mayBorrow(inner, analyses_.scev) ? lengthened(ways, lending, lending) : ways;
}

/// Whether `node` is an inner loop that is not left without a probe.
bool Region::alwaysProbes(const BasicBlock *node) const {
  const Loop *of = analyses_.loops.getLoopFor(node);
  return of != loop_ && inner_.lookup(of).through.isNone();
}

/// How long a way is that comes from an inner loop that always probes is known, whatever came before: so it can be said in front of
/// those nodes that are followed before the loop is.
void Region::startBehindProbes(ArrayRef<BasicBlock *> nodes) {
  DenseSet<BasicBlock *> later;
  for (BasicBlock *node : nodes) { // from the last that is followed
    later.insert(node);
    if (!alwaysProbes(node))
      continue;
    Ways ways = waysAcross(*analyses_.loops.getLoopFor(node));
    SmallVector<std::pair<BasicBlock *, BasicBlock *>, 4> edges;
    successors(node, edges);
    for (auto [from, to] : edges)
      if (BasicBlock *target = nodeOf(to); target && !later.contains(target) && !(loop_ && target == entry_))
        ways_[target].push_back({from, {Cost::none(), ways.suffix, double(ways.expected.inUnits()), 1}, weightOf(from, to)});
  }
}

void Region::leave(BasicBlock *node, Place place) {
  SmallVector<std::pair<BasicBlock *, BasicBlock *>, 4> edges;
  successors(node, edges);
  for (auto [from, to] : edges) {
    double weight = weightOf(from, to);
    BasicBlock *target = nodeOf(to);
    if (loop_ && to == loop_->getHeader())
      gather(latches, place, weight);
    else if (!target || (loop_ && !loop_->contains(to)))
      gather(exits, place, weight);
    else
      ways_[target].push_back({from, place, weight});
  }
}

/// Whether a way that is at `place` in front of `block` would need a probe in it.
bool Region::exceeds(const BasicBlock &block, const Place &place) {
  Cost ahead = Cost::zero();
  CostModel::Walk walk(costs_, block);
  for (const Instruction &instruction : block) {
    ahead = ahead + walk.add(instruction);
    if (const auto *call = dyn_cast<CallBase>(&instruction)) {
      Ways ways = calls_.of(*call);
      ahead = ahead + longer(ways.prefix, ways.through);
      if (ways.through.isNone() || ahead > limits_.bound)
        break;
    }
  }
  if (isa<ReturnInst>(block.getTerminator()) && (place.since + ahead > limits_.call || place.through + ahead > limits_.across))
    return true;
  return distance(place) + ahead + probeCost > limits_.bound;
}

/// Where ways meet, the longest decides. If only some of them are too long for what follows, and seldom taken, they get
/// their probes before they meet the others.
Place Region::merge(BasicBlock *node) {
  SmallVector<Way, 2> &ways = ways_[node];
  double all = 0, exceeding = 0;
  bool movable = ways.size() > 1 && nodeOf(node) == node && analyses_.loops.getLoopFor(node) == loop_;
  SmallVector<Way *, 4> long_;
  for (Way &way : ways) {
    all += way.weight;
    if (!movable || !exceeds(*node, way.place))
      continue;
    exceeding += way.weight;
    long_.push_back(&way);
    movable = way.from && way.from->getSingleSuccessor() == node && !isForbidden(*way.from) &&
              analyses_.loops.getLoopFor(way.from) == loop_ && !jumpOf(*way.from);
  }
  static constexpr double seldom = 0.75;
  if (movable && !long_.empty() && exceeding < seldom * all)
    for (Way *way : long_)
      probeAtEnd(way->place, *way->from);
  Place place;
  for (const Way &way : ways)
    gather(place, way.place, way.weight);
  if (place.weight > 0)
    place.expected /= place.weight;
  return place;
}

void Region::probe(Place &place, Instruction *before) {
  if (!place.through.isNone())
    prefix = longer(prefix, place.through + probeCost);
  plan_.sites.push_back({before, Cost::units(int64_t(place.expected)), longer(place.through, place.since), loop_ != nullptr});
  place.through = Cost::none();
  place.since = Cost::zero();
  place.expected = 0;
}

/// In front of a block's jump, which `place` has passed.
void Region::probeAtEnd(Place &place, BasicBlock &block) {
  probe(place, block.getTerminator());
  place.since = jump;
}

Ways Region::waysOf(const Instruction &instruction, Cost cost) const {
  const auto *call = dyn_cast<CallBase>(&instruction);
  if (!call)
    return Ways::plain(cost, walks_.contains(&instruction) ? cost + walked : cost);
  Ways ways = calls_.of(*call);
  ways.through = ways.through + cost;
  return loop_ && (!calls_.isSimple(*call) || !call->doesNotThrow()) ? lengthened(ways, moved, moved) : ways;
}

/// Whether going on through `ways` would lead above the bound, and a probe would help.
bool Region::needsProbe(const Place &place, const Ways &ways) const {
  bool takesTime = longer(ways.prefix, ways.through) > Cost::zero();
  Cost ahead = longer(ways.prefix, ways.through + probeCost);
  return takesTime && distance(place) > Cost::zero() && distance(place) + ahead > limits_.bound;
}

void Region::pass(Place &place, const Ways &ways) {
  if (!ways.prefix.isNone() && !place.through.isNone())
    prefix = longer(prefix, place.through + ways.prefix);
  place.since = longer(place.since + ways.through, ways.suffix);
  place.through = place.through + ways.through;
  place.expected += double(ways.expected.inUnits());
}

/// Whether a probe may stand in front of `instruction`.
static bool mayPrecede(const Instruction &instruction) {
  return !isa<PHINode>(instruction) && !instruction.isEHPad() && !isa<AllocaInst>(instruction);
}

void Region::passBlock(BasicBlock &block, Place &place) {
  bool forbidden = isForbidden(block);
  if (block.isEHPad()) {
    // The unwinder has run: a callee of which nothing is known but that it keeps to its part.
    prefix = longer(prefix, place.through);
    place.through = Cost::none();
    place.since = calls_.part();
  }
  if (entangled_.contains(&block) && !forbidden)
    probe(place, &*block.getFirstInsertionPt());
  const CallInst *last = jumpOf(block);
  CostModel::Walk walk(costs_, block);
  bool beyond = false; // behind a jump: nothing may stand between it and its return
  for (Instruction &instruction : block) {
    Instruction *before = !forbidden && mayPrecede(instruction) ? &instruction : nullptr;
    Ways ways = waysOf(instruction, walk.add(instruction));
    if (beyond)
      break; // the return is the callee's
    beyond = &instruction == last;
    // Nothing can stand behind it that would end the way across the callee, which may be all that a function is allowed.
    bool isFirst = !plan_.sites.empty() && plan_.sites.back().before == &instruction;
    bool isTooLate = beyond && !isFirst &&
                     (place.since + ways.through > limits_.call || place.through + ways.through > limits_.across);
    if (before && (isTooLate || needsProbe(place, ways))) {
      probe(place, before);
      walk.restart();
      ways = waysOf(instruction, walk.add(instruction));
    }
    pass(place, ways);
    if (!ways.prefix.isNone())
      walk.restart(); // the way may begin in the callee
  }
  if (endsEntangled_.contains(&block))
    probeAtEnd(place, block);
  finish(*block.getTerminator(), place);
}

/// The way out of the function is part of its callers' ways.
void Region::finish(Instruction &terminator, Place &place) {
  if (!isa<ReturnInst>(terminator))
    return; // who is unwound to starts anew
  BasicBlock &block = *terminator.getParent();
  if ((place.since > limits_.call || place.through > limits_.across) && !isForbidden(block) && !jumpOf(block))
    probeAtEnd(place, block);
  gather(exits, place, double(analyses_.frequencies.getBlockFreq(&block).getFrequency()) + 1e-9);
}

/// Has the probes of `inner` charge what nobody has in front of it: `place.expected` for each time that it is entered.
void Region::chargeWithin(const Loop &inner, Place &place) {
  auto isWithin = [&](const Site &site) { return inner.contains(site.before->getParent()); };
  double executed = 0;
  for (const Site &site : plan_.sites)
    if (isWithin(site))
      executed += double(analyses_.frequencies.getBlockFreq(site.before->getParent()).getFrequency());
  if (executed <= 0)
    return; // strips, which charge for themselves alone
  for (Site &site : plan_.sites)
    if (isWithin(site))
      site.expected = site.expected + Cost::units(int64_t(place.expected * place.weight / executed));
  place.expected = 0;
}

/// Passes an inner loop, whose header is `node`.
void Region::passLoop(BasicBlock *node, const Loop &inner, Place &place) {
  Ways ways = waysAcross(inner);
  if (!ways.prefix.isNone() && mayBorrow(inner, analyses_.scev))
    plan_.borrowers.push_back(inner.getHeader());
  if (needsProbe(place, ways)) {
    if (BasicBlock *preheader = inner.getLoopPreheader(); preheader && !isForbidden(*preheader))
      probeAtEnd(place, *preheader);
    else if (!preheader)
      probeInFront(node, place);
  }
  if (isCut_ && alwaysProbes(node))
    chargeWithin(inner, place);
  pass(place, ways);
}

/// In front of an inner loop that has no block of its own there, for jumps by an address lead to it: at the ends of blocks that do.
void Region::probeInFront(BasicBlock *node, Place &place) {
  Place behind;
  for (Way &way : ways_[node]) {
    if (way.from && analyses_.loops.getLoopFor(way.from) == loop_ && !isForbidden(*way.from) && !jumpOf(*way.from)) {
      Instruction *end = way.from->getTerminator();
      bool isThere = any_of(plan_.sites, [&](const Site &site) { return site.before == end; });
      if (isThere)
        way.place = {Cost::none(), jump, 0, 1};
      else
        probeAtEnd(way.place, *way.from);
    }
    gather(behind, way.place, way.weight);
  }
  if (behind.weight > 0)
    behind.expected /= behind.weight;
  place = behind;
}

void Region::follow(BasicBlock &entry, double start) {
  entry_ = &entry;
  SmallVector<BasicBlock *, 32> nodes;
  order(&entry, nodes);
  startBehindProbes(nodes);
  ways_[&entry].push_back({nullptr, {Cost::zero(), Cost::none(), start, 1}, 1});
  for (BasicBlock *node : reverse(nodes)) {
    Place place = merge(node);
    Loop *of = analyses_.loops.getLoopFor(node);
    if (of == loop_)
      passBlock(*node, place);
    else
      passLoop(node, *of, place);
    leave(node, place);
  }
  if (exits.weight > 0)
    exits.expected /= exits.weight;
  if (latches.weight > 0)
    latches.expected /= latches.weight;
}

/// Plans a function's loops, each after the loops in it.
class LoopPlanner {
public:
  LoopPlanner(Plan &plan, const Analyses &analyses, const Calls &calls, const Limits &limits, CostModel &costs,
              const Walks &walks)
      : plan_(plan), analyses_(analyses), calls_(calls), limits_(limits), costs_(costs), walks_(walks) {}

  DenseMap<const Loop *, Ways> ways;

  void run(Loop &loop);

private:
  Region follow(Loop &loop, double start);
  Region followAround(Loop &loop, double uncharged);
  Ways around(const Region &body, Cost before, Cost across) const;
  bool tryStrip(Loop &loop, const Region &body, Cost iteration, const LoopFacts &facts);
  Ways each(Loop &loop, Region &body, Cost iteration);
  double meanTrips(const Loop &loop) const;
  Cost meanIteration(const Loop &loop, Cost recurrence) const;

  Plan &plan_;
  const Analyses &analyses_;
  const Calls &calls_;
  const Limits &limits_;
  CostModel &costs_;
  const Walks &walks_;
};

/// Where a probe in `latch` goes: in front of its jump, and of the comparison that the jump waits for, whose flags a probe
/// would destroy.
static Instruction *latchSite(BasicBlock &latch) {
  Instruction *site = latch.getTerminator();
  if (Instruction *previous = site->getPrevNode(); previous && isa<CmpInst>(previous) && previous->hasOneUse())
    site = previous;
  return site;
}

/// Whether the loop's header chooses among many ways, as interpreters do, with nothing but a jump. Code generation copies such
/// a header to the end of each way, which branch prediction lives on; a probe in the header would forbid that.
static bool dispatches(const BasicBlock &header) {
  static constexpr unsigned many = 4;
  const Instruction *end = header.getTerminator();
  const auto *choice = dyn_cast<SwitchInst>(end);
  return (isa<IndirectBrInst>(end) || (choice && isDefaultUnreachable(*choice))) && end->getNumSuccessors() >= many;
}

/// Whether `latch` only joins ways: in finished code there is no such block, each way jumps to the header. With a probe in it,
/// each would jump twice.
static bool isJoin(const BasicBlock &latch) {
  return isa<BranchInst>(*latch.getFirstNonPHIOrDbg()) && latch.hasNPredecessorsOrMore(2);
}

/// The longest that a shared latch may take behind the probes of the ways to it.
static constexpr Cost brief = Cost::cycles(2);

static bool isBrief(const BasicBlock &block, const CostModel &costs) {
  Cost sum = Cost::zero();
  for (const Instruction &instruction : block) {
    if (isa<CallBase>(instruction) && !instruction.isDebugOrPseudoInst())
      return false;
    sum = sum + costs.issue(instruction);
  }
  return sum <= brief;
}

/// Where probes for each iteration go: in the latch, or, where there are several, or it is but a join or ends with a call, in the
/// header (none is returned); in all latches of a loop that dispatches.
static SmallVector<Instruction *, 4> eachSites(Loop &loop, const LoopInfo &loops, const CostModel &costs) {
  SmallVector<BasicBlock *, 8> latches;
  loop.getLoopLatches(latches);
  bool usable = all_of(latches, [&](BasicBlock *latch) {
    return loops.getLoopFor(latch) == &loop && !isForbidden(*latch) && !isa<CallBase>(latch->getTerminator());
  });
  SmallVector<Instruction *, 4> sites;
  bool joins = latches.size() > 1 || isJoin(*latches.front());
  if (!usable || (joins && !dispatches(*loop.getHeader())))
    return sites;
  for (BasicBlock *latch : latches) {
    // What is copied with the header must not have a probe either: the latch that all ways share is in front of it.
    bool shared = dispatches(*loop.getHeader()) && isBrief(*latch, costs);
    shared = shared && all_of(predecessors(latch), [&](BasicBlock *before) {
      return before->getSingleSuccessor() == latch && loops.getLoopFor(before) == &loop && !isForbidden(*before);
    });
    if (shared)
      for (BasicBlock *before : predecessors(latch))
        sites.push_back(before->getTerminator());
    else
      sites.push_back(latchSite(*latch));
  }
  return sites;
}

double LoopPlanner::meanTrips(const Loop &loop) const {
  double inside = double(analyses_.frequencies.getBlockFreq(loop.getHeader()).getFrequency());
  double entered = 0;
  for (BasicBlock *before : predecessors(loop.getHeader()))
    if (!loop.contains(before))
      entered += double(analyses_.frequencies.getBlockFreq(before).getFrequency()) *
                 analyses_.probabilities.getEdgeProbability(before, loop.getHeader()).getNumerator() /
                 BranchProbability::getDenominator();
  return entered > 0 ? std::max(1.0, inside / entered) : 1.0;
}

/// A loop's ways, where a way of `before` may lie between its entry and its last iteration.
Ways LoopPlanner::around(const Region &body, Cost before, Cost across) const {
  Ways result;
  result.through = across + body.exits.through;
  result.prefix = before + body.prefix;
  result.suffix = longer(body.exits.since, body.latches.since + before + body.exits.through);
  result.expected = Cost::units(int64_t(body.exits.expected));
  return result;
}

Region LoopPlanner::follow(Loop &loop, double start) {
  Region body(plan_, analyses_, calls_, limits_, costs_, ways, walks_, &loop, limits_.loop);
  body.follow(*loop.getHeader(), start);
  return body;
}

/// Plans the body so that its probes charge for what is behind the last one of the iteration before, `uncharged` on average, too.
Region LoopPlanner::followAround(Loop &loop, double uncharged) {
  double trips = meanTrips(loop);
  return follow(loop, uncharged * (trips - 1) / trips);
}

/// Strips keep to the loop's part of the bound, the ways inside of the last iteration included.
bool LoopPlanner::tryStrip(Loop &loop, const Region &body, Cost iteration, const LoopFacts &facts) {
  // Beginning and ending a strip takes as long as a probe in each of so many iterations.
  static constexpr uint64_t fewest = 4;
  static constexpr Cost longInLongLoop = Cost::cycles(6);
  if (!facts.isCounted || iteration <= Cost::zero())
    return false;
  // Around a call, a strip's registers are saved and restored by the function: a probe costs less.
  if (!body.prefix.isNone())
    return false;
  static constexpr Cost begin = Cost::cycles(4) + probeCost, end = Cost::cycles(2); // what cutting adds to the loop's ends
  Cost inside = longer(body.prefix, body.exits.through);
  int64_t room = limits_.loop.inUnits() - inside.inUnits();
  if (room <= 0 || body.latches.since + limits_.loop > limits_.bound)
    return false;
  uint64_t length = uint64_t(room / iteration.inUnits());
  // Many loops are left after a few iterations; not those that have a version for that.
  if (length < fewest || iteration >= (isLongVersion(loop) ? longInLongLoop : longestInStrips))
    return false;
  plan_.strips.push_back({&loop, facts, length, iteration, meanIteration(loop, costs_.recurrence(loop))});
  plan_.loops.push_back({&loop, LoopKind::Stripped, length});
  // The probe in front has charged for it.
  ways[&loop] = {begin, Cost::none(), iteration * int64_t(length) + inside + end, Cost::zero()};
  return true;
}

/// Mean cost of an iteration, inner loops' uncharged rest included.
Cost LoopPlanner::meanIteration(const Loop &loop, Cost recurrence) const {
  double header = double(analyses_.frequencies.getBlockFreq(loop.getHeader()).getFrequency()) + 1e-9;
  double sum = 0;
  for (BasicBlock *block : loop.blocks()) {
    if (analyses_.loops.getLoopFor(block) != &loop)
      continue;
    double frequency = double(analyses_.frequencies.getBlockFreq(block).getFrequency());
    for (Instruction &instruction : *block) {
      Cost cost = costs_.issue(instruction);
      if (auto *call = dyn_cast<CallBase>(&instruction))
        cost = cost + calls_.of(*call).expected;
      if (walks_.contains(&instruction))
        cost = cost + walked;
      sum += frequency / header * double(cost.inUnits());
    }
  }
  for (Loop *inner : loop.getSubLoops()) {
    double entered = double(analyses_.frequencies.getBlockFreq(inner->getHeader()).getFrequency()) / meanTrips(*inner);
    sum += entered / header * double(ways.lookup(inner).expected.inUnits());
  }
  return longer(Cost::units(int64_t(sum)), recurrence);
}

void LoopPlanner::run(Loop &loop) {
  for (Loop *inner : loop.getSubLoops())
    run(*inner);
  size_t planned = plan_.sites.size();
  Region body = follow(loop, 0);
  LoopFacts facts = LoopFacts::of(loop, analyses_.scev, analyses_.tti);
  Cost recurrence = costs_.recurrence(loop);
  Cost iteration = body.latches.through.isNone() ? Cost::none() : longer(body.latches.through, recurrence);
  double mean = double(meanIteration(loop, recurrence).inUnits());
  bool probed = plan_.sites.size() > planned || !body.prefix.isNone();

  Cost again = longer(body.latches.since, Cost::zero());
  if (iteration.isNone() && again + longer(body.prefix, body.exits.through + probeCost) <= limits_.bound) {
    plan_.loops.push_back({&loop, LoopKind::Probed, 1});
    plan_.sites.resize(planned);
    // Its first way in may be its last.
    ways[&loop] = around(followAround(loop, body.latches.expected), Cost::zero(), Cost::zero());
    return;
  }
  if (!iteration.isNone() && facts.mostTrips != 0) {
    Cost before = iteration * int64_t(facts.mostTrips - 1);
    Cost longest = before + longer(body.prefix, longer(body.exits.through, iteration) + probeCost);
    // What is around it sees how long it is, so it may take most of the bound.
    if (longest <= Cost::units(limits_.bound.inUnits() * 3 / 4) && again + longest <= limits_.bound) {
      plan_.loops.push_back({&loop, LoopKind::Short, facts.mostTrips});
      double trips = std::min(meanTrips(loop), double(facts.mostTrips));
      ways[&loop] = around(body, before, before);
      double uncharged = probed ? body.exits.expected + body.latches.expected * (trips - 1) : mean * trips;
      ways[&loop].expected = Cost::units(int64_t(uncharged));
      return;
    }
  }
  if (!iteration.isNone() && tryStrip(loop, body, iteration, facts))
    return;
  ways[&loop] = each(loop, body, iteration);
}

/// A probe for each iteration.
Ways LoopPlanner::each(Loop &loop, Region &body, Cost iteration) {
  plan_.loops.push_back({&loop, LoopKind::Each, 1});
  SmallVector<Instruction *, 4> sites = eachSites(loop, analyses_.loops, costs_);
  bool atHeader = sites.empty();
  if (atHeader)
    sites.push_back(&*loop.getHeader()->getFirstInsertionPt());
  Cost longest = longer(body.latches.through, body.latches.since);
  for (Instruction *site : sites)
    plan_.sites.push_back({site, Cost::units(int64_t(body.latches.expected)), longest, true});
  Ways result;
  result.expected = Cost::units(int64_t(body.exits.expected));
  Cost behind = sites.size() > 1 ? brief + jump : jump; // of the iteration that a probe ends
  result.suffix = longer(longer(behind, behind + body.exits.through), body.exits.since);
  if (atHeader) {
    result.prefix = probeCost;
    result.through = Cost::none();
    return result;
  }
  result.prefix = longer(body.prefix, body.latches.through + probeCost);
  result.through = body.exits.through;
  // The latch's probe stands in front of its jump: who leaves there has met one just before.
  if (sites.size() == 1 && loop.getExitingBlock() == sites.front()->getParent()) {
    result.through = Cost::none();
    result.suffix = Cost::cycles(1);
    result.expected = Cost::zero();
  }
  return result;
}

} // namespace

Plan plan(Function &function, const Analyses &analyses, const Calls &calls, const Limits &limits) {
  Plan result;
  CostModel costs(analyses.tti, analyses.loops);
  Walks walks;
  for (const Loop *loop : analyses.loops.getLoopsInPreorder())
    costs.addWalks(*loop, walks);
  LoopPlanner loops(result, analyses, calls, limits, costs, walks);
  for (Loop *loop : analyses.loops)
    loops.run(*loop);
  Region body(result, analyses, calls, limits, costs, loops.ways, walks, nullptr, limits.call);
  body.follow(function.getEntryBlock(), 0);
  result.ways.prefix = body.prefix;
  result.ways.through = body.exits.through;
  result.ways.suffix = body.exits.since;
  result.ways.expected = Cost::units(int64_t(body.exits.expected));
  for (const Site &site : result.sites)
    result.executed += analyses.frequencyOf(*site.before->getParent());
  return result;
}

} // namespace caudal
