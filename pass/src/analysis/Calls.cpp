// Knows what a call takes and where the probes of its callee are, so that callers can be planned. Called by the planner
// (plan/), the verifier (verify/), and all that changes calls. See Calls.h.
#include "analysis/Calls.h"
#include "Compat.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace caudal {

/// Cycles of a library function that is rarely instrumented, for short inputs; 0: not in the table.
static unsigned libraryCycles(StringRef name) {
  return NameSwitch<unsigned>(name)
      .Cases({"memcpy", "memmove", "memset", "memcmp", "bcmp"}, 20)
      .Cases({"strlen", "strcmp", "strncmp", "memchr", "strchr", "strrchr", "strcpy", "strncpy"}, 20)
      .Cases({"pthread_self", "pthread_getspecific", "pthread_setspecific", "tss_get", "tss_set", "__errno_location",
              "__ctype_b_loc", "__ctype_tolower_loc", "__ctype_toupper_loc"},
             6)
      .Cases({"malloc", "_Znwm", "_Znam"}, 25)
      .Cases({"free", "_ZdlPv", "_ZdaPv", "_ZdlPvm", "_ZdaPvm"}, 15)
      .Cases({"calloc", "realloc", "posix_memalign", "aligned_alloc"}, 50)
      .Cases({"sqrt", "sqrtf", "fabs", "floor", "ceil", "rint"}, 12)
      .Cases({"exp", "exp2", "log", "log2", "log10", "expf", "logf"}, 30)
      .Cases({"sin", "cos", "tan", "sinf", "cosf", "atan", "atan2", "erf", "erfc"}, 45)
      .Cases({"pow", "powf", "fmod", "cbrt", "tanh", "sinh", "cosh"}, 60)
      .Default(0);
}

bool beginsHandler(const Instruction &instruction) {
  const auto *call = dyn_cast<CallBase>(&instruction);
  const Function *callee = call ? call->getCalledFunction() : nullptr;
  return callee && callee->getName() == "__cxa_begin_catch" && !isa<UnreachableInst>(call->getParent()->getTerminator());
}

namespace {

/// The functions of the probe library that the pass calls itself, in place of other functions and around them (Sections.h).
struct Wrapper {
  enum Kind {
    None,
    Short, ///< takes a known number of cycles while nobody else holds its lock
    Long,  ///< takes as long as the function that it replaces, of which nothing is known
    Looks, ///< the same, and ends with a probe
  } kind;
  unsigned cycles = 0;
};

} // namespace

static Wrapper wrapperOf(StringRef name) {
  if (!name.starts_with("caudal_") || !name.consume_back("_v1"))
    return {Wrapper::None};
  if (!name.consume_front("caudal_wrap_"))
    return NameSwitch<Wrapper>(name)
        .Cases({"caudal_section_enter", "caudal_section_exit", "caudal_lock_enter", "caudal_lock_exit", "caudal_guard_wait",
                "caudal_guard_acquired", "caudal_guard_released", "caudal_allocator_calls", "caudal_allocator_called"},
               {Wrapper::Short, 5})
        .Cases({"caudal_stdio_enter", "caudal_stdio_exit"}, {Wrapper::Short, 15})
        .Default({Wrapper::None});
  return NameSwitch<Wrapper>(name)
      .Cases({"pthread_mutex_lock", "pthread_mutex_trylock", "pthread_mutex_unlock", "pthread_spin_lock",
              "pthread_spin_trylock", "pthread_spin_unlock", "pthread_rwlock_rdlock", "pthread_rwlock_wrlock",
              "pthread_rwlock_tryrdlock", "pthread_rwlock_trywrlock", "pthread_rwlock_unlock", "mtx_lock", "mtx_trylock", "mtx_unlock"},
             {Wrapper::Short, 25})
      .Cases({"printf", "vprintf", "fprintf", "vfprintf", "__printf_chk", "__vprintf_chk", "__fprintf_chk", "__vfprintf_chk",
              "fflush", "fseek", "fseeko", "rewind", "fsetpos", "fclose", "freopen", "perror"},
             {Wrapper::Looks})
      // These call a function that they are given.
      .Cases({"pthread_once", "call_once", "std_call_once"}, {Wrapper::None})
      .Default({Wrapper::Long});
}

/// Cycles of an intrinsic that copies, fills or compares memory; -1 for any other intrinsic.
static int64_t memoryCycles(const CallBase &call) {
  static constexpr int64_t start = 6, bytesPerCycle = 32, unknown = 30;
  const auto *memory = dyn_cast<AnyMemIntrinsic>(&call);
  if (!memory)
    return -1;
  const auto *length = dyn_cast<ConstantInt>(memory->getLength());
  return length ? start + int64_t(std::min<uint64_t>(length->getLimitedValue(), 1 << 30)) / bytesPerCycle : unknown;
}

/// Cycles of an intrinsic that becomes a call into the mathematics library; 0 for any other intrinsic.
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
  // These call a function that they are given.
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
  if (callee->isDeclaration() && wrapperOf(callee->getName()).kind != Wrapper::None)
    return Callee::Wrapper;
  if (callee->isDeclaration())
    return libraryCycles(callee->getName()) || isOfLibraries(*callee) ? Callee::Library : Callee::Contract;
  // The linker may take another module's definition, which has been planned elsewhere.
  return callee->isInterposable() || callee->hasLinkOnceODRLinkage() || callee->hasWeakODRLinkage() ? Callee::Contract
                                                                                                   : Callee::Known;
}

/// Whether inline assembly only computes, as far as its text shows: it calls nothing, has no hand-written probe, and does not change the
/// stack pointer. A jump out of it is not noticed.
static bool onlyComputes(const CallBase &call) {
  StringRef text = cast<InlineAsm>(call.getCalledOperand())->getAsmString();
  return none_of(std::initializer_list<StringRef>{"call", "caudal", "sp"}, [&](StringRef part) { return text.contains(part); });
}

/// Whether `call` is of a library function that throws, ends the program or allocates memory for an exception.
static bool endsPath(const CallBase &call) {
  return call.doesNotReturn() || call.getCalledFunction()->getName() == "__cxa_allocate_exception";
}

void Calls::learn(const Function &function, const PathBounds &paths) {
  known_[&function] = paths;
  // A loop that keeps the budget in a register stores it before a call that throws (BudgetInLoops.cpp).
  bool simple = all_of(instructions(function), [&](const Instruction &instruction) {
    const auto *call = dyn_cast<CallBase>(&instruction);
    return !call || isSimple(*call) || (kind(*call) == Callee::Library && endsPath(*call));
  });
  if (simple)
    meddling_.erase(&function);
  else
    meddling_.insert(&function);
}

/// Whether it is the compiler's own `longjmp`, which comes back elsewhere, or calls a function that it is given.
static bool goesElsewhere(Intrinsic::ID id) {
  return is_contained({Intrinsic::eh_sjlj_longjmp, Intrinsic::experimental_gc_statepoint, Intrinsic::experimental_patchpoint,
                       Intrinsic::experimental_patchpoint_void, Intrinsic::experimental_deoptimize},
                      id);
}

bool Calls::isSimple(const CallBase &call) const {
  switch (kind(call)) {
  case Callee::Inlined:
    return !goesElsewhere(call.getCalledFunction()->getIntrinsicID());
  case Callee::Assembly:
    return onlyComputes(call);
  case Callee::Library:
    return libraryCycles(call.getCalledFunction()->getName()) != 0;
  case Callee::Wrapper:
  case Callee::Contract:
    return false;
  case Callee::Known:
    return of(call).prefix.isNone() && !meddling_.contains(call.getCalledFunction());
  }
  llvm_unreachable("a kind of callee without a case");
}

PathBounds Calls::ofWrapper(StringRef name) const {
  static constexpr Cost lookUntilReturn = Cost::cycles(5);
  Wrapper wrapper = wrapperOf(name);
  if (wrapper.kind == Wrapper::Short)
    return assumed(Cost::cycles(wrapper.cycles));
  PathBounds paths = assumed(Cost::cycles(options_.unknownCall));
  if (wrapper.kind == Wrapper::Looks)
    paths = {paths.through, Cost::none(), lookUntilReturn, paths.expected};
  return paths;
}

PathBounds Calls::of(const CallBase &call) const {
  // The cost that its own probes do not charge is at most its cost without a probe.
  PathBounds contract{limits_.call, limits_.across, limits_.call, std::min(Cost::cycles(options_.unknownCall), limits_.across)};
  const Function *callee = call.getCalledFunction();
  switch (kind(call)) {
  case Callee::Assembly:
    // Empty inline assembly is only a barrier for the compiler.
    if (cast<InlineAsm>(call.getCalledOperand())->getAsmString().empty())
      return PathBounds::plain(Cost::zero(), Cost::zero());
    return PathBounds::plain(Cost::cycles(2), Cost::cycles(2));
  case Callee::Inlined:
    if (int64_t cycles = memoryCycles(call); cycles >= 0)
      return assumed(Cost::cycles(cycles));
    return assumed(Cost::cycles(mathematicsCycles(callee->getIntrinsicID())));
  case Callee::Library: {
    // Throws, or ends the program: the path ends there.
    if (call.doesNotReturn())
      return PathBounds::plain(Cost::zero(), Cost::zero());
    // To throw and to unwind takes some 10,000 cycles for the first frame (gcc's libraries, AMD Zen 4), and no probe charges them.
    static constexpr Cost thrown = Cost::cycles(10000);
    unsigned known = libraryCycles(callee->getName());
    PathBounds paths = assumed(Cost::cycles(known ? known : options_.unknownCall));
    if (beginsHandler(call))
      paths.expected = thrown;
    return paths;
  }
  case Callee::Wrapper:
    return ofWrapper(callee->getName());
  case Callee::Contract:
    return contract;
  case Callee::Known:
    if (const PathBounds *known = find(*callee))
      return *known;
    return contract; // left alone
  }
  llvm_unreachable("a kind of callee without a case");
}

} // namespace caudal
