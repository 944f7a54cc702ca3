#include "Plan.h"
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

/// A loop or a call as one piece.
struct Piece {
  Ways ways;
  Instruction *before; ///< where a probe in front of it goes; null: nowhere
};

/// A region: a loop's body (loop != null) or the function's (null).
class Region {
public:
  Region(Plan &plan, const Analyses &analyses, const Calls &calls, const Limits &limits, CostModel &costs,
         DenseMap<const Loop *, Ways> &inner, Loop *loop, Cost allowance)
      : plan_(plan), analyses_(analyses), calls_(calls), limits_(limits), costs_(costs), inner_(inner), loop_(loop),
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
  void order(BasicBlock *node, SmallVectorImpl<BasicBlock *> &nodes);
  void successors(BasicBlock *node, SmallVectorImpl<std::pair<BasicBlock *, BasicBlock *>> &edges) const;
  void leave(BasicBlock *node, Place place);
  void gather(Place &into, const Place &from, double weight);
  void passBlock(BasicBlock &block, Place &place);
  void pass(Place &place, const Piece &piece);
  void probe(Place &place, Instruction *before);
  void finish(Instruction &terminator, Place &place);
  Cost distance(const Place &place) const { return longer(place.through + entered_, place.since); }

  Plan &plan_;
  const Analyses &analyses_;
  const Calls &calls_;
  const Limits &limits_;
  CostModel &costs_;
  DenseMap<const Loop *, Ways> &inner_;
  Loop *loop_;
  Cost entered_;
  BasicBlock *entry_ = nullptr;
  DenseMap<BasicBlock *, Place> places_;
  DenseMap<BasicBlock *, unsigned> state_; ///< while ordering: 1 on the way, 2 done
  DenseSet<BasicBlock *> entangled_;       ///< entered backwards, but no loop's header: probed at once
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

/// Nodes in reverse topological order. Edges back to a node on the way, other than to the region's header, are of no
/// natural loop: their target is marked.
void Region::order(BasicBlock *first, SmallVectorImpl<BasicBlock *> &nodes) {
  struct Frame {
    BasicBlock *node;
    SmallVector<std::pair<BasicBlock *, BasicBlock *>, 4> edges;
  };
  SmallVector<Frame, 16> stack;
  auto enter = [&](BasicBlock *node) {
    state_[node] = 1;
    stack.push_back({node, {}});
    successors(node, stack.back().edges);
  };
  enter(first);
  while (!stack.empty()) {
    if (stack.back().edges.empty()) {
      state_[stack.back().node] = 2;
      nodes.push_back(stack.back().node);
      stack.pop_back();
      continue;
    }
    BasicBlock *to = stack.back().edges.pop_back_val().second;
    BasicBlock *node = nodeOf(to);
    if (!node || (loop_ && node == first) || state_.lookup(node) == 2)
      continue;
    if (state_.lookup(node) == 1)
      entangled_.insert(node);
    else
      enter(node);
  }
}

void Region::gather(Place &into, const Place &from, double weight) {
  into.through = longer(into.through, from.through);
  into.since = longer(into.since, from.since);
  into.expected += from.expected * weight;
  into.weight += weight;
}

void Region::leave(BasicBlock *node, Place place) {
  SmallVector<std::pair<BasicBlock *, BasicBlock *>, 4> edges;
  successors(node, edges);
  for (auto [from, to] : edges) {
    double weight = double(analyses_.frequencies.getBlockFreq(from).getFrequency()) *
                        analyses_.probabilities.getEdgeProbability(from, to).getNumerator() /
                        BranchProbability::getDenominator() +
                    1e-9;
    BasicBlock *target = nodeOf(to);
    if (loop_ && to == loop_->getHeader())
      gather(latches, place, weight);
    else if (!target || (loop_ && !loop_->contains(to)))
      gather(exits, place, weight);
    else
      gather(places_[target], place, weight);
  }
}

void Region::probe(Place &place, Instruction *before) {
  if (!place.through.isNone())
    prefix = longer(prefix, place.through);
  plan_.sites.push_back({before, Cost::units(int64_t(place.expected)), longer(place.through, place.since), loop_ != nullptr});
  place.through = Cost::none();
  place.since = Cost::zero();
  place.expected = 0;
}

/// Goes through `piece`, with a probe in front of it where it would lead above the bound.
void Region::pass(Place &place, const Piece &piece) {
  Cost ahead = longer(piece.ways.prefix, piece.ways.through);
  if (piece.before && distance(place) > Cost::zero() && distance(place) + ahead > limits_.bound)
    probe(place, piece.before);
  if (!piece.ways.prefix.isNone() && !place.through.isNone())
    prefix = longer(prefix, place.through + piece.ways.prefix);
  place.since = longer(place.since + piece.ways.through, piece.ways.suffix);
  place.through = place.through + piece.ways.through;
  place.expected += double(piece.ways.expected.inUnits());
}

/// Whether a probe may stand in front of `instruction`.
static bool mayPrecede(const Instruction &instruction) {
  return !isa<PHINode>(instruction) && !instruction.isEHPad() && !isa<AllocaInst>(instruction);
}

/// Landing pads. What they lead to may have probes: a runtime declines to yield while the stack unwinds.
static bool isForbidden(const BasicBlock &block) { return block.isEHPad(); }

void Region::passBlock(BasicBlock &block, Place &place) {
  bool forbidden = isForbidden(block);
  if (entangled_.contains(&block) && !forbidden)
    probe(place, &*block.getFirstInsertionPt());
  for (Instruction &instruction : block) {
    Cost cost = costs_.of(instruction);
    Instruction *before = !forbidden && mayPrecede(instruction) ? &instruction : nullptr;
    if (auto *call = dyn_cast<CallBase>(&instruction)) {
      Ways ways = calls_.of(*call);
      ways.through = ways.through + cost;
      pass(place, {ways, before});
    }
    if (cost > Cost::zero() && !isa<CallBase>(instruction))
      pass(place, {Ways::plain(cost, cost), before});
  }
  finish(*block.getTerminator(), place);
}

/// The way out of the function is part of its callers' ways.
void Region::finish(Instruction &terminator, Place &place) {
  if (!isa<ReturnInst>(terminator) && !isa<ResumeInst>(terminator))
    return;
  BasicBlock &block = *terminator.getParent();
  // Nothing may stand between a musttail call and its return.
  if (isa<ReturnInst>(terminator) && place.since > limits_.call && !isForbidden(block) && !block.getTerminatingMustTailCall())
    probe(place, &terminator);
  gather(exits, place, double(analyses_.frequencies.getBlockFreq(&block).getFrequency()) + 1e-9);
}

void Region::follow(BasicBlock &entry, double start) {
  entry_ = &entry;
  SmallVector<BasicBlock *, 32> nodes;
  order(&entry, nodes);
  places_[&entry] = {Cost::zero(), Cost::none(), start, 1};
  for (BasicBlock *node : reverse(nodes)) {
    Place place = places_[node];
    if (place.weight > 0)
      place.expected /= place.weight;
    Loop *of = analyses_.loops.getLoopFor(node);
    if (of == loop_) {
      passBlock(*node, place);
    } else {
      BasicBlock *preheader = of->getLoopPreheader();
      Instruction *before = preheader && !isForbidden(*preheader) ? preheader->getTerminator() : nullptr;
      pass(place, {inner_[of], before});
    }
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
  LoopPlanner(Plan &plan, const Analyses &analyses, const Calls &calls, const Limits &limits, CostModel &costs)
      : plan_(plan), analyses_(analyses), calls_(calls), limits_(limits), costs_(costs) {}

  DenseMap<const Loop *, Ways> ways;

  void run(Loop &loop);

private:
  Ways bounded(Loop &loop, const Region &body, Cost iteration, uint64_t most);
  Ways around(const Region &body, Cost before, Cost across, double expected) const;
  bool tryStrip(Loop &loop, const Region &body, Cost iteration, const LoopFacts &facts);
  Ways each(Loop &loop, Region &body, Cost iteration);
  double meanTrips(const Loop &loop) const;
  Cost meanIteration(const Loop &loop, Cost recurrence) const;

  Plan &plan_;
  const Analyses &analyses_;
  const Calls &calls_;
  const Limits &limits_;
  CostModel &costs_;
};

/// Where a probe for each iteration goes: in front of the latch's jump, and of the comparison that it waits for.
static Instruction *eachSite(Loop &loop, const LoopInfo &loops) {
  BasicBlock *latch = loop.getLoopLatch();
  if (!latch || loops.getLoopFor(latch) != &loop || isForbidden(*latch))
    return nullptr;
  Instruction *site = latch->getTerminator();
  // After the comparison, the probe would destroy the flags that it leaves for the jump.
  if (Instruction *previous = site->getPrevNode(); previous && isa<CmpInst>(previous) && previous->hasOneUse())
    site = previous;
  return site;
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
Ways LoopPlanner::around(const Region &body, Cost before, Cost across, double expected) const {
  Ways result;
  result.through = across + body.exits.through;
  result.prefix = before + body.prefix;
  result.suffix = longer(body.exits.since, body.latches.since + before + body.exits.through);
  result.expected = Cost::units(int64_t(expected));
  return result;
}

/// Strips keep to the loop's part of the bound, the ways inside of the last iteration included.
bool LoopPlanner::tryStrip(Loop &loop, const Region &body, Cost iteration, const LoopFacts &facts) {
  // Beginning and ending a strip takes as long as a probe in each of so many iterations.
  static constexpr uint64_t fewest = 4;
  static constexpr Cost longIteration = Cost::cycles(8);
  if (facts.counting == Counting::None || iteration <= Cost::zero() || iteration >= longIteration)
    return false;
  Cost inside = longer(body.prefix, body.exits.through);
  int64_t room = limits_.loop.inUnits() - inside.inUnits();
  if (room <= 0 || body.latches.since + limits_.loop > limits_.bound)
    return false;
  uint64_t length = uint64_t(room / iteration.inUnits());
  if (facts.counting == Counting::Variable)
    length = length == 0 ? 0 : uint64_t(1) << Log2_64(length);
  if (length < fewest)
    return false;
  if (facts.counting == Counting::Counter && iteration > Cost::cycles(3))
    return false; // a counter takes a register
  Cost expected = meanIteration(loop, costs_.recurrence(loop));
  plan_.strips.push_back({&loop, facts, length, iteration, expected});
  plan_.loops.push_back({&loop, LoopKind::Stripped, length});
  Cost strip = iteration * int64_t(length);
  // What the last strip leaves uncharged: a constant where the count is; charged on the way out, or a guess.
  static constexpr int64_t guessed = 2;
  int64_t left = facts.exactTrips ? int64_t(facts.exactTrips % length) : facts.counting == Counting::Test ? 0 : guessed;
  double rest = double((expected * left).inUnits());
  Ways result = around(body, strip, strip, body.exits.expected + rest);
  result.prefix = longer(result.prefix, strip);
  result.suffix = longer(result.suffix, strip + body.exits.through);
  ways[&loop] = result;
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
      Cost cost = costs_.of(instruction);
      if (auto *call = dyn_cast<CallBase>(&instruction))
        cost = cost + calls_.of(*call).expected;
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
  Region body(plan_, analyses_, calls_, limits_, costs_, ways, &loop, limits_.loop);
  body.follow(*loop.getHeader(), 0);
  LoopFacts facts = LoopFacts::of(loop, analyses_.scev, analyses_.tti);
  Cost recurrence = costs_.recurrence(loop);
  Cost iteration = body.latches.through.isNone() ? Cost::none() : longer(body.latches.through, recurrence);
  double mean = double(meanIteration(loop, recurrence).inUnits());
  bool probed = plan_.sites.size() > planned || !body.prefix.isNone();

  if (iteration.isNone() && longer(body.latches.since, Cost::zero()) + body.prefix <= limits_.bound) {
    plan_.loops.push_back({&loop, LoopKind::Probed, 1});
    ways[&loop] = around(body, Cost::zero(), Cost::zero(), body.exits.expected + body.latches.expected);
    // Its first way in may be its last.
    return;
  }
  if (!iteration.isNone() && facts.mostTrips != 0) {
    Cost before = iteration * int64_t(facts.mostTrips - 1);
    Cost longest = before + longer(longer(body.prefix, body.exits.through), body.latches.through);
    // What is around it sees how long it is, so it may take most of the bound.
    if (longest <= Cost::units(limits_.bound.inUnits() * 3 / 4) && longer(body.latches.since, Cost::zero()) + longest <= limits_.bound) {
      plan_.loops.push_back({&loop, LoopKind::Short, facts.mostTrips});
      double trips = std::min(meanTrips(loop), double(facts.mostTrips));
      ways[&loop] = around(body, before, before, probed ? body.exits.expected : mean * trips);
      return;
    }
  }
  if (!iteration.isNone() && tryStrip(loop, body, iteration, facts))
    return;
  ways[&loop] = each(loop, body, iteration);
}

/// A probe for each iteration: at the latch, or, where there are several, at the header.
Ways LoopPlanner::each(Loop &loop, Region &body, Cost iteration) {
  plan_.loops.push_back({&loop, LoopKind::Each, 1});
  Instruction *site = eachSite(loop, analyses_.loops);
  bool atHeader = site == nullptr;
  if (atHeader)
    site = &*loop.getHeader()->getFirstInsertionPt();
  Cost longest = longer(body.latches.through, body.latches.since);
  plan_.sites.push_back({site, Cost::units(int64_t(body.latches.expected)), longest, true});
  Ways result;
  result.expected = Cost::units(int64_t(body.exits.expected));
  result.suffix = longer(body.exits.since, body.exits.through);
  if (atHeader) {
    result.prefix = Cost::zero();
    result.through = Cost::none();
    return result;
  }
  result.prefix = longer(body.prefix, body.latches.through);
  // The latch's probe stands in front of its exit: who leaves by it has met one.
  result.through = body.exits.through;
  return result;
}

} // namespace

Plan plan(Function &function, const Analyses &analyses, const Calls &calls, const Limits &limits) {
  Plan result;
  CostModel costs(analyses.tti, analyses.loops);
  LoopPlanner loops(result, analyses, calls, limits, costs);
  for (Loop *loop : analyses.loops)
    loops.run(*loop);
  Region body(result, analyses, calls, limits, costs, loops.ways, nullptr, limits.call);
  body.follow(function.getEntryBlock(), 0);
  result.ways.prefix = body.prefix;
  result.ways.through = body.exits.through;
  result.ways.suffix = body.exits.since;
  result.ways.expected = Cost::units(int64_t(body.exits.expected));
  return result;
}

} // namespace caudal
