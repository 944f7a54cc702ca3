// Estimates in cycles what code takes. All decisions of the planner rest on these estimates. Called by the planner, the
// verifier, and whatever changes loops or recursion. See Cost.h.
#include "analysis/Cost.h"
#include "Compat.h"
#include "analysis/ProbesInCode.h"
#include "analysis/Jumps.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace caudal {

// Sixteenths of a cycle that one unit of TargetTransformInfo's reciprocal throughput stands for: processors that this
// is for issue four to six instructions a cycle, and their clock runs above that of the time-stamp counter.
static constexpr int64_t issueUnits = 3;

static bool isDivision(unsigned opcode) {
  return opcode == Instruction::SDiv || opcode == Instruction::UDiv || opcode == Instruction::SRem ||
         opcode == Instruction::URem;
}

bool callsNothing(const Instruction &instruction) {
  if (!isa<CallBase>(instruction))
    return true;
  const auto *intrinsic = dyn_cast<IntrinsicInst>(&instruction);
  return intrinsic && (intrinsic->isAssumeLikeIntrinsic() || !intrinsic->mayReadOrWriteMemory());
}

static unsigned lanes(const Type *type) {
  const auto *vector = dyn_cast<FixedVectorType>(type);
  return vector ? vector->getNumElements() : 1;
}

/// Cycles of a division, which no pipeline hides.
static int64_t divisionCycles(const Instruction &instruction) {
  if (isa<Constant>(instruction.getOperand(1)))
    return 3; // a multiplication and shifts
  int64_t scalar = instruction.getType()->getScalarSizeInBits() > 32 ? 10 : 6;
  return scalar * lanes(instruction.getType());
}

/// Whether `instruction` only names a thread-local variable or a part of one, which is in the address of who uses it.
static bool isPartOfAddress(const Instruction &instruction) {
  const auto *part = dyn_cast<GetElementPtrInst>(&instruction);
  const auto *intrinsic = dyn_cast<IntrinsicInst>(part ? part->getPointerOperand() : &instruction);
  if (!intrinsic || intrinsic->getIntrinsicID() != Intrinsic::threadlocal_address)
    return false;
  // Others may take a call.
  const auto *variable = cast<GlobalValue>(intrinsic->getOperand(0));
  return variable->getThreadLocalMode() >= GlobalValue::InitialExecTLSModel;
}

Cost CostModel::issue(const Instruction &instruction) const {
  unsigned opcode = instruction.getOpcode();
  if (isa<PHINode>(instruction) || isa<AllocaInst>(instruction) || instruction.isDebugOrPseudoInst() ||
      instruction.isLifetimeStartOrEnd() || isPartOfAddress(instruction))
    return Cost::zero();
  if (isDivision(opcode))
    return Cost::cycles(divisionCycles(instruction));
  if (opcode == Instruction::FDiv || opcode == Instruction::FRem)
    return Cost::cycles(opcode == Instruction::FRem ? 40 : 4 + lanes(instruction.getType()) / 4);
  if (isa<AtomicRMWInst>(instruction) || isa<AtomicCmpXchgInst>(instruction) || isa<FenceInst>(instruction))
    return Cost::cycles(15);
  if (isa<CallBase>(instruction) && !isa<IntrinsicInst>(instruction))
    return Cost::zero();
  if (instruction.isTerminator())
    return Cost::units(instruction.getNumSuccessors() > 1 ? 2 * issueUnits : issueUnits);
  InstructionCost cost = tti_.getInstructionCost(&instruction, TargetTransformInfo::TCK_RecipThroughput);
  if (!cost.isValid())
    return Cost::cycles(4);
  return Cost::units(std::clamp<int64_t>(valueOf(cost), 0, 1000) * issueUnits);
}

/// Cycles from an instruction's operands to its result.
static int64_t latencyCycles(const Instruction &instruction) {
  if (isa<PHINode>(instruction) || isa<AllocaInst>(instruction) || instruction.isDebugOrPseudoInst() ||
      isPartOfAddress(instruction))
    return 0;
  if (isProbe(instruction))
    return 0; // nobody waits for what is left
  if (const auto *call = dyn_cast<CallInst>(&instruction); call && isJump(*call))
    return 0; // a jump, whose answer is the caller's
  if (isa<LoadInst>(instruction))
    return 4;
  if (isDivision(instruction.getOpcode()))
    return divisionCycles(instruction) + 4;
  switch (instruction.getOpcode()) {
  case Instruction::FAdd:
  case Instruction::FSub:
  case Instruction::FMul:
    return 3;
  case Instruction::FDiv:
    return 10;
  case Instruction::Mul:
    return 3;
  case Instruction::GetElementPtr:
  case Instruction::BitCast:
  case Instruction::Trunc:
  case Instruction::ZExt:
  case Instruction::Store:
    return 0; // folded into an address, or free; a store's result is nobody's operand
  case Instruction::SIToFP:
  case Instruction::UIToFP:
  case Instruction::FPToSI:
  case Instruction::FPToUI:
    return 4;
  default:
    return 1;
  }
}

Cost CostModel::Walk::add(const Instruction &instruction) {
  Cost before = soFar();
  issued_ = issued_ + costs_.issue(instruction);
  if (!inLoop_) {
    Cost start = Cost::zero();
    for (const Use &operand : instruction.operands())
      if (const auto *from = dyn_cast<Instruction>(operand))
        if (auto found = ready_.find(from); found != ready_.end())
          start = longer(start, found->second);
    Cost end = start + Cost::cycles(latencyCycles(instruction));
    ready_[&instruction] = end;
    chain_ = longer(chain_, end);
  }
  return Cost::units(soFar().inUnits() - before.inUnits());
}

/// Longest chain, in cycles, from `target` (a header's phi) to `value` within `loop`; -1: there is none. What a probe computes begins
/// anew: the chain through it is not on the paths that meet none.
static int64_t chainTo(const Value *value, const PHINode *target, const Loop &loop,
                       SmallDenseMap<const Value *, int64_t, 32> &seen, unsigned depth) {
  if (value == target)
    return 0;
  const auto *instruction = dyn_cast<Instruction>(value);
  if (!instruction || !loop.contains(instruction) || depth == 0 || isProbe(*instruction))
    return -1;
  if (isa<PHINode>(instruction) && instruction->getParent() == loop.getHeader())
    return -1;
  auto [entry, fresh] = seen.try_emplace(value, -1);
  if (!fresh)
    return entry->second;
  int64_t longest = -1;
  for (const Use &operand : instruction->operands())
    longest = std::max(longest, chainTo(operand, target, loop, seen, depth - 1));
  if (longest >= 0)
    longest += latencyCycles(*instruction);
  return seen[value] = longest;
}

Cost CostModel::recurrence(const Loop &loop) const {
  static constexpr unsigned deepest = 64;
  int64_t longest = 0;
  SmallVector<BasicBlock *, 4> latches;
  loop.getLoopLatches(latches);
  for (const PHINode &phi : loop.getHeader()->phis()) {
    SmallDenseMap<const Value *, int64_t, 32> seen;
    for (const BasicBlock *latch : latches)
      longest = std::max(longest, chainTo(phi.getIncomingValueForBlock(latch), &phi, loop, seen, deepest));
  }
  return Cost::cycles(longest);
}

using Instructions = SmallPtrSet<const Instruction *, 16>;

/// The instructions of `loop` that use `used` in the same iteration, directly or not.
static void addUsers(const Instruction &used, const Loop &loop, Instructions &users) {
  SmallVector<const Instruction *, 16> work{&used};
  while (!work.empty())
    for (const User *user : work.pop_back_val()->users()) {
      const auto *instruction = cast<Instruction>(user);
      bool isOfNext = isa<PHINode>(instruction) && instruction->getParent() == loop.getHeader();
      if (!isOfNext && loop.contains(instruction) && users.insert(instruction).second)
        work.push_back(instruction);
    }
}

/// A place that a loop carries on, and what depends on it within an iteration.
struct Position {
  Position(const PHINode &phi, const Loop &loop) : phi(phi) {
    addUsers(phi, loop, users);
    for (const Instruction *user : users)
      if (isa<LoadInst>(user)) {
        loaded.insert(user);
        addUsers(*user, loop, loaded);
      }
  }

  const PHINode &phi;
  Instructions users;  ///< of it
  Instructions loaded; ///< what depends on what was loaded there

  bool isLoaded(const Value *value) const {
    const auto *instruction = dyn_cast<Instruction>(value);
    return instruction && loaded.contains(instruction);
  }
  bool isComputed(const Value *value) const {
    const auto *instruction = dyn_cast<Instruction>(value);
    return instruction && (instruction == &phi || users.contains(instruction)) && !isLoaded(value);
  }
  /// Whether `instruction` goes as far from the place as was loaded there: close by, most of the time.
  bool isNear(const Instruction &instruction) const {
    bool adds = isa<BinaryOperator>(instruction) || isa<GetElementPtrInst>(instruction);
    return adds && any_of(instruction.operands(), [&](const Value *operand) { return isComputed(operand); });
  }
};

void CostModel::addWalks(const Loop &loop, SmallPtrSetImpl<const Instruction *> &loads) const {
  SmallVector<BasicBlock *, 4> latches;
  loop.getLoopLatches(latches);
  for (const PHINode &phi : loop.getHeader()->phis()) {
    if (!phi.getType()->isIntOrPtrTy())
      continue;
    Position position(phi, loop);
    Instructions seen;
    SmallVector<std::pair<const Instruction *, bool>, 16> work;
    auto visit = [&](const Value *value, bool isNext) {
      if (position.isLoaded(value) && seen.insert(cast<Instruction>(value)).second)
        work.push_back({cast<Instruction>(value), isNext});
    };
    for (const BasicBlock *latch : latches)
      visit(phi.getIncomingValueForBlock(latch), true);
    while (!work.empty()) {
      auto [instruction, isNext] = work.pop_back_val();
      // What is compared only chooses one of two places.
      if (isa<CmpInst>(instruction) || (isNext && position.isNear(*instruction)))
        continue;
      // An inner loop's are walked along there, or not at all.
      if (isa<LoadInst>(instruction) && loops_.getLoopFor(instruction->getParent()) == &loop)
        loads.insert(instruction);
      bool chooses = isa<PHINode>(instruction) || isa<SelectInst>(instruction);
      for (const Value *operand : instruction->operands())
        visit(operand, isNext && chooses);
    }
  }
}

} // namespace caudal
