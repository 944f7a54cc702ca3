// Checks the finished code: finds its longest paths without probes anew and compares them with the bound. Called by
// Bounded.cpp, with the options `verify` and `report`. See Verify.h.
#include "verify/Verify.h"
#include "analysis/ProbesInCode.h"
#include "analysis/Jumps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace caudal {

namespace {

/// Longest paths to a place: from the region's entry without a probe, and from the last probe.
struct Reach {
  Cost through, since;
  bool raise(const Reach &other) {
    bool raised = through < other.through || since < other.since;
    through = longer(through, other.through);
    since = longer(since, other.since);
    return raised;
  }
};

/// The loop is left where a value reaches an end that is chosen before it: most iterations; 0: it is not.
uint64_t nearerEndTrips(const Loop &loop, ScalarEvolution &scev) {
  BasicBlock *latch = loop.getLoopLatch();
  auto *branch = latch ? dyn_cast<BranchInst>(latch->getTerminator()) : nullptr;
  Value *tested, *end;
  if (!branch || !branch->isConditional() || branch->getSuccessor(1) != loop.getHeader() ||
      !match(branch->getCondition(), m_SpecificICmp(CmpInst::ICMP_EQ, m_Value(tested), m_Value(end))))
    return 0;
  const auto *recurrence = dyn_cast<SCEVAddRecExpr>(scev.getSCEV(tested));
  const auto *step = recurrence && recurrence->getLoop() == &loop && recurrence->isAffine()
                         ? dyn_cast<SCEVConstant>(recurrence->getStepRecurrence(scev))
                         : nullptr;
  if (!step || !loop.isLoopInvariant(end))
    return 0;
  const SCEV *from = recurrence->getStart(), *to = scev.getSCEV(end);
  if (step->getAPInt().isNegative())
    std::swap(from, to);
  APInt width = step->getAPInt().abs().zextOrTrunc(64);
  const SCEV *distance = scev.getMinusSCEV(to, from);
  if (isa<SCEVCouldNotCompute>(distance))
    return 0;
  return scev.getUnsignedRangeMax(distance).zextOrTrunc(64).udiv(width).getLimitedValue(1 << 30) + 1;
}

class Verifier {
public:
  Verifier(Function &function, const LoopInfo &loops, ScalarEvolution &scev, const TargetTransformInfo &tti,
           const Calls &calls, const Limits &limits, Verified &result)
      : function_(function), loops_(loops), scev_(scev), calls_(calls), limits_(limits), costs_(tti, loops),
        result_(result) {}

  void run();

private:
  struct Region {
    const Loop *loop;
    Cost entered;             ///< how long a path may be where it enters
    Cost prefix;
    Reach latches, exits;
    MapVector<const BasicBlock *, Reach> reach;
  };
  const Loop *childAt(const Region &region, const BasicBlock *block) const;
  void relax(Region &region, const BasicBlock *entry);
  Reach across(Region &region, const BasicBlock *block, Reach reach, bool report);
  Reach acrossLoop(Region &region, const Loop &loop, Reach reach, bool report);
  void flow(Region &region, const BasicBlock *from, const BasicBlock *to, const Reach &reach, bool &changed);
  void step(Region &region, Reach &reach, const PathBounds &paths, const Instruction &at, bool report);
  void complain(const Instruction &at, Cost longest, const Twine &what);
  PathBounds measure(const Loop &loop);

  Function &function_;
  const LoopInfo &loops_;
  ScalarEvolution &scev_;
  const Calls &calls_;
  const Limits &limits_;
  CostModel costs_;
  Verified &result_;
  DenseMap<const Loop *, PathBounds> measured_;
};

/// Blocks mostly have no names, but numbers.
static std::string blockName(const BasicBlock &block) {
  std::string name;
  raw_string_ostream text(name);
  block.printAsOperand(text, /*PrintType=*/false);
  return name;
}

void Verifier::complain(const Instruction &at, Cost longest, const Twine &what) {
  std::string place = blockName(*at.getParent());
  if (DebugLoc location = at.getDebugLoc())
    place += " (line " + std::to_string(location.getLine()) + ")";
  result_.violations.push_back({place, longest, what.str()});
}

const Loop *Verifier::childAt(const Region &region, const BasicBlock *block) const {
  const Loop *of = loops_.getLoopFor(block);
  if (of == region.loop)
    return nullptr;
  while (of->getParentLoop() != region.loop)
    of = of->getParentLoop();
  return of;
}

void Verifier::step(Region &region, Reach &reach, const PathBounds &paths, const Instruction &at, bool report) {
  if (report) {
    if (!paths.prefix.isNone() && !reach.through.isNone())
      region.prefix = longer(region.prefix, reach.through + paths.prefix);
    Cost ahead = longer(paths.prefix, paths.through);
    Cost longest = longer(reach.through + region.entered, reach.since) + ahead;
    result_.longest = longer(result_.longest, longest);
    if (longest > limits_.bound)
      complain(at, longest, "a path of " + Twine(longest.inCycles()) + " cycles without a probe");
  }
  reach.since = longer(reach.since + paths.through, paths.suffix);
  reach.through = reach.through + paths.through;
}

/// The state at the end of `block`, given the state at its begin.
Reach Verifier::across(Region &region, const BasicBlock *block, Reach reach, bool report) {
  if (block->isEHPad()) {
    // The unwinder has run, which is assumed to keep to a callee's part.
    if (report)
      region.prefix = longer(region.prefix, reach.through);
    reach = {Cost::none(), calls_.part()};
  }
  CostModel::Walk walk(costs_, *block);
  for (const Instruction &instruction : *block) {
    if (isProbe(instruction)) {
      step(region, reach, PathBounds::plain(probeCost, probeCost), instruction, report);
      if (report && !reach.through.isNone())
        region.prefix = longer(region.prefix, reach.through);
      reach = {Cost::none(), Cost::zero()};
      walk.restart();
      continue;
    }
    Cost cost = walk.add(instruction);
    if (const auto *call = dyn_cast<CallBase>(&instruction)) {
      PathBounds paths = calls_.of(*call);
      paths.through = paths.through + cost;
      step(region, reach, paths, instruction, report);
      if (const auto *last = dyn_cast<CallInst>(call); last && isJump(*last))
        break; // the return is the callee's
      if (!paths.prefix.isNone())
        walk.restart(); // the path may begin in the callee
    } else if (cost > Cost::zero()) {
      step(region, reach, PathBounds::plain(cost, cost), instruction, report);
    }
  }
  if (report && isa<ReturnInst>(block->getTerminator())) {
    region.exits.raise(reach);
    if (reach.since > limits_.call || reach.through > limits_.across)
      complain(*block->getTerminator(), longer(reach.through, reach.since),
               "the path to the return is " + Twine(longer(reach.through, reach.since).inCycles()) + " cycles");
  }
  return reach;
}

Reach Verifier::acrossLoop(Region &region, const Loop &loop, Reach reach, bool report) {
  const PathBounds &paths = measured_[&loop];
  step(region, reach, paths, *loop.getHeader()->getFirstNonPHIOrDbg(), report);
  return reach;
}

void Verifier::flow(Region &region, const BasicBlock *from, const BasicBlock *to, const Reach &reach, bool &changed) {
  if (region.loop && to == region.loop->getHeader()) {
    region.latches.raise(reach);
  } else if (region.loop && !region.loop->contains(to)) {
    region.exits.raise(reach);
  } else {
    const Loop *child = childAt(region, to);
    changed |= region.reach[child ? child->getHeader() : to].raise(reach);
  }
}

/// Raises what reaches each node until nothing changes; more rounds than nodes: a cycle that no loop's header breaks.
void Verifier::relax(Region &region, const BasicBlock *entry) {
  size_t nodes = region.loop ? region.loop->getNumBlocks() : function_.size();
  region.reach[entry].raise({Cost::zero(), Cost::none()});
  bool changed = true, last = false;
  for (size_t round = 0; changed || last; ++round) {
    changed = false;
    for (size_t i = 0; i < region.reach.size(); ++i) {
      auto [block, reach] = *(region.reach.begin() + ptrdiff_t(i));
      const Loop *child = childAt(region, block);
      Reach out = child ? acrossLoop(region, *child, reach, last) : across(region, block, reach, last);
      SmallVector<Loop::Edge, 8> edges;
      if (child)
        child->getExitEdges(edges);
      else
        for (const BasicBlock *successor : successors(block))
          edges.emplace_back(const_cast<BasicBlock *>(block), const_cast<BasicBlock *>(successor));
      for (auto [from, to] : edges)
        flow(region, from, to, out, changed);
    }
    if (last)
      return;
    if (round > nodes + 1) {
      complain(*entry->getFirstNonPHIOrDbg(), Cost::zero(), "a cycle without a probe, entered at several places");
      return;
    }
    last = !changed;
  }
}

PathBounds Verifier::measure(const Loop &loop) {
  for (const Loop *inner : loop.getSubLoops())
    measured_[inner] = measure(*inner);
  // How a path is when it enters is the surrounding region's to add.
  Region body{&loop, Cost::zero(), Cost::none(), {}, {}, {}};
  relax(body, loop.getHeader());
  Cost before = Cost::zero();
  Cost across = Cost::zero();
  const Instruction &at = *loop.getHeader()->getFirstNonPHIOrDbg();
  if (!body.latches.through.isNone()) {
    uint64_t trips = scev_.getSmallConstantMaxTripCount(&loop);
    if (uint64_t nearer = nearerEndTrips(loop, scev_); nearer && (!trips || nearer < trips))
      trips = nearer;
    Cost iteration = longer(body.latches.through, costs_.recurrence(loop));
    if (!trips)
      complain(at, iteration, "a loop that can go around any number of times without a probe");
    else
      before = across = iteration * int64_t(trips - 1);
    if (Cost longest = before + iteration; longest > limits_.bound)
      complain(at, longest, "a loop that goes around for " + Twine(longest.inCycles()) + " cycles without a probe");
  }
  PathBounds paths;
  paths.through = across + body.exits.through;
  paths.prefix = before + body.prefix;
  paths.suffix = longer(body.exits.since, body.latches.since + before + body.exits.through);
  Cost wrapped = longer(body.latches.since + before + body.prefix, body.latches.since + before + body.exits.through);
  if (wrapped > limits_.bound)
    complain(at, wrapped, "a path of " + Twine(wrapped.inCycles()) + " cycles from one iteration to the next");
  result_.longest = longer(result_.longest, wrapped);
  return paths;
}

void Verifier::run() {
  for (const Loop *loop : loops_)
    measured_[loop] = measure(*loop);
  Region body{nullptr, Cost::units(limits_.bound.inUnits() - limits_.call.inUnits()), Cost::none(), {}, {}, {}};
  relax(body, &function_.getEntryBlock());
  if (body.prefix > limits_.call)
    complain(*function_.getEntryBlock().getFirstNonPHIOrDbg(), body.prefix,
             "the path to the first probe is " + Twine(body.prefix.inCycles()) + " cycles");
  result_.paths = {body.prefix, body.exits.through, body.exits.since, Cost::zero()};
}

} // namespace

Verified verify(Function &function, const TargetTransformInfo &tti, TargetLibraryInfo &library, const Calls &calls,
                const Limits &limits) {
  Verified result;
  DominatorTree dominators(function);
  LoopInfo loops(dominators);
  AssumptionCache assumptions(function);
  ScalarEvolution scev(function, library, assumptions, dominators, loops);
  Verifier(function, loops, scev, tti, calls, limits, result).run();
  return result;
}

} // namespace caudal
