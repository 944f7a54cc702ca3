// Decides where the probes of a function go. Bounded.cpp calls it for each function once its component is prepared, callees first;
// PlanRecursive.cpp calls it several times for functions that call each other in circles. It changes no function. See Plan.h.
#include "plan/Plan.h"
#include "Compat.h"
#include "plan/Region.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/CFG.h"

using namespace llvm;

namespace caudal {

namespace {

/// Plans a function's loops, each after the loops in it.
class LoopPlanner {
public:
  LoopPlanner(Plan &plan, const Analyses &analyses, const Calls &calls, const Limits &limits, CostModel &costs,
              const Walks &walks)
      : plan_(plan), analyses_(analyses), calls_(calls), limits_(limits), costs_(costs), walks_(walks) {}

  DenseMap<const Loop *, PathBounds> paths;

  void run(Loop &loop);

private:
  Region follow(Loop &loop, double start);
  Region followAround(Loop &loop, double uncharged);
  PathBounds around(const Region &body, Cost before, Cost across) const;
  PathBounds each(Loop &loop, Region &body, Cost iteration);
  bool isCountProven(const Loop &loop, bool probed) const;
  double meanTrips(const Loop &loop) const;
  Cost meanIteration(const Loop &loop, Cost recurrence) const;

  Plan &plan_;
  const Analyses &analyses_;
  const Calls &calls_;
  const Limits &limits_;
  CostModel &costs_;
  const Walks &walks_;
};

/// Where a probe in `latch` goes: before its jump, and of the comparison that the jump waits for, whose flags a probe
/// would destroy.
static Instruction *latchSite(BasicBlock &latch) {
  Instruction *site = latch.getTerminator();
  if (Instruction *previous = site->getPrevNode(); previous && isa<CmpInst>(previous) && previous->hasOneUse())
    site = previous;
  return site;
}

/// Whether the loop's header chooses among many paths, as interpreters do, with nothing but a jump. Code generation copies such
/// a header to the end of each path, which branch prediction lives on; a probe in the header would forbid that.
static bool dispatches(const BasicBlock &header) {
  static constexpr unsigned many = 4;
  const Instruction *end = header.getTerminator();
  const auto *choice = dyn_cast<SwitchInst>(end);
  return (isa<IndirectBrInst>(end) || (choice && isDefaultUnreachable(*choice))) && end->getNumSuccessors() >= many;
}

/// Whether `latch` only joins paths: in finished code there is no such block, each path jumps to the header. With a probe in it,
/// each would jump twice.
static bool isJoin(const BasicBlock &latch) {
  return isa<BranchInst>(*latch.getFirstNonPHIOrDbg()) && latch.hasNPredecessorsOrMore(2);
}

/// The longest that a shared latch may take after the probes of the paths to it.
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
    // What is copied with the header must not have a probe either: the latch that all paths share is before it.
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

/// A loop's paths, where a path of `before` may lie between its entry and its last iteration.
PathBounds LoopPlanner::around(const Region &body, Cost before, Cost across) const {
  PathBounds result;
  result.through = across + body.exits.through;
  result.prefix = before + body.prefix;
  result.suffix = longer(body.exits.since, body.latches.since + before + body.exits.through);
  result.expected = Cost::units(int64_t(body.exits.expected));
  return result;
}

Region LoopPlanner::follow(Loop &loop, double start) {
  Region body(plan_, analyses_, calls_, limits_, costs_, paths, walks_, &loop, limits_.loop);
  body.follow(*loop.getHeader(), start);
  return body;
}

/// Plans the body so that its probes charge for what is after the last one of the iteration before, `uncharged` on average, too.
Region LoopPlanner::followAround(Loop &loop, double uncharged) {
  double trips = meanTrips(loop);
  return follow(loop, uncharged * (trips - 1) / trips);
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
    sum += entered / header * double(paths.lookup(inner).expected.inUnits());
  }
  return longer(Cost::units(int64_t(sum)), recurrence);
}

/// Whether the most iterations are known for sure. The languages let a compiler take a loop without effects to end, and
/// ScalarEvolution knows counts by that, but a probe is an effect: with one in the loop, the count is not known any more.
bool LoopPlanner::isCountProven(const Loop &loop, bool probed) const {
  return !probed || !analyses_.scev.loopIsFiniteByAssumption(&loop) || analyses_.scev.getSmallConstantTripCount(&loop) != 0;
}

void LoopPlanner::run(Loop &loop) {
  size_t firstWithin = plan_.sites.size();
  for (Loop *inner : loop.getSubLoops())
    run(*inner);
  const std::vector<Site> within(plan_.sites.begin() + firstWithin, plan_.sites.end());
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
    llvm::copy(within, plan_.sites.begin() + firstWithin); // those that cut a tangle charge for it once
    // Its first path in may be its last.
    paths[&loop] = around(followAround(loop, body.latches.expected), Cost::zero(), Cost::zero());
    return;
  }
  bool hasProbes = probed || plan_.sites.size() > firstWithin;
  if (!iteration.isNone() && facts.mostTrips != 0 && isCountProven(loop, hasProbes)) {
    Cost before = iteration * int64_t(facts.mostTrips - 1);
    Cost longest = before + longer(body.prefix, longer(body.exits.through, iteration) + probeCost);
    // What is around it sees how long it is, so it may take most of the bound.
    if (longest <= Cost::units(limits_.bound.inUnits() * 3 / 4) && again + longest <= limits_.bound) {
      plan_.loops.push_back({&loop, LoopKind::Short, facts.mostTrips});
      double trips = std::min(meanTrips(loop), double(facts.mostTrips));
      paths[&loop] = around(body, before, before);
      double uncharged = probed ? body.exits.expected + body.latches.expected * (trips - 1) : mean * trips;
      paths[&loop].expected = Cost::units(int64_t(uncharged));
      return;
    }
  }
  paths[&loop] = each(loop, body, iteration);
}

/// A probe for each iteration.
PathBounds LoopPlanner::each(Loop &loop, Region &body, Cost iteration) {
  plan_.loops.push_back({&loop, LoopKind::Each, 1});
  SmallVector<Instruction *, 4> sites = eachSites(loop, analyses_.loops, costs_);
  bool atHeader = sites.empty();
  if (atHeader)
    sites.push_back(&*loop.getHeader()->getFirstInsertionPt());
  Cost longest = longer(body.latches.through, body.latches.since);
  for (Instruction *site : sites)
    plan_.sites.push_back({site, Cost::units(int64_t(body.latches.expected)), longest});
  PathBounds result;
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
  // The latch's probe stands before its jump: who leaves there has met one just before.
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
  Region body(result, analyses, calls, limits, costs, loops.paths, walks, nullptr, limits.call);
  body.follow(function.getEntryBlock(), 0);
  result.paths.prefix = body.prefix;
  result.paths.through = body.exits.through;
  result.paths.suffix = body.exits.since;
  result.paths.expected = Cost::units(int64_t(body.exits.expected));
  for (const Site &site : result.sites)
    result.executed += analyses.frequencyOf(*site.before->getParent());
  return result;
}

} // namespace caudal
