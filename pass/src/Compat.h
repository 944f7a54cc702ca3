//===- Compat.h - What LLVM 19 and 22 call differently ------------------------------------------------------------===//
//
// Hides the differences between LLVM 19 and LLVM 22. Called by every file that needs one of these interfaces.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_COMPAT_H
#define CAUDAL_PASS_COMPAT_H

#include "llvm/ADT/APInt.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/InstructionCost.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"
#include <initializer_list>
#include <optional>
#include <type_traits>

namespace caudal {

/// llvm::StringSwitch, which takes lists of names only lately.
template <typename T> class NameSwitch {
public:
  explicit NameSwitch(llvm::StringRef name) : name_(name) {}

  NameSwitch &Cases(std::initializer_list<llvm::StringLiteral> names, T value) {
    if (!found_ && llvm::is_contained(names, name_))
      found_ = value;
    return *this;
  }
  NameSwitch &Case(llvm::StringLiteral name, T value) { return Cases({name}, value); }
  T Default(T value) const { return found_.value_or(value); }

private:
  llvm::StringRef name_;
  std::optional<T> found_;
};

/// The value of a cost that is valid: a number, or what may hold one.
inline int64_t valueOf(const llvm::InstructionCost &cost) { return *std::optional<int64_t>(cost.getValue()); }

/// An expander, for code that stays in closed form (LCSSA) where `closed`. A template: what does not exist is not looked at.
template <typename Expander = llvm::SCEVExpander>
Expander expanderOf(llvm::ScalarEvolution &scev, const char *name, bool closed) {
  if constexpr (std::is_constructible_v<Expander, llvm::ScalarEvolution &, const char *, bool>)
    return Expander(scev, name, closed);
  else
    return Expander(scev, scev.getDataLayout(), name, closed);
}

/// The map to which GEPOperator::collectOffset writes variables and their factors.
using OffsetVariables =
    std::conditional_t<std::is_invocable_v<decltype(&llvm::GEPOperator::collectOffset), const llvm::GEPOperator *, const llvm::DataLayout &,
                                           unsigned, llvm::SmallMapVector<llvm::Value *, llvm::APInt, 4> &, llvm::APInt &>,
                       llvm::SmallMapVector<llvm::Value *, llvm::APInt, 4>, llvm::MapVector<llvm::Value *, llvm::APInt>>;

/// Says `text`, which is no error, of no place in the source.
inline void warn(llvm::LLVMContext &context, const llvm::Twine &text) {
#if LLVM_VERSION_MAJOR >= 20
  context.diagnose(llvm::DiagnosticInfoGeneric(text, llvm::DS_Warning));
#else
  context.diagnose(llvm::DiagnosticInfoInlineAsm(text, llvm::DS_Warning));
#endif
}

/// Whether nothing gets to the default of `choice`.
inline bool isDefaultUnreachable(const llvm::SwitchInst &choice) {
#if LLVM_VERSION_MAJOR >= 20
  return choice.defaultDestUnreachable();
#else
  return choice.defaultDestUndefined();
#endif
}

/// The map that an address is taken apart into: what GetElementPtrInst::collectOffset takes.
template <typename Map> Map offsetsOf(bool (llvm::GetElementPtrInst::*)(const llvm::DataLayout &, unsigned, Map &, llvm::APInt &) const);
using AddressOffsets = decltype(offsetsOf(&llvm::GetElementPtrInst::collectOffset));

inline bool contains(const llvm::InlineAsm &assembly, llvm::StringRef part) {
  return llvm::StringRef(assembly.getAsmString()).contains(part);
}

} // namespace caudal

#endif
