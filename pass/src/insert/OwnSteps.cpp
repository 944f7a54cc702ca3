// Keeps LLVM's strength reduction from making loops with probes slower. Bounded.cpp calls it once for each function of the module, as
// its last step, after the verifier. It changes the function. See OwnSteps.h.
#include "insert/OwnSteps.h"
#include "Compat.h"
#include "analysis/LoopFacts.h"
#include "analysis/ProbesInCode.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace caudal {

/// The value of `phi` of `loop`'s header in the next iteration, if it goes on by steps.
static Instruction *nextOf(PHINode &phi, const Loop &loop, ScalarEvolution &scev) {
  if (!takesSteps(phi, loop, scev))
    return nullptr;
  auto *next = dyn_cast<Instruction>(phi.getIncomingValueForBlock(loop.getLoopLatch()));
  return next && !isa<PHINode>(next) && !next->isTerminator() && loop.contains(next) ? next : nullptr;
}

/// Whether an instruction's address can be `place`: one base, one index times 1, 2, 4 or 8, and a constant.
static bool isAddress(const GetElementPtrInst &place, const Loop &loop, const DataLayout &layout) {
  OffsetVariables variables;
  APInt constant(layout.getIndexTypeSizeInBits(place.getType()), 0);
  if (!place.collectOffset(layout, constant.getBitWidth(), variables, constant))
    return false;
  if (variables.empty())
    return true;
  const auto *base = dyn_cast<GetElementPtrInst>(place.getPointerOperand());
  return variables.size() == 1 && is_contained({1u, 2u, 4u, 8u}, variables.front().second.getLimitedValue()) &&
         (!base || !loop.contains(base) || base->hasAllConstantIndices());
}

/// Whether `instruction` is arithmetic on a counter of `loop` that strength reduction would save, because no addressing mode does it for
/// free.
static bool isReducible(const Instruction &instruction, const Loop &loop, ScalarEvolution &scev, const DataLayout &layout) {
  if (!isa<GetElementPtrInst, BinaryOperator, SExtInst>(instruction) || !takesSteps(instruction, loop, scev))
    return false;
  if (const auto *place = dyn_cast<GetElementPtrInst>(&instruction))
    return !isAddress(*place, loop, layout);
  bool isSum = instruction.getOpcode() == Instruction::Add || match(&instruction, m_DisjointOr(m_Value(), m_Value()));
  return !isSum || !isa<ConstantInt>(instruction.getOperand(1));
}

using Values = SmallPtrSet<const Instruction *, 16>;

/// The steps on the path to `next`, one for each copy of the loop's body.
static void addSteps(const Instruction *next, const Loop &loop, Values &paths) {
  while (next && isa<BinaryOperator, GetElementPtrInst>(next) && loop.contains(next) && paths.insert(next).second)
    next = dyn_cast<Instruction>(next->getOperand(0));
}

/// Whether `phi`, which is `next` in the next iteration, only decides when the loop ends: strength reduction then counts down, or
/// uses another counter.
static bool onlyCounts(const PHINode &phi, const Instruction &next) {
  return all_of(phi.users(), [&](const User *user) { return user == &next; }) &&
         all_of(next.users(), [&](const User *user) { return user == &phi || isa<ICmpInst>(user); });
}

/// The next values of the counters of `loop`, if it has a probe and strength reduction can do no better; else none.
static SmallVector<Instruction *, 4> ownStepsOf(const Loop &loop, ScalarEvolution &scev, const DataLayout &layout) {
  SmallVector<Instruction *, 4> steps;
  Values paths;
  if (!loop.getLoopLatch() ||
      none_of(loop.blocks(), [](const BasicBlock *block) { return any_of(*block, isInlineProbe); }))
    return steps;
  for (PHINode &phi : loop.getHeader()->phis())
    if (Instruction *next = nextOf(phi, loop, scev)) {
      if (onlyCounts(phi, *next))
        return {};
      steps.push_back(next);
      addSteps(next, loop, paths);
    }
  for (const BasicBlock *block : loop.blocks())
    for (const Instruction &instruction : *block)
      if (!paths.contains(&instruction) && isReducible(instruction, loop, scev, layout))
        return {};
  return steps;
}

/// Hides `value` from its users behind a freeze.
static void rename(Instruction &value) {
  auto *renamed = new FreezeInst(&value, value.getName() + ".own", std::next(value.getIterator()));
  renamed->setDebugLoc(value.getDebugLoc());
  value.replaceUsesWithIf(renamed, [&](const Use &use) { return use.getUser() != renamed; });
}

void keepOwnSteps(Function &function, FunctionAnalysisManager &analyses) {
  ScalarEvolution &scev = analyses.getResult<ScalarEvolutionAnalysis>(function);
  SmallSetVector<Instruction *, 16> values;
  for (Loop *loop : analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder())
    for (Instruction *step : ownStepsOf(*loop, scev, function.getDataLayout()))
      values.insert(step);
  for (Instruction *value : values)
    rename(*value);
}

} // namespace caudal
