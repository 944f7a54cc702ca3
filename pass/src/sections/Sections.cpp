// Keeps code from being preempted that must not be: locks, allocators, what lists say. Called by Pass.cpp before
// planning. See Sections.h.
#include "sections/Sections.h"
#include "analysis/Allocators.h"
#include "analysis/Names.h"
#include "analysis/Resolvers.h"
#include "sections/Known.h"
#include "sections/Marks.h"
#include "sections/NamedFunctions.h"
#include "sections/Redirection.h"
#include "sections/Surround.h"
#include "sections/ThreadLocals.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/EscapeEnumerator.h"

using namespace llvm;

namespace caudal {

/// The attribute of functions whose calls have been surrounded.
static constexpr StringLiteral seenAttribute = "caudal-sections";
static constexpr StringLiteral annotation = "caudal_nopreempt";

/// Functions with `__attribute__((annotate("caudal_nopreempt")))`.
void Sections::findAnnotated() {
  const GlobalVariable *all = module_.getGlobalVariable("llvm.global.annotations");
  const auto *entries = all && all->hasInitializer() ? dyn_cast<ConstantArray>(all->getInitializer()) : nullptr;
  if (!entries)
    return;
  for (const Use &use : entries->operands()) {
    const auto *entry = dyn_cast<ConstantStruct>(use.get());
    if (!entry || entry->getNumOperands() < 2)
      continue;
    const auto *function = dyn_cast<Function>(entry->getOperand(0)->stripPointerCasts());
    const auto *text = dyn_cast<GlobalVariable>(entry->getOperand(1)->stripPointerCasts());
    const auto *string = text && text->hasInitializer() ? dyn_cast<ConstantDataArray>(text->getInitializer()) : nullptr;
    if (function && !function->isDeclaration() && string && string->isCString() && string->getAsCString() == annotation)
      sections_[function] = annotation.str();
  }
}

/// Why `function` is a section, for a library whose state belongs to the thread; empty: it is none.
static StringRef knownSection(const Function &function) {
  if (isKnownSection(function.getName()))
    return "it keeps something of its caller by thread";
  for (const Instruction &instruction : instructions(function)) {
    const auto *call = dyn_cast<CallBase>(&instruction);
    const Function *callee = call ? call->getCalledFunction() : nullptr;
    if (!callee || !callee->isDeclaration())
      continue;
    KnownCall kind = knownCall(callee->getName());
    if (kind == KnownCall::Function || (kind == KnownCall::Prepare && !preparedFor(const_cast<CallBase &>(*call))))
      return "a part of a parallel region";
  }
  return "";
}

void Sections::findListed() {
  for (const Function &function : module_) {
    if (function.isDeclaration())
      continue;
    if (const auto *rule = exclusions_.find(Exclusion::NoPreempt, function.getName()))
      sections_[&function] = "nopreempt in " + rule->place;
    else if (StringRef section = markedNoPreempt(function); !section.empty())
      sections_[&function] = section.str();
    else if (StringRef known = knownSection(function); !known.empty())
      sections_[&function] = known.str();
    else if (const auto *left = exclusions_.find(Exclusion::Leave, function.getName()))
      listed_[&function] = "in " + left->place;
    else if (StringRef why = markedLeave(function); !why.empty())
      listed_[&function] = why.str();
  }
}

StringRef Sections::whyLeftAlone(const Function &function) const {
  if (allocators_.contains(&function))
    return "an allocator, or called by one";
  if (auto found = sections_.find(&function); found != sections_.end())
    return found->second;
  if (auto found = listed_.find(&function); found != listed_.end())
    return found->second;
  return "";
}

/// May `function` be changed? Not twice; not where there are no thread-locals yet.
bool Sections::mayChange(const Function &function) const {
  return !function.isDeclaration() && !function.hasAvailableExternallyLinkage() && !function.hasFnAttribute(seenAttribute) &&
         !function.hasFnAttribute(Attribute::Naked) && !resolvers_.contains(&function);
}

/// Enters a section where `function` begins, and leaves it wherever the function is left.
void Sections::becomeSection(Function &function) {
  FunctionCallee enter = calls_.library("caudal_section_enter_v1", {}), exit = calls_.library("caudal_section_exit_v1", {});
  Instruction *first = &*function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca();
  callBefore(first, *first, enter, {});
  EscapeEnumerator escapes(function, "caudal.unwind", /*HandleExceptions=*/!function.doesNotThrow());
  while (IRBuilder<> *builder = escapes.Next()) {
    if (!builder->getCurrentDebugLocation())
      if (DISubprogram *subprogram = function.getSubprogram())
        builder->SetCurrentDebugLocation(DILocation::get(function.getContext(), 0, 0, subprogram));
    builder->CreateCall(exit)->setDoesNotThrow();
  }
}

/// Lists what belongs to the thread and is not protected, for the report.
void Sections::lint(const Function &function) {
  SmallVector<const GlobalVariable *, 4> locals;
  for (const Instruction &instruction : instructions(function)) {
    if (const auto *call = dyn_cast<CallBase>(&instruction))
      if (const Function *callee = call->getCalledFunction()) {
        if (isRustGuard(callee->getName()))
          report_.note(function, "thread-owned", sourceName(callee->getName()), instruction.getDebugLoc());
        else if (isKeyed(callee->getName()))
          report_.note(function, "thread-local", callee->getName(), instruction.getDebugLoc());
      }
    for (const Value *operand : instruction.operands()) {
      const auto *variable = dyn_cast<GlobalVariable>(operand);
      if (!variable || !variable->isThreadLocal() || variable->getName().starts_with("caudal_") ||
          is_contained(locals, variable))
        continue;
      locals.push_back(variable);
      report_.note(function, "thread-local", sourceName(variable->getName()), instruction.getDebugLoc());
    }
  }
}

void Sections::change(Function &function) {
  if (allocators_.contains(&function)) {
    surrounded_.surroundInAllocator(function, allocators_);
    return;
  }
  surrounded_.surroundCalls(function);
  if (sections_.contains(&function))
    becomeSection(function);
  else if (!listed_.contains(&function))
    lint(function);
}

bool Sections::run() {
  if (!options_.sections)
    return false;
  Expected<Exclusions> exclusions = Exclusions::read(options_.exclude);
  if (!exclusions) {
    module_.getContext().emitError(toString(exclusions.takeError()));
    return false;
  }
  exclusions_ = std::move(*exclusions);
  allocators_ = findAllocators(module_);
  resolvers_ = findResolvers(module_);
  findAnnotated();
  findListed();
  // In an allocator nothing is redirected: at a section's end it must not yield.
  redirectCalls(calls_, [&](const Function *function) { return allocators_.contains(function) || resolvers_.contains(function); });
  bool changed = surroundThreadLocals(module_) > 0;
  // Insertion declares functions; those have nothing to change.
  SmallVector<Function *, 0> functions;
  for (Function &function : module_)
    if (mayChange(function))
      functions.push_back(&function);
  for (Function *function : functions) {
    change(*function);
    function->addFnAttr(seenAttribute);
  }
  report_.sections(calls_.changed());
  return changed || calls_.hasChanged();
}

} // namespace caudal
