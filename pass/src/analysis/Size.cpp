// Says which code is to be small rather than fast. Called by all files that would make code larger: Unroll.cpp,
// BudgetInLoops.cpp, Seldom.cpp and others. See Size.h.
#include "analysis/Size.h"
#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ProfileSummaryInfo.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace caudal {

/// How much more often something may be executed than a profile says: counts are rounded, and split between copies; and how often
/// a loop may go around that the profile says nothing good of, since the optimiser has peeled it. With more, code is larger and
/// no faster.
static constexpr uint64_t doubt = 8;

/// How often `block` may be executed at most, as far as a profile says; none: it says nothing.
static std::optional<uint64_t> mostExecutions(BasicBlock &block, FunctionAnalysisManager &analyses) {
  Function &function = *block.getParent();
  auto &frequencies = analyses.getResult<BlockFrequencyAnalysis>(function);
  auto &loops = analyses.getResult<LoopAnalysis>(function);
  uint64_t times = 1;
  const BasicBlock *entered = &block;
  for (const Loop *loop = loops.getLoopFor(&block); loop; loop = loop->getParentLoop()) {
    times = SaturatingMultiply(times, doubt);
    entered = loop->getLoopPreheader();
    if (!entered)
      return std::nullopt;
  }
  auto own = frequencies.getBlockProfileCount(&block), entries = frequencies.getBlockProfileCount(entered);
  if (!own || !entries)
    return std::nullopt;
  return std::max(SaturatingMultiply(*own, doubt), SaturatingMultiply(*entries, times));
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
  auto count = mostExecutions(block, analyses);
  return count && !summary->isHotCountNthPercentile(often, *count);
}

bool isToBeSmall(BasicBlock &block, FunctionAnalysisManager &analyses) {
  return block.getParent()->hasOptSize() || isCold(block, analyses);
}

} // namespace caudal
