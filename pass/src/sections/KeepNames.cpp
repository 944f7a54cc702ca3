// Keeps functions from being inlined whose names the pass looks for. Called by LLVM before the inliner, for which
// Plugin.cpp registers it. See KeepNames.h.
#include "sections/KeepNames.h"
#include "analysis/Allocators.h"
#include "sections/Exclusions.h"
#include "sections/Known.h"
#include "sections/Marks.h"
#include "sections/NamedFunctions.h"
#include "sections/ThreadLocals.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace caudal {

/// Keeps `function` from being inlined, also where a call of it or all of a caller's are to be (flatten).
static void keepApart(Function &function) {
  function.addFnAttr(Attribute::NoInline);
  for (User *user : function.users())
    if (auto *call = dyn_cast<CallBase>(user); call && call->getCalledFunction() == &function)
      call->removeFnAttr(Attribute::AlwaysInline);
}

/// The same for what is marked (Marks.h), by now in all that was compiled together with it, and for its marked calls.
static void keepMarked(Function &function) {
  if (!markedLeave(function).empty() || !markedNoPreempt(function).empty()) {
    function.removeFnAttr(Attribute::AlwaysInline);
    keepApart(function);
  }
  for (Instruction &instruction : instructions(function))
    if (auto *call = dyn_cast<CallBase>(&instruction); call && isMarkedCall(*call)) {
      call->removeFnAttr(Attribute::AlwaysInline);
      call->setIsNoInline();
    }
}

PreservedAnalyses KeepNamesPass::run(Module &module, ModuleAnalysisManager &) {
  // Of allocators' entry points, until it can be seen which only hand on.
  static constexpr StringLiteral untilSeen = "caudal-kept";
  if (options_.off)
    return PreservedAnalyses::all();
  // Before the inliner, with which marks go.
  if (isSimplified_)
    warnOfOthers(module, options_);
  Expected<Exclusions> exclusions = Exclusions::read(options_.exclude);
  if (!exclusions) {
    // Sections::run says what is wrong.
    consumeError(exclusions.takeError());
    return PreservedAnalyses::all();
  }
  bool changed = options_.sections && surroundThreadLocals(module) > 0;
  for (Function &function : module) {
    StringRef name = function.getName();
    if (function.isDeclaration())
      continue;
    keepMarked(function);
    if (function.hasFnAttribute(Attribute::AlwaysInline))
      continue;
    if (isRustPrint(name) || isRustGuard(name) || isLock(name) || isKnownSection(name) ||
        exclusions->find(Exclusion::NoPreempt, name) || exclusions->find(Exclusion::Call, name) ||
        exclusions->find(Exclusion::Leave, name))
      keepApart(function);
  }
  forEachAllocatorEntry(module, [&](Function &entry) {
    if (isSimplified_ && handsOn(entry)) {
      if (entry.hasFnAttribute(untilSeen))
        entry.removeFnAttr(Attribute::NoInline);
    } else if (!entry.hasFnAttribute(Attribute::AlwaysInline) && !entry.hasFnAttribute(Attribute::NoInline)) {
      keepApart(entry);
      entry.addFnAttr(untilSeen);
    }
  });
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace caudal
