#include "Size.h"
#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ProfileSummaryInfo.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace caudal {

/// How often `block` may be executed, as far as a profile says; none: it says nothing. How often loops go around it may not say
/// any more when the optimiser has peeled them: each loop that `block` is in goes around as often as most of them do, or more.
static std::optional<uint64_t> executions(BasicBlock &block, FunctionAnalysisManager &analyses) {
  static constexpr uint64_t iterations = 64;
  Function &function = *block.getParent();
  auto &frequencies = analyses.getResult<BlockFrequencyAnalysis>(function);
  auto &loops = analyses.getResult<LoopAnalysis>(function);
  uint64_t times = 1;
  const BasicBlock *counted = &block;
  for (const Loop *loop = loops.getLoopFor(&block); loop; loop = loop->getParentLoop()) {
    times *= iterations;
    counted = loop->getLoopPreheader();
    if (!counted)
      return std::nullopt;
  }
  auto own = frequencies.getBlockProfileCount(&block), entered = frequencies.getBlockProfileCount(counted);
  return own && entered ? std::optional(std::max(*own, SaturatingMultiply(*entered, times))) : std::nullopt;
}

bool isCold(BasicBlock &block, FunctionAnalysisManager &analyses) {
  // The blocks that make this part of all executions, in millionths, are not.
  static constexpr int often = 990'000;
  Function &function = *block.getParent();
  if (function.hasMinSize() || function.hasFnAttribute(Attribute::Cold))
    return true;
  if (!function.hasProfileData())
    return false;
  const auto &modules = analyses.getResult<ModuleAnalysisManagerFunctionProxy>(function);
  auto *summary = modules.getCachedResult<ProfileSummaryAnalysis>(*function.getParent());
  if (!summary || !summary->hasProfileSummary())
    return false;
  auto count = executions(block, analyses);
  return count && !summary->isHotCountNthPercentile(often, *count);
}

bool isToBeSmall(BasicBlock &block, FunctionAnalysisManager &analyses) {
  return block.getParent()->hasOptSize() || isCold(block, analyses);
}

} // namespace caudal
