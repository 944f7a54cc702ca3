#include "Calls.h"
#include "Compat.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace caudal {

/// Cycles of a library function that is rarely instrumented, for short inputs; 0: not in the table.
static unsigned libraryCycles(StringRef name) {
  return NameSwitch<unsigned>(name)
      .Cases({"memcpy", "memmove", "memset", "memcmp", "bcmp"}, 25)
      .Cases({"strlen", "strcmp", "strncmp", "memchr", "strchr", "strrchr", "strcpy", "strncpy"}, 25)
      .Cases({"malloc", "free", "_Znwm", "_Znam", "_ZdlPv", "_ZdaPv", "_ZdlPvm", "_ZdaPvm"}, 40)
      .Cases({"calloc", "realloc", "posix_memalign", "aligned_alloc"}, 80)
      .Cases({"sqrt", "sqrtf", "fabs", "floor", "ceil", "rint"}, 12)
      .Cases({"exp", "exp2", "log", "log2", "log10", "expf", "logf"}, 30)
      .Cases({"sin", "cos", "tan", "sinf", "cosf", "atan", "atan2", "erf", "erfc"}, 45)
      .Cases({"pow", "powf", "fmod", "cbrt", "tanh", "sinh", "cosh"}, 60)
      .Default(0);
}

/// Cycles of an intrinsic that copies, fills or compares memory; -1: it is another.
static int64_t memoryCycles(const CallBase &call) {
  static constexpr int64_t start = 6, bytesPerCycle = 32, unknown = 30;
  const auto *memory = dyn_cast<AnyMemIntrinsic>(&call);
  if (!memory)
    return -1;
  const auto *length = dyn_cast<ConstantInt>(memory->getLength());
  return length ? start + int64_t(std::min<uint64_t>(length->getLimitedValue(), 1 << 30)) / bytesPerCycle : unknown;
}

/// Cycles of an intrinsic that becomes a call into the mathematics library; 0: it does not.
static int64_t mathematicsCycles(Intrinsic::ID id) {
  switch (id) {
  case Intrinsic::exp:
  case Intrinsic::exp2:
  case Intrinsic::log:
  case Intrinsic::log2:
  case Intrinsic::log10:
    return 30;
  case Intrinsic::sin:
  case Intrinsic::cos:
    return 45;
  case Intrinsic::pow:
    return 60;
  default:
    return 0;
  }
}

/// Whether nobody instruments `function`, going by its name: C's library, C++'s and the compiler's own.
static bool isOfLibraries(const Function &function) {
  StringRef name = function.getName();
  // They call what they are given.
  if (name == "qsort" || name == "bsearch")
    return false;
  if (any_of(std::initializer_list<StringRef>{"_ZNSt", "_ZNKSt", "_ZSt", "__cxa_", "__gxx_", "_Unwind_"},
             [&](StringRef prefix) { return name.starts_with(prefix); }))
    return true;
  static const TargetLibraryInfoImpl library{Triple("x86_64-unknown-linux-gnu")};
  LibFunc known;
  return library.getLibFunc(function, known);
}

bool isOwn(const Function &function) { return function.hasLocalLinkage() && !function.hasAddressTaken(); }

Callee Calls::kind(const CallBase &call) {
  if (call.isInlineAsm())
    return Callee::Assembly;
  const Function *callee = call.getCalledFunction();
  if (!callee)
    return Callee::Contract;
  if (callee->isIntrinsic())
    return Callee::Inlined;
  if (callee->isDeclaration())
    return libraryCycles(callee->getName()) || isOfLibraries(*callee) ? Callee::Library : Callee::Contract;
  // The linker may take another module's definition, which has been planned elsewhere.
  return callee->isInterposable() || callee->hasLinkOnceODRLinkage() || callee->hasWeakODRLinkage() ? Callee::Contract
                                                                                                   : Callee::Known;
}

bool Calls::isSimple(const CallBase &call) const {
  switch (kind(call)) {
  case Callee::Inlined:
  case Callee::Assembly:
    return true;
  case Callee::Library:
    return libraryCycles(call.getCalledFunction()->getName()) != 0;
  case Callee::Known:
  case Callee::Contract:
    return of(call).prefix.isNone();
  }
  llvm_unreachable("a kind of callee without a case");
}

Ways Calls::of(const CallBase &call) const {
  // What its own probes do not charge is no more than what it takes without one.
  Ways contract{limits_.call, limits_.across, limits_.call, std::min(Cost::cycles(options_.unknownCall), limits_.across)};
  const Function *callee = call.getCalledFunction();
  switch (kind(call)) {
  case Callee::Assembly:
    // An empty one only stops the compiler.
    if (cast<InlineAsm>(call.getCalledOperand())->getAsmString().empty())
      return Ways::plain(Cost::zero(), Cost::zero());
    return Ways::plain(Cost::cycles(2), Cost::cycles(2));
  case Callee::Inlined:
    if (int64_t cycles = memoryCycles(call); cycles >= 0)
      return assumed(Cost::cycles(cycles));
    return assumed(Cost::cycles(mathematicsCycles(callee->getIntrinsicID())));
  case Callee::Library: {
    unsigned cycles = libraryCycles(callee->getName());
    return assumed(Cost::cycles(cycles ? cycles : options_.unknownCall));
  }
  case Callee::Contract:
    return contract;
  case Callee::Known:
    if (const Ways *known = find(*callee))
      return *known;
    return contract; // left alone
  }
  llvm_unreachable("a kind of callee without a case");
}

} // namespace caudal
