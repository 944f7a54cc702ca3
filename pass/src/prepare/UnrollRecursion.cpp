// Replaces the calls of a small recursive function to itself by its body, once. Bounded.cpp calls it for each function of a circle of
// calls, as the first of the preparations for planning. It changes the function. See UnrollRecursion.h.
#include "prepare/UnrollRecursion.h"
#include "analysis/Cost.h"
#include "analysis/Size.h"
#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/InlineCost.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace caudal {

// A round is one execution of the function without its callees. A longer round, in cycles, has room for a probe; a round with more
// instructions would grow too much.
static constexpr double longestRound = 40;
static constexpr unsigned mostInstructions = 80, mostCalls = 2, mostCopied = 160;
// Bytes of local variables. Two rounds share a frame, and the last one may need only half of it. LLVM's inliner has the same limit for
// recursive functions.
static constexpr uint64_t mostLocals = 1024;

/// The mean length of a call of `function` without its callees, in cycles.
static double roundCycles(Function &function, FunctionAnalysisManager &analyses) {
  CostModel costs(analyses.getResult<TargetIRAnalysis>(function), analyses.getResult<LoopAnalysis>(function));
  BlockFrequencyInfo &frequencies = analyses.getResult<BlockFrequencyAnalysis>(function);
  double entered = double(frequencies.getEntryFreq().getFrequency()), sum = 0;
  for (const BasicBlock &block : function)
    for (const Instruction &instruction : block)
      sum += double(costs.issue(instruction).inUnits()) * double(frequencies.getBlockFreq(&block).getFrequency()) / entered;
  return sum / double(Cost::unitsPerCycle);
}

/// Bytes of local variables; one that has no fixed size counts as more than `mostLocals`.
static uint64_t localBytes(const Function &function) {
  uint64_t bytes = 0;
  for (const Instruction &instruction : instructions(function))
    if (const auto *local = dyn_cast<AllocaInst>(&instruction)) {
      std::optional<TypeSize> size = local->getAllocationSize(function.getDataLayout());
      bytes += size && !size->isScalable() ? std::min<uint64_t>(size->getFixedValue(), mostLocals + 1) : mostLocals + 1;
    }
  return bytes;
}

/// Whether `instruction` reads the address of its frame or of its caller: in a copied body, it would get those of another round.
static bool asksForFrame(const Instruction &instruction) {
  const auto *call = dyn_cast<IntrinsicInst>(&instruction);
  return call && is_contained({Intrinsic::frameaddress, Intrinsic::returnaddress, Intrinsic::addressofreturnaddress},
                              call->getIntrinsicID());
}

/// The calls of `function` to itself, if it is small enough for replacing them and calls nothing else; else none.
static SmallVector<CallBase *, mostCalls> replaceable(Function &function) {
  SmallVector<CallBase *, mostCalls> calls;
  bool refuses = function.isInterposable() || function.hasFnAttribute(Attribute::NoInline) || function.hasOptNone();
  unsigned count = 0;
  for (Instruction &instruction : llvm::instructions(function)) {
    count += !instruction.isDebugOrPseudoInst();
    auto *call = dyn_cast<CallBase>(&instruction);
    if (!call || call->getCalledFunction() != &function) {
      refuses |= !callsNothing(instruction) || asksForFrame(instruction);
      continue;
    }
    calls.push_back(call);
    refuses |= call->isMustTailCall() || call->isNoInline();
  }
  if (refuses || count > mostInstructions || calls.size() > mostCalls || count * calls.size() > mostCopied ||
      localBytes(function) > mostLocals)
    calls.clear();
  return calls;
}

bool unrollRecursion(Function &function, FunctionAnalysisManager &analyses) {
  SmallVector<CallBase *, mostCalls> calls = replaceable(function);
  if (calls.empty() || isToBeSmall(function.getEntryBlock(), analyses))
    return false;
  LoopInfo &loops = analyses.getResult<LoopAnalysis>(function);
  ScalarEvolution &scev = analyses.getResult<ScalarEvolutionAnalysis>(function);
  // In a loop, the copy's loop would be another one in it, with as many probes, unless it needs none.
  if (any_of(calls, [&](CallBase *call) {
        const Loop *loop = loops.getLoopFor(call->getParent());
        return loop && scev.getSmallConstantMaxTripCount(loop) == 0;
      }))
    return false;
  if (roundCycles(function, analyses) > longestRound)
    return false;
  ValueToValueMapTy values;
  Function *body = CloneFunction(&function, values);
  bool viable = isInlineViable(*body).isSuccess(), unrolled = false;
  for (CallBase *call : calls) {
    if (!viable)
      break;
    call->setCalledFunction(body);
    InlineFunctionInfo info;
    if (InlineFunction(*call, info, /*MergeAttributes=*/true).isSuccess())
      unrolled = true;
    else
      call->setCalledFunction(&function);
  }
  body->eraseFromParent();
  return unrolled;
}

} // namespace caudal
