// Follows the longest paths through a loop body or a function body, and decides which probes they need. Plan.cpp makes a region for
// each loop, inner loops first, and one for the function's body, each time that a function is planned. It adds to the plan and changes
// no function. See Region.h.
#include "plan/Region.h"
#include "analysis/Slack.h"
#include "analysis/Jumps.h"
#include "llvm/IR/CFG.h"

using namespace llvm;

namespace caudal {

// What insertion adds to paths, so that the finished code keeps to what was planned:

/// Around a call in a loop, what is left of the budget (BudgetInLoops.h) is put back and fetched: nothing waits for it.
static constexpr Cost moved = Cost::units(9);
/// Before a loop it is fetched: within another loop, where nothing waits for it, and elsewhere. After a loop it is put back.
static constexpr Cost enterWithin = Cost::cycles(2), enter = Cost::cycles(8), leaveLoop = Cost::cycles(1);

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
void Region::successors(BasicBlock *node, SmallVectorImpl<Edge> &edges) const {
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

/// Whether a probe before the block's jump is after all else in it.
static bool mayEndWithProbe(const BasicBlock &block) {
  return !isForbidden(block) && !jumpOf(block) && !isa<CallBase>(block.getTerminator());
}

/// Marks where a cycle is probed that is no natural loop, which goes back from `last` to `entered`: where it comes back to, if that is
/// no loop and has a place for one, else at the end of what leads there, or where nothing can stand there, at the loop's beginning,
/// in each iteration.
void Region::breakCycle(BasicBlock *entered, BasicBlock *last) {
  auto isPlain = [&](BasicBlock *node) { return analyses_.loops.getLoopFor(node) == loop_; };
  if ((!isPlain(entered) || isForbidden(*entered)) && isPlain(last) && mayEndWithProbe(*last))
    endsEntangled_.emplace_back(last, entered);
  else if (!isForbidden(*entered))
    entangled_.insert(entered);
}

/// Adds the nodes that are reached from `from`, and not yet in `nodes`, in reverse topological order. Edges back to a node on the
/// path, other than to the region's header `first`, are of no natural loop: such a cycle is broken. `behind`, if not null: inner
/// loops that always probe are not left, and gathers where they lead.
void Region::walk(BasicBlock *from, BasicBlock *first, SmallVectorImpl<BasicBlock *> &nodes,
                  SmallVectorImpl<BasicBlock *> *behind) {
  SmallVector<BasicBlock *, 16> path;
  SmallVector<SmallVector<BasicBlock *, 4>, 16> targetsOf; // of each node on the path
  auto enter = [&](BasicBlock *node) {
    state_[node] = 1;
    path.push_back(node);
    SmallVector<BasicBlock *, 4> &targets = targetsOf.emplace_back();
    SmallVector<Edge, 4> edges;
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
  while (!path.empty()) {
    if (targetsOf.back().empty()) {
      state_[path.back()] = 2;
      nodes.push_back(path.pop_back_val());
      targetsOf.pop_back();
      continue;
    }
    BasicBlock *node = targetsOf.back().pop_back_val();
    if (state_.lookup(node) == 1)
      breakCycle(node, path.back());
    else if (state_.lookup(node) == 0)
      enter(node);
  }
}

/// Nodes in reverse topological order. Where there are cycles that are no natural loops, those that an inner loop with a probe on
/// each path through it is part of (an interpreter's dispatch, say) need no other: then nodes are in such an order but for the edges
/// out of such loops. What nobody has charged before one is charged by its own probes (chargeWithin).
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

/// `paths` with what insertion may put before them and after.
static PathBounds lengthened(PathBounds paths, Cost before, Cost behind) {
  paths.prefix = paths.prefix + before;
  paths.suffix = paths.suffix + behind;
  paths.through = paths.through + before + behind;
  return paths;
}

/// How often a path goes from `from` to `to`, but never 0.
double Region::weightOf(BasicBlock *from, BasicBlock *to) const {
  return double(analyses_.frequencies.getBlockFreq(from).getFrequency()) *
             analyses_.probabilities.getEdgeProbability(from, to).getNumerator() / BranchProbability::getDenominator() +
         1e-9;
}

/// An inner loop, as what is around it sees it.
PathBounds Region::pathsAcross(const Loop &inner) const {
  PathBounds paths = inner_.lookup(&inner);
  if (paths.prefix.isNone())
    return paths;
  paths = lengthened(paths, loop_ ? enterWithin : enter, leaveLoop);
  return calls_.does(Step::DeferredChecks) && mayHaveSlack(inner, analyses_.scev) ? lengthened(paths, slackAddition, slackAddition) : paths;
}

/// Whether `node` is an inner loop that is not left without a probe.
bool Region::alwaysProbes(const BasicBlock *node) const {
  const Loop *of = analyses_.loops.getLoopFor(node);
  return of != loop_ && inner_.lookup(of).through.isNone();
}

/// How long a path is that comes from an inner loop that always probes is known, whatever came before: so it can be said before
/// those nodes that are followed before the loop is.
void Region::startBehindProbes(ArrayRef<BasicBlock *> nodes) {
  DenseSet<BasicBlock *> later;
  for (BasicBlock *node : nodes) { // from the last that is followed
    later.insert(node);
    if (!alwaysProbes(node))
      continue;
    PathBounds paths = pathsAcross(*analyses_.loops.getLoopFor(node));
    SmallVector<Edge, 4> edges;
    successors(node, edges);
    for (auto [from, to] : edges)
      if (BasicBlock *target = nodeOf(to); target && !later.contains(target) && !(loop_ && target == entry_))
        paths_[target].push_back({from, {Cost::none(), paths.suffix, double(paths.expected.inUnits()), 1}, weightOf(from, to)});
  }
}

void Region::leave(BasicBlock *node, Place place) {
  SmallVector<Edge, 4> edges;
  successors(node, edges);
  for (auto [from, to] : edges) {
    double weight = weightOf(from, to);
    BasicBlock *target = nodeOf(to);
    if (entangled_.contains(to) && !place.through.isNone())
      prefix = longer(prefix, place.through + probeCost); // the target may have been followed already
    if (loop_ && to == loop_->getHeader())
      gather(latches, place, weight);
    else if (!target || (loop_ && !loop_->contains(to)))
      gather(exits, place, weight);
    else
      paths_[target].push_back({from, place, weight});
  }
}

/// Whether a path that is at `place` before `block` would need a probe in it.
bool Region::exceeds(const BasicBlock &block, const Place &place) {
  Cost ahead = Cost::zero();
  CostModel::Walk walk(costs_, block);
  for (const Instruction &instruction : block) {
    ahead = ahead + walk.add(instruction);
    if (const auto *call = dyn_cast<CallBase>(&instruction)) {
      PathBounds paths = calls_.of(*call);
      ahead = ahead + longer(paths.prefix, paths.through);
      if (paths.through.isNone() || ahead > limits_.bound)
        break;
    }
  }
  if (isa<ReturnInst>(block.getTerminator()) && (place.since + ahead > limits_.call || place.through + ahead > limits_.across))
    return true;
  return distance(place) + ahead + probeCost > limits_.bound;
}

/// Where paths meet, the longest decides. If only some of them are too long for what follows, and seldom taken, they get
/// their probes before they meet the others.
Place Region::merge(BasicBlock *node) {
  SmallVector<Path, 2> &paths = paths_[node];
  double all = 0, exceeding = 0;
  bool movable = paths.size() > 1 && nodeOf(node) == node && analyses_.loops.getLoopFor(node) == loop_;
  SmallVector<Path *, 4> long_;
  for (Path &path : paths) {
    all += path.weight;
    if (!movable || !exceeds(*node, path.place))
      continue;
    exceeding += path.weight;
    long_.push_back(&path);
    movable = path.from && path.from->getSingleSuccessor() == node && analyses_.loops.getLoopFor(path.from) == loop_ &&
              mayEndWithProbe(*path.from);
  }
  static constexpr double seldom = 0.75;
  if (movable && !long_.empty() && exceeding < seldom * all)
    for (Path *path : long_)
      probeAtEnd(path->place, *path->from);
  Place place;
  for (const Path &path : paths)
    gather(place, path.place, path.weight);
  if (place.weight > 0)
    place.expected /= place.weight;
  return place;
}

void Region::probe(Place &place, Instruction *before) {
  if (!place.through.isNone())
    prefix = longer(prefix, place.through + probeCost);
  plan_.sites.push_back({before, Cost::units(int64_t(place.expected)), longer(place.through, place.since)});
  place.through = Cost::none();
  place.since = Cost::zero();
  place.expected = 0;
}

/// Before a block's jump, which `place` has passed, unless one is there already.
void Region::probeAtEnd(Place &place, BasicBlock &block) {
  Instruction *end = block.getTerminator();
  if (none_of(plan_.sites, [&](const Site &site) { return site.before == end; }))
    probe(place, end);
  place.through = Cost::none();
  place.expected = 0;
  place.since = jump;
}

/// Where an inner loop begins: each of its iterations charges its part of what is before the loop.
void Region::probeAtStart(Place &place, BasicBlock &header) {
  double executed = double(analyses_.frequencies.getBlockFreq(&header).getFrequency()) + 1e-9;
  place.expected *= std::min(1.0, place.weight / executed);
  probe(place, &*header.getFirstInsertionPt());
}

PathBounds Region::pathsOf(const Instruction &instruction, Cost cost) const {
  const auto *call = dyn_cast<CallBase>(&instruction);
  if (!call)
    return PathBounds::plain(cost, walks_.contains(&instruction) ? cost + walked : cost);
  PathBounds paths = calls_.of(*call);
  paths.through = paths.through + cost;
  return loop_ && (!calls_.isSimple(*call) || !call->doesNotThrow()) ? lengthened(paths, moved, moved) : paths;
}

/// Whether going on through `paths` would lead above the bound, and a probe would help.
bool Region::needsProbe(const Place &place, const PathBounds &paths) const {
  bool takesTime = longer(paths.prefix, paths.through) > Cost::zero();
  Cost ahead = longer(paths.prefix, paths.through + probeCost + (loop_ ? leaveLoop : Cost::zero()));
  return takesTime && distance(place) > Cost::zero() && distance(place) + ahead > limits_.bound;
}

void Region::pass(Place &place, const PathBounds &paths) {
  if (!paths.prefix.isNone() && !place.through.isNone())
    prefix = longer(prefix, place.through + paths.prefix);
  place.since = longer(place.since + paths.through, paths.suffix);
  place.through = place.through + paths.through;
  place.expected += double(paths.expected.inUnits());
}

/// Whether a probe may stand before `instruction`.
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
  bool beyond = false; // after a jump: nothing may stand between it and its return
  for (Instruction &instruction : block) {
    Instruction *before = !forbidden && mayPrecede(instruction) ? &instruction : nullptr;
    PathBounds paths = pathsOf(instruction, walk.add(instruction));
    if (beyond)
      break; // the return is the callee's
    beyond = &instruction == last;
    // Nothing can stand after it that would end the path across the callee, which may be all that a function is allowed.
    bool isFirst = !plan_.sites.empty() && plan_.sites.back().before == &instruction;
    bool isTooLate = beyond && !isFirst &&
                     (place.since + paths.through > limits_.call || place.through + paths.through > limits_.across);
    if (before && (isTooLate || needsProbe(place, paths))) {
      probe(place, before);
      walk.restart();
      paths = pathsOf(instruction, walk.add(instruction));
    }
    pass(place, paths);
    if (!paths.prefix.isNone())
      walk.restart(); // the path may begin in the callee
    if (beginsHandler(instruction) && !forbidden && !beyond && !instruction.isTerminator() && !block.getParent()->hasOptSize()) {
      // What it took to get here is charged here: where paths join, it would be lost among those that are executed more often.
      probe(place, instruction.getNextNode());
      walk.restart();
    }
  }
  if (any_of(endsEntangled_, [&](const Edge &edge) { return edge.first == &block; }))
    probeAtEnd(place, block);
  finish(*block.getTerminator(), place);
}

/// The path out of the function is part of its callers' paths.
void Region::finish(Instruction &terminator, Place &place) {
  if (!isa<ReturnInst>(terminator))
    return; // who is unwound to starts anew
  BasicBlock &block = *terminator.getParent();
  if ((place.since > limits_.call || place.through > limits_.across) && mayEndWithProbe(block))
    probeAtEnd(place, block);
  gather(exits, place, double(analyses_.frequencies.getBlockFreq(&block).getFrequency()) + 1e-9);
}

/// Has the probes of `inner` charge what nobody has before it: `place.expected` for each time that it is entered.
void Region::chargeWithin(const Loop &inner, Place &place) {
  auto isWithin = [&](const Site &site) { return inner.contains(site.before->getParent()); };
  double executed = 0;
  for (const Site &site : plan_.sites)
    if (isWithin(site))
      executed += double(analyses_.frequencies.getBlockFreq(site.before->getParent()).getFrequency());
  if (executed <= 0)
    return; // those of callees, which charge for themselves alone
  for (Site &site : plan_.sites)
    if (isWithin(site))
      site.expected = site.expected + Cost::units(int64_t(place.expected * place.weight / executed));
  place.expected = 0;
}

/// Passes an inner loop, whose header is `node`.
void Region::passLoop(BasicBlock *node, const Loop &inner, Place &place) {
  PathBounds paths = pathsAcross(inner);
  if (entangled_.contains(node))
    probeAtStart(place, *node);
  if (!paths.prefix.isNone() && calls_.does(Step::DeferredChecks) && mayHaveSlack(inner, analyses_.scev))
    plan_.loopsWithSlack.push_back(inner.getHeader());
  if (needsProbe(place, paths)) {
    if (BasicBlock *preheader = inner.getLoopPreheader(); preheader && !isForbidden(*preheader))
      probeAtEnd(place, *preheader);
    else if (!preheader)
      probeInFront(node, paths, place);
  }
  if (isCut_ && alwaysProbes(node))
    chargeWithin(inner, place);
  pass(place, paths);
}

/// Before an inner loop that has no block of its own there, for jumps by an address lead to it: at the ends of blocks that do;
/// where such a block is another loop's, at the loop's beginning, in each iteration.
void Region::probeInFront(BasicBlock *node, const PathBounds &paths, Place &place) {
  Place behind;
  for (Path &path : paths_[node]) {
    if (path.from && analyses_.loops.getLoopFor(path.from) == loop_ && mayEndWithProbe(*path.from))
      probeAtEnd(path.place, *path.from);
    gather(behind, path.place, path.weight);
  }
  if (behind.weight > 0)
    behind.expected /= behind.weight;
  place = behind;
  if (needsProbe(place, paths) && !isForbidden(*node))
    probeAtStart(place, *node);
}

void Region::follow(BasicBlock &entry, double start) {
  entry_ = &entry;
  SmallVector<BasicBlock *, 32> nodes;
  order(&entry, nodes);
  startBehindProbes(nodes);
  for (auto [last, entered] : endsEntangled_)
    paths_[entered].push_back({last, {Cost::none(), jump, 0, 1}, weightOf(last, entered)});
  paths_[&entry].push_back({nullptr, {Cost::zero(), Cost::none(), start, 1}, 1});
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

} // namespace caudal
