#include "Allocators.h"
#include "Calls.h"
#include "Compat.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/InstIterator.h"
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
  static const Regex names("^(je_|_rjem_|mi_|mi_heap_|mi_theap_|tc_|rp)("
                           "(m|z|c|re|rez|rec)alloc(n|f|x|arr|array)?(_small|_aligned|_aligned_at|_(usable|good)_size|_size)?"
                           "|c?free(_size|_sized|_aligned|_size_aligned|_aligned_sized)?"
                           "|[rxsd]allocx|sdallocx|nallocx|p?valloc|memalign|posix_memalign"
                           "|aligned_((re|c)?alloc|free)|aligned_offset_recalloc"
                           "|mallctl|mallctlbymib|malloc_(stats_print|trim)|usable_size|collect"
                           "|(new|newarray|delete|deletearray)(_n|_nothrow|_aligned|_aligned_nothrow|_sized|_sized_aligned)?"
                           "|new_reallocn?)$");
  return names.match(name);
}

/// The forms of operator new and delete that a program can replace; not placement, nor forms with a class's own parameters.
static bool isOperator(StringRef name) {
  static const Regex names("^(_Zn[wa]m|_Zd[la]Pvm?)(St11align_val_t)?(RKSt9nothrow_t)?(12__hot_cold_t)?$");
  return name.starts_with("_Z") && names.match(name);
}

static bool isOfRust(StringRef name) {
  return any_of(std::initializer_list<StringRef>{"__rust_alloc", "__rust_dealloc", "__rust_realloc", "__rg_alloc", "__rg_dealloc",
                                                 "__rg_realloc", "__rdl_alloc", "__rdl_dealloc", "__rdl_realloc",
                                                 // Implementations of the trait, in both manglings.
                                                 "alloc..global..GlobalAlloc", "5alloc6global11GlobalAlloc"},
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

/// What allocators call of the system.
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

/// Rust's own allocator, which has a way for large alignments on which libc hands it an address in memory.
static bool isRustsSystem(StringRef name) {
  if (name.contains("__rdl_"))
    return true;
  std::string written = demangle(name);
  StringRef text = written;
  return text.contains("<std::alloc::System as core::alloc::global::GlobalAlloc>::") ||
         text.contains("<impl core::alloc::global::GlobalAlloc for std::alloc::System>::") ||
         // The older mangling, as it is.
         text.contains("_$LT$std..alloc..System$u20$as$u20$core..alloc..global..GlobalAlloc$GT$::") ||
         text.contains("_$LT$impl$u20$core..alloc..global..GlobalAlloc$u20$for$u20$std..alloc..System$GT$::");
}

bool handsOn(const Function &function) {
  return isRustsSystem(function.getName()) || all_of(instructions(function), [](const Instruction &instruction) {
           const auto *call = dyn_cast<CallBase>(&instruction);
           return call ? hasNoProbes(*call) : !instruction.mayReadOrWriteMemory();
         });
}

} // namespace caudal
