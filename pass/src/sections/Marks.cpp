// Writes at each function what its compilation was told, so that an optimising link knows it. Called by Plugin.cpp before
// such a link, and read by the files beside this one in it. See Marks.h.
#include "sections/Marks.h"
#include "Compat.h"
#include "sections/Exclusions.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace caudal {

static constexpr StringLiteral leave = "caudal-leave", noPreempt = "caudal-nopreempt", sectionCall = "caudal-call",
                               told = "caudal-told";

/// The part of `options` that holds for all of a link, as far as `asked` says something of it.
static std::string ofAll(const Options &options, const Options &asked) {
  SmallVector<std::string, 3> parts;
  if (asked.saysMode)
    parts.push_back(("mode=" + modeName(options.mode)).str());
  if (asked.saysBound)
    parts.push_back("bound=" + std::to_string(options.bound));
  if (asked.saysUnknownCall)
    parts.push_back("unknown-call=" + std::to_string(options.unknownCall));
  return join(parts, ";");
}

static void mark(Function &function, const Options &options, const Exclusions &exclusions, StringRef said) {
  if (!said.empty())
    function.addFnAttr(told, said);
  StringRef name = function.getName();
  if (options.off)
    function.addFnAttr(leave, "compiled with --probe-off");
  else if (const auto *rule = exclusions.find(Exclusion::NoPreempt, name))
    function.addFnAttr(noPreempt, "nopreempt in " + rule->place);
  else if (const auto *left = exclusions.find(Exclusion::Leave, name))
    function.addFnAttr(leave, "in " + left->place);
  for (Instruction &instruction : instructions(function))
    if (auto *call = dyn_cast<CallBase>(&instruction))
      if (const Function *callee = call->getCalledFunction(); callee && exclusions.find(Exclusion::Call, callee->getName()))
        call->addFnAttr(Attribute::get(call->getContext(), sectionCall));
}

PreservedAnalyses MarkPass::run(Module &module, ModuleAnalysisManager &) {
  Expected<Exclusions> exclusions = Exclusions::read(options_.exclude);
  if (!exclusions) {
    module.getContext().emitError(toString(exclusions.takeError()));
    return PreservedAnalyses::all();
  }
  std::string said = options_.off ? "" : ofAll(options_, options_);
  for (Function &function : module)
    if (!function.isDeclaration())
      mark(function, options_, *exclusions, said);
  return PreservedAnalyses::all();
}

StringRef markedLeave(const Function &function) { return function.getFnAttribute(leave).getValueAsString(); }

StringRef markedNoPreempt(const Function &function) { return function.getFnAttribute(noPreempt).getValueAsString(); }

bool isMarkedCall(const CallBase &call) { return call.getAttributes().hasFnAttr(sectionCall); }

void warnOfOthers(const Module &module, const Options &options) {
  for (const Function &function : module) {
    StringRef other = function.getFnAttribute(told).getValueAsString();
    if (function.isDeclaration() || function.hasAvailableExternallyLinkage() || other.empty())
      continue;
    Expected<Options> asked = Options::parse(other);
    if (!asked) {
      consumeError(asked.takeError()); // another version's
      continue;
    }
    if (std::string here = ofAll(options, *asked); here != other) {
      warn(module.getContext(), "caudal-probes: " + function.getName() + " was compiled with " + other +
                                    "; under link-time optimisation the link's options hold for all: " + here);
      return;
    }
  }
}

} // namespace caudal
