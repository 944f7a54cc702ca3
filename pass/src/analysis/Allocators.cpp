// Finds the functions of memory allocators, which must not be preempted. Called by the files in sections/, before
// planning, and by JumpCircles.cpp. See Allocators.h.
#include "analysis/Allocators.h"
#include "analysis/Calls.h"
#include "Compat.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/Regex.h"

using namespace llvm;

namespace caudal {

/// C's names, with no prefix.
static bool isOfC(StringRef name) {
  return NameSwitch<bool>(name)
      .Cases({"malloc", "free", "calloc", "realloc", "reallocarray", "aligned_alloc", "posix_memalign"}, true)
      .Cases({"memalign", "valloc", "pvalloc", "malloc_usable_size", "cfree", "malloc_trim"}, true)
      .Cases({"free_sized", "free_aligned_sized"}, true)
      .Cases({"mallocx", "rallocx", "xallocx", "sallocx", "dallocx", "sdallocx", "mallctl", "mallctlbymib"}, true)
      .Default(false);
}

/// jemalloc (also as Rust's crate builds it), mimalloc, gperftools' tcmalloc and rpmalloc, where they leave C's names to others.
static bool isPrefixed(StringRef name) {
  static const Regex names("^((je_|_rjem_)((m|c|re)alloc|free(_sized|_aligned_sized)?|aligned_alloc|posix_memalign|memalign|p?valloc"
                           "|[mrxsdn]allocx|sdallocx|mallctl(nametomib|bymib)?|malloc_(stats_print|usable_size|trim))"
                           "|mi_(t?heap_)?(u?(m|z|c|re|rez|rec)alloc(n|f|arr|array)?(_[a-z_]+)?|[cu]?free(_[a-z_]+)?"
                           "|aligned_([a-z_]*alloc|free)|memalign|posix_memalign|p?valloc|(alloc_)?new(_[a-z_]+)?|expand"
                           "|strn?dup|realpath|usable_size|good_size|collect(_reduce)?|thread_(init|done))|mi_t?heap_(destroy|delete)"
                           "|tc_((m|c|re)alloc|malloc_(skip_new_handler|size)|free(_sized)?|cfree|memalign|posix_memalign|p?valloc"
                           "|(new|delete)(array)?(_nothrow|_aligned|_aligned_nothrow|_sized|_sized_aligned)?)"
                           "|rp((m|c|re)alloc|free|memalign|posix_memalign|aligned_[a-z]*alloc"
                           "|malloc_((heap|thread)_[a-z_]+|usable_size)))$");
  // Expressions take microseconds for each name, and modules of C++ have thousands of long ones.
  bool mayBe = any_of(std::initializer_list<StringRef>{"je_", "_rjem_", "mi_", "tc_", "rp"},
                      [&](StringRef prefix) { return name.starts_with(prefix); });
  return mayBe && names.match(name);
}

/// The forms of operator new and delete that a program can replace; not placement, nor forms with a class's own parameters.
static bool isOperator(StringRef name) {
  static const Regex names("^(_Zn[wa]m|_Zd[la]Pvm?)(St11align_val_t)?(RKSt9nothrow_t)?(12__hot_cold_t)?$");
  return (name.starts_with("_Zn") || name.starts_with("_Zd")) && names.match(name);
}

static bool isOfRust(StringRef name) {
  return any_of(std::initializer_list<StringRef>{"__rust_alloc", "__rust_dealloc", "__rust_realloc", "__rg_alloc", "__rg_dealloc",
                                                 "__rg_realloc", "__rdl_alloc", "__rdl_dealloc", "__rdl_realloc",
                                                 // Implementations of the trait, in both manglings.
                                                 "alloc..global..GlobalAlloc", "6global11GlobalAlloc"},
                [&](StringRef part) { return name.contains(part); });
}

bool isAllocatorEntry(StringRef name) { return isOfC(name) || isOperator(name) || isPrefixed(name) || isOfRust(name); }

void forEachAllocatorEntry(Module &module, function_ref<void(Function &)> visit) {
  for (Function &function : module)
    if (!function.isDeclaration() && isAllocatorEntry(function.getName()))
      visit(function);
  for (GlobalAlias &alias : module.aliases())
    if (auto *function = dyn_cast_or_null<Function>(alias.getAliaseeObject()); function && isAllocatorEntry(alias.getName()))
      visit(*function);
}

DenseSet<const Function *> findAllocators(Module &module) {
  DenseSet<const Function *> found;
  SmallVector<const Function *, 16> open;
  forEachAllocatorEntry(module, [&](Function &entry) { open.push_back(&entry); });
  while (!open.empty()) {
    const Function *function = open.pop_back_val();
    if (!found.insert(function).second)
      continue;
    for (const Instruction &instruction : instructions(*function)) {
      const auto *call = dyn_cast<CallBase>(&instruction);
      const Function *callee = call ? call->getCalledFunction() : nullptr;
      if (callee && !callee->isDeclaration() && !callee->doesNotReturn() && !call->doesNotReturn())
        open.push_back(callee);
    }
  }
  return found;
}

/// The system functions that allocators call.
static bool isOfSystem(StringRef name) {
  // pthread_once calls what it is given.
  if (name.starts_with("pthread_"))
    return name != "pthread_once";
  return NameSwitch<bool>(name)
      .Cases({"mmap", "munmap", "mremap", "madvise", "mprotect", "sbrk", "syscall", "sysconf", "clock_gettime"}, true)
      .Cases({"__errno_location", "sched_getcpu", "sched_yield"}, true)
      .Default(false);
}

bool hasNoProbes(const CallBase &call) {
  if (call.isInlineAsm())
    return true;
  const Function *callee = call.getCalledFunction();
  if (!callee)
    return false;
  StringRef name = callee->getName();
  if (isAllocatorEntry(name) || isOfSystem(name))
    return true;
  Callee kind = Calls::kind(call);
  // C++'s library calls what programs give it, and so does the unwinder.
  bool mayCallBack = name.starts_with("_Z") || name.starts_with("_Unwind_") || name.starts_with("__cxa_");
  return kind == Callee::Inlined || (kind == Callee::Library && !mayCallBack);
}

/// Rust's own allocator, which has a way for large alignments on which libc hands it an address in memory. In the older mangling a
/// type stands as it is written.
static bool isRustsSystem(StringRef name) {
  if (name.contains("__rdl_") || name.contains("_$LT$std..alloc..System$u20$as$u20$core..alloc..global..GlobalAlloc$GT$") ||
      name.contains("_$LT$impl$u20$core..alloc..global..GlobalAlloc$u20$for$u20$std..alloc..System$GT$"))
    return true;
  std::string written = demangle(name);
  StringRef text = written;
  return text.contains("<std::alloc::System as core::alloc::global::GlobalAlloc>::") ||
         text.contains("<impl core::alloc::global::GlobalAlloc for std::alloc::System>::");
}

bool handsOn(const Function &function) {
  auto isHarmless = [](const Instruction &instruction) {
    const auto *intrinsic = dyn_cast<IntrinsicInst>(&instruction);
    if (!instruction.mayReadOrWriteMemory() || (intrinsic && intrinsic->isAssumeLikeIntrinsic()))
      return true;
    const auto *call = dyn_cast<CallBase>(&instruction);
    return call && !intrinsic && !call->isInlineAsm() && hasNoProbes(*call);
  };
  return isRustsSystem(function.getName()) || all_of(instructions(function), isHarmless);
}

} // namespace caudal
