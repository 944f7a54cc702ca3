#include "Size.h"
#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/ProfileSummaryInfo.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace caudal {

bool hasProfile(const Function &function) { return function.hasProfileData(); }

bool isToBeSmall(BasicBlock &block, FunctionAnalysisManager &analyses) {
  // The blocks that make this part of all executions, in millionths, are not.
  static constexpr int often = 990'000;
  Function &function = *block.getParent();
  if (function.hasOptSize() || function.hasFnAttribute(Attribute::Cold))
    return true;
  if (!hasProfile(function))
    return false;
  const auto &modules = analyses.getResult<ModuleAnalysisManagerFunctionProxy>(function);
  auto *summary = modules.getCachedResult<ProfileSummaryAnalysis>(*function.getParent());
  if (!summary || !summary->hasProfileSummary())
    return false;
  auto count = analyses.getResult<BlockFrequencyAnalysis>(function).getBlockProfileCount(&block);
  return count && !summary->isHotCountNthPercentile(often, *count);
}

} // namespace caudal
