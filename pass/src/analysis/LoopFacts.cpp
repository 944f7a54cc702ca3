// Finds out how often a loop runs at most, and by which value its iterations can be counted. Called by the planner (Plan.cpp),
// and by the files that change loops. See LoopFacts.h.
#include "analysis/LoopFacts.h"
#include "Compat.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace caudal {

/// `value` as an induction of `loop` with a constant step other than 0; null: it is none.
static const SCEVAddRecExpr *induction(Value *value, Loop &loop, ScalarEvolution &scev, int64_t &step) {
  if (!scev.isSCEVable(value->getType()) || scev.getTypeSizeInBits(value->getType()) < 8)
    return nullptr; // a strip's length (Plan.h) needs eight bits
  const auto *recurrence = dyn_cast<SCEVAddRecExpr>(scev.getSCEV(value));
  if (!recurrence || recurrence->getLoop() != &loop || !recurrence->isAffine())
    return nullptr;
  const auto *constant = dyn_cast<SCEVConstant>(recurrence->getStepRecurrence(scev));
  if (!constant || constant->getAPInt().getSignificantBits() > 32 || constant->isZero())
    return nullptr;
  step = constant->getAPInt().getSExtValue();
  return recurrence;
}

/// Whether `instruction` keeps the low bits of a number. That makes an induction only where the loop's count says that no others are
/// set, which nobody can see any more once the loop is cut.
static bool keepsLowBits(const Instruction &instruction) {
  return instruction.getOpcode() == Instruction::And || match(&instruction, m_ZExt(m_Trunc(m_Value())));
}

/// Gathers the instructions that make `value` from the header's phis; false: too many, or others than arithmetic.
static bool gatherParts(Value *value, const Loop &loop, SmallPtrSetImpl<const Instruction *> &parts) {
  static constexpr size_t most = 4;
  auto *instruction = dyn_cast<Instruction>(value);
  if (!instruction || !loop.contains(instruction))
    return true;
  if (isa<PHINode>(instruction))
    return instruction->getParent() == loop.getHeader();
  if (!isa<BinaryOperator, CastInst, GetElementPtrInst>(instruction) || instruction->isIntDivRem() || keepsLowBits(*instruction))
    return false;
  parts.insert(instruction);
  return parts.size() <= most &&
         all_of(instruction->operands(), [&](Value *operand) { return gatherParts(operand, loop, parts); });
}

/// Whether as many steps as the loop can have do not go around in numbers of type `width`.
static bool staysWithin(Type *width, const SCEV *backedges, int64_t step, ScalarEvolution &scev) {
  unsigned bits = unsigned(scev.getTypeSizeInBits(width));
  APInt most = scev.getUnsignedRangeMax(backedges).zext(2 * bits);
  return (most * APInt(2 * bits, uint64_t(std::abs(step)))).getActiveBits() <= bits;
}

/// The value with which the loop is left by the latch's `compare`, one side of which is `operand`, `backedges` steps behind the
/// first; null: the distance between them is not known to be a number.
static const SCEV *lastTested(Value *operand, const SCEVAddRecExpr &recurrence, const ICmpInst &compare, const SCEV *backedges,
                              const LoopFacts &facts, const Loop &loop, ScalarEvolution &scev) {
  Type *width = scev.getEffectiveSCEVType(recurrence.getType());
  if (scev.getTypeSizeInBits(backedges->getType()) > scev.getTypeSizeInBits(width))
    return nullptr;
  // The distance between first and last value must be a number: without it, steps may go around.
  if (std::abs(facts.step) != 1 && !recurrence.hasNoSelfWrap() && !staysWithin(width, backedges, facts.step, scev))
    return nullptr;
  // A loop that is left where two values are equal is left with the other value.
  bool leavesWhenTrue = !loop.contains(cast<BranchInst>(facts.latch->getTerminator())->getSuccessor(0));
  Value *other = compare.getOperand(compare.getOperand(0) == operand);
  if (compare.getPredicate() == (leavesWhenTrue ? CmpInst::ICMP_EQ : CmpInst::ICMP_NE) && loop.isLoopInvariant(other))
    return scev.getSCEV(other);
  const SCEV *steps = scev.getMulExpr(scev.getNoopOrZeroExtend(backedges, width),
                                      scev.getConstant(width, facts.step, /*isSigned=*/true));
  return scev.getAddExpr(recurrence.getStart(), steps);
}

/// Fills in the latch's own test, if it can be given a nearer end.
static bool findTest(Loop &loop, ScalarEvolution &scev, const TargetTransformInfo &tti, LoopFacts &facts) {
  static constexpr unsigned expansionBudget = 8;
  auto *branch = dyn_cast<BranchInst>(facts.latch->getTerminator());
  BasicBlock *preheader = loop.getLoopPreheader();
  if (!branch || !branch->isConditional() || !preheader || !loop.isLoopExiting(facts.latch))
    return false;
  auto *compare = dyn_cast<ICmpInst>(branch->getCondition());
  const SCEV *backedges = scev.getExitCount(&loop, facts.latch);
  if (!compare || !compare->hasOneUse() || !loop.contains(compare) || isa<SCEVCouldNotCompute>(backedges))
    return false;
  Instruction *at = preheader->getTerminator();
  SCEVExpander expander = expanderOf(scev, "caudal.count", /*closed=*/true);
  for (Value *operand : compare->operands()) {
    const SCEVAddRecExpr *recurrence = induction(operand, loop, scev, facts.step);
    if (!recurrence || !isPowerOf2_64(std::abs(facts.step)) || !isa<Instruction>(operand))
      continue;
    const SCEV *last = lastTested(operand, *recurrence, *compare, backedges, facts, loop, scev);
    if (!last || !expander.isSafeToExpandAt(last, at) ||
        expander.isHighCostExpansion({last}, &loop, expansionBudget, &tti, at))
      continue;
    facts.testedParts.clear();
    if (!gatherParts(operand, loop, facts.testedParts))
      continue;
    facts.tested = operand;
    facts.testedLast = last;
    return true;
  }
  return false;
}

static bool canSplit(Loop &loop, BasicBlock &latch) {
  if (!loop.getLoopPreheader() || !isa<BranchInst>(latch.getTerminator()) || loop.getHeader()->isEHPad())
    return false;
  for (Loop *inner : loop.getSubLoops())
    if (inner->contains(&latch))
      return false;
  // An indirectbr reaches the header by its address: nothing can be put in between.
  return isa<BranchInst>(loop.getLoopPreheader()->getTerminator()) && !loop.getHeader()->hasAddressTaken();
}

LoopFacts LoopFacts::of(Loop &loop, ScalarEvolution &scev, const TargetTransformInfo &tti) {
  LoopFacts facts;
  facts.mostTrips = scev.getSmallConstantMaxTripCount(&loop);
  facts.latch = loop.getLoopLatch();
  if (!facts.latch || !canSplit(loop, *facts.latch))
    return facts;
  // A loop that can be left elsewhere is mostly left early.
  facts.isCounted = loop.getExitingBlock() && findTest(loop, scev, tti, facts);
  return facts;
}

bool takesSteps(const Value &value, const Loop &loop, ScalarEvolution &scev) {
  if (!scev.isSCEVable(value.getType()))
    return false;
  const auto *steps = dyn_cast<SCEVAddRecExpr>(scev.getSCEV(const_cast<Value *>(&value)));
  return steps && steps->getLoop() == &loop;
}

/// Whether anything that `loop` loads is part of `value`; `bytes`: whether a byte is.
static bool isLoaded(const Value *value, const Loop &loop, bool bytes = false) {
  SmallPtrSet<const Instruction *, 16> parts;
  SmallVector<const Value *, 16> left = {value};
  while (!left.empty()) {
    const auto *part = dyn_cast<Instruction>(left.pop_back_val());
    if (!part || !loop.contains(part) || !parts.insert(part).second)
      continue;
    if (part->mayReadFromMemory() && (!bytes || part->getType()->isIntegerTy(8)))
      return true;
    append_range(left, part->operand_values());
  }
  return false;
}

/// Whether `condition` compares, with anything, what the loop changes by itself from one iteration to the next.
static bool isCounting(const Value *condition, const Loop &loop) {
  const auto *instruction = dyn_cast<Instruction>(condition);
  if (!instruction || !loop.contains(instruction))
    return false;
  auto changes = [&](const Value *side) { return !loop.isLoopInvariant(side) && !isLoaded(side, loop); };
  if (isa<CmpInst>(instruction))
    return any_of(instruction->operands(), changes);
  return match(instruction, m_CombineOr(m_LogicalAnd(), m_LogicalOr())) &&
         any_of(instruction->operands(), [&](const Value *side) { return isCounting(side, loop); });
}

bool isSearch(const Loop &loop) {
  SmallVector<BasicBlock *, 4> leaving;
  loop.getExitingBlocks(leaving);
  bool isEndedByLoads = false;
  for (const BasicBlock *block : leaving) {
    const Instruction *end = block->getTerminator();
    const auto *branch = dyn_cast<BranchInst>(end);
    if (isLoaded(end, loop, /*bytes=*/true) || (branch && isCounting(branch->getCondition(), loop)))
      return false;
    isEndedByLoads |= isLoaded(end, loop);
  }
  return isEndedByLoads;
}

} // namespace caudal
