// Sections.cpp: Keeps code from being preempted that must not be: locks, allocators, what lists say. Called by Pass.cpp in
// front of planning, and Plugin.cpp in front of the inliner. See Sections.h.
#include "Sections.h"
#include "Allocators.h"
#include "Calls.h"
#include "Compat.h"
#include "Known.h"
#include "Marks.h"
#include "Names.h"
#include "Resolvers.h"
#include "Surround.h"
#include "ThreadLocals.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/EscapeEnumerator.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace caudal {

/// The attribute of functions whose calls have been surrounded.
static constexpr StringLiteral seenAttribute = "caudal-sections";
static constexpr StringLiteral annotation = "caudal_nopreempt";

/// Functions whose wrapper is "caudal_wrap_NAME_v1", with the same parameters.
static constexpr StringLiteral wrapped[] = {
    "pthread_mutex_lock",        "pthread_mutex_trylock",     "pthread_mutex_timedlock",
    "pthread_mutex_clocklock",   "pthread_mutex_unlock",      "pthread_cond_wait",
    "pthread_cond_timedwait",    "pthread_cond_clockwait",    "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock",     "pthread_rwlock_tryrdlock",  "pthread_rwlock_trywrlock",
    "pthread_rwlock_timedrdlock", "pthread_rwlock_timedwrlock", "pthread_rwlock_clockrdlock",
    "pthread_rwlock_clockwrlock", "pthread_rwlock_unlock",     "pthread_spin_lock",
    "pthread_spin_trylock",      "pthread_spin_unlock",       "sem_wait",
    "sem_timedwait",             "sem_clockwait",             "pthread_once",
    "mtx_lock",                  "mtx_trylock",               "mtx_timedlock",
    "mtx_unlock",                "cnd_wait",                  "cnd_timedwait",
    "cnd_signal",                "cnd_broadcast",             "call_once",
    "flockfile",                 "ftrylockfile",              "funlockfile",
    "sigaction",                 "signal",                    "syscall",
    "vfork",                     "uselocale",                 "_Fork",
    "bsd_signal",                "ssignal",                   "sysv_signal",
    "__sysv_signal",             "sigset",                    "longjmp",
    "_longjmp",                  "siglongjmp",                "__longjmp_chk",
};

/// Functions of stdio with such a wrapper, and their parameters: pointers, integers, and more. Names like `getline` are older than their
/// place in the library: a program's own function has other ones. Not here: what moves a single character, which takes less time
/// than a section.
static constexpr struct {
  StringLiteral name, parameters;
} wrappedStreams[] = {
    {"printf", "p."},          {"fprintf", "pp."},      {"__printf_chk", "ip."},    {"__fprintf_chk", "pip."},
    {"vprintf", "pp"},         {"vfprintf", "ppp"},     {"__vprintf_chk", "ipp"},   {"__vfprintf_chk", "pipp"},
    {"puts", "p"},             {"fputs", "pp"},         {"fgets", "pip"},           {"fwrite", "piip"},
    {"fread", "piip"},         {"getline", "ppp"},      {"getdelim", "ppip"},       {"__getdelim", "ppip"},
    {"fflush", "p"},           {"fseek", "pii"},        {"fseeko", "pii"},          {"ftell", "p"},
    {"ftello", "p"},           {"rewind", "p"},         {"fgetpos", "pp"},          {"fsetpos", "pp"},
    {"setvbuf", "ppii"},       {"setbuf", "pp"},        {"fclose", "p"},            {"freopen", "ppp"},
    {"perror", "p"},
};

/// Functions whose wrapper has another name.
static constexpr struct {
  StringLiteral name, wrapper;
} renamed[] = {
    // std::condition_variable::wait(std::unique_lock<std::mutex> &), of libstdc++.
    {"_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE", "caudal_wrap_std_condition_wait_v1"},
};

/// The stream that a function of stdio without a wrapper locks.
struct Stream {
  enum Kind { None, Argument, Unnamed } kind;
  unsigned argument;
};

static Stream streamOf(StringRef name) {
  auto argument = [](unsigned number) { return Stream{Stream::Argument, number}; };
  return NameSwitch<Stream>(name)
      .Cases({"fscanf", "vfscanf", "__isoc99_fscanf", "__isoc99_vfscanf", "__isoc23_fscanf", "__isoc23_vfscanf"},
             argument(0))
      .Case("__fgets_chk", argument(3))
      .Case("__fread_chk", argument(4))
      // Those that block by themselves.
      .Cases({"scanf", "vscanf", "__isoc99_scanf", "__isoc99_vscanf", "__isoc23_scanf", "__isoc23_vscanf"},
             Stream{Stream::Unnamed, 0})
      .Default(Stream{Stream::None, 0});
}

/// Rust's calls that print, which hold a lock of their thread meanwhile, and call what formats.
static bool isRustPrint(StringRef name) {
  if (!name.contains("stdio"))
    return false;
  std::string written = demangle(name);
  StringRef text = written;
  if (text.contains("io::stdio::_print") || text.contains("io::stdio::_eprint"))
    return true;
  return (text.contains("io::stdio::Stdout as") || text.contains("io::stdio::Stderr as")) &&
         text.contains("io::Write>::");
}

/// Rust's calls that lock stdout or stderr and give out a guard.
static bool isRustGuard(StringRef name) {
  if (!name.contains("stdio") || !name.contains("4lock"))
    return false;
  StringRef text = name;
  return text.contains("6Stdout4lock") || text.contains("6Stderr4lock");
}

/// Whether `name` is a function for what a thread keeps behind a key.
static bool isKeyed(StringRef name) {
  return name == "pthread_getspecific" || name == "pthread_setspecific" || name == "tss_get" || name == "tss_set";
}

/// Calls `enter` in front of `call` and `exit` behind it, whichever way it is left, with what `enter` has answered.
static void surround(CallBase &call, FunctionCallee enter, FunctionCallee exit) {
  CallInst *entered = callBefore(&call, call, enter, {});
  SmallVector<Value *, 1> answer;
  if (!entered->getType()->isVoidTy())
    answer.push_back(entered);
  CallBase *around = &call;
  if (auto *plain = dyn_cast<CallInst>(around); plain && !plain->doesNotThrow())
    around = catchUnwinding(*plain);
  callBefore(behind(*around), *around, exit, answer);
  if (auto *invoke = dyn_cast<InvokeInst>(around))
    if (Instruction *place = behindUnwinding(*invoke))
      callBefore(place, *around, exit, answer);
}

/// Whether who calls a function of that name has a lock or a section afterwards, or has none any more.
static bool isLock(StringRef name) {
  return any_of(std::initializer_list<StringRef>{"pthread_mutex_", "pthread_rwlock_", "pthread_spin_", "flockfile", "ftrylockfile",
                                                 "funlockfile"},
                [&](StringRef begin) { return name.starts_with(begin); });
}

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

/// How many initialisers of C++'s thread_local variables have become sections?
static unsigned surroundThreadLocals(Module &module) {
  bool hasAny = any_of(module.globals(), [](const GlobalVariable &variable) { return variable.isThreadLocal(); });
  if (!hasAny)
    return 0;
  DenseSet<const Function *> allocators = findAllocators(module), resolvers = findResolvers(module);
  return surroundInitialisers(module, [&](const Function &function) {
    return function.hasAvailableExternallyLinkage() || allocators.contains(&function) || resolvers.contains(&function);
  });
}

PreservedAnalyses KeepNamesPass::run(Module &module, ModuleAnalysisManager &) {
  // Of allocators' entry points, until it can be seen which only hand on.
  static constexpr StringLiteral untilSeen = "caudal-kept";
  if (options_.off)
    return PreservedAnalyses::all();
  // In front of the inliner, with which marks go.
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

FunctionCallee Sections::library(StringRef name, ArrayRef<Type *> parameters, Type *result) {
  result = result ? result : Type::getVoidTy(module_.getContext());
  FunctionCallee callee =
      module_.getOrInsertFunction(name, FunctionType::get(result, parameters, /*isVarArg=*/false));
  if (auto *function = dyn_cast<Function>(callee.getCallee()))
    function->setDoesNotThrow();
  changed_ = true;
  return callee;
}

// --- which functions --------------------------------------------------------------------------------------------

/// Functions of other modules, and what is called through pointers, may have probes: these do not yield while an allocator is
/// waiting for them, nor where they have returned to it. So may the copy that the linker takes of an inline function.
void Sections::surroundInAllocator(Function &function) {
  auto isPart = [&](const CallBase &call) {
    return hasNoProbes(call) || (allocators_.contains(call.getCalledFunction()) && Calls::kind(call) == Callee::Known);
  };
  SmallVector<CallBase *, 16> calls;
  for (Instruction &instruction : instructions(function))
    if (auto *call = dyn_cast<CallBase>(&instruction);
        call && !isa<CallBrInst>(call) && !call->isMustTailCall() && !call->doesNotReturn() && !isPart(*call))
      calls.push_back(call);
  Type *depth = Type::getInt32Ty(module_.getContext());
  for (CallBase *call : calls) {
    redirected_[call->getCalledFunction() ? call->getCalledFunction()->getName() : "(through a pointer)"]++;
    surround(*call, library("caudal_allocator_calls_v1", {}, depth), library("caudal_allocator_called_v1", {depth}));
  }
}

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

// --- calls ------------------------------------------------------------------------------------------------------

/// As the assembler reads a name of any characters.
static std::string quoted(StringRef name) { return ("\"" + name + "\"").str(); }

/// Gives all users of `from`, but allocators and what resolves ifuncs, the function `to`: calls, and addresses in tables.
void Sections::redirect(Function &from, StringRef to) {
  SmallVector<std::pair<Instruction *, unsigned>, 4> kept;
  int64_t changed = 0;
  for (Use &use : from.uses()) {
    auto *user = dyn_cast<Instruction>(use.getUser());
    if (user && isUntouched(user->getFunction()))
      kept.push_back({user, use.getOperandNo()});
    else
      changed++;
  }
  if (changed == 0)
    return;
  FunctionCallee wrapper = module_.getOrInsertFunction(to, from.getFunctionType(), from.getAttributes());
  // The linker still sees who is called, and takes it from where it would have taken it.
  module_.appendModuleInlineAsm((from.hasExternalWeakLinkage() ? ".weak " : ".globl ") + quoted(from.getName()));
  from.replaceAllUsesWith(wrapper.getCallee());
  for (auto [user, operand] : kept)
    user->setOperand(operand, &from);
  redirected_[from.getName()] += changed;
  changed_ = true;
}

/// Whether `function` has these parameters, written as in `wrappedStreams`.
static bool hasParameters(const Function &function, StringRef parameters) {
  bool takesMore = parameters.consume_back(".");
  const FunctionType &type = *function.getFunctionType();
  auto isKind = [](const auto &each) {
    auto [parameter, kind] = each;
    return kind == 'p' ? parameter->isPointerTy() : parameter->isIntegerTy();
  };
  return type.isVarArg() == takesMore && type.getNumParams() == parameters.size() && all_of(zip(type.params(), parameters), isKind);
}

/// Gives all calls of a function of this module the function `to`, which comes to it.
void Sections::redirectCalls(Function &own, StringRef to) {
  FunctionCallee wrapper;
  for (User *user : make_early_inc_range(own.users())) {
    auto *call = dyn_cast<CallBase>(user);
    if (!call || call->getCalledFunction() != &own || isUntouched(call->getFunction()))
      continue;
    if (!wrapper)
      wrapper = module_.getOrInsertFunction(to, own.getFunctionType());
    call->setCalledFunction(wrapper);
    redirected_[own.getName()]++;
    changed_ = true;
  }
}

/// Calls of `name`, and of what the linker calls __real_`name` where it was told --wrap=`name`.
void Sections::redirectNamed(StringRef name, function_ref<bool(const Function &)> isIt) {
  for (auto [prefix, wrapper] : {std::pair("", "caudal_wrap_"), {"__real_", "caudal_real_"}})
    if (Function *function = module_.getFunction((prefix + name).str()); function && function->isDeclaration() && isIt(*function))
      redirect(*function, (wrapper + name + "_v1").str());
  // In a static program, nothing else tells the library that it is not the C library's (csrc/bind.c).
  Function *own = module_.getFunction(name);
  std::string mark = ("caudal_defines_" + name).str();
  if (own && !own->isDeclaration() && own->hasExternalLinkage() && !module_.getNamedValue(mark)) {
    GlobalAlias *alias = GlobalAlias::create(own->getValueType(), own->getAddressSpace(), GlobalValue::ExternalLinkage, mark, own, &module_);
    alias->setVisibility(GlobalValue::HiddenVisibility);
    changed_ = true;
    // It may come to the C library's in a way that nobody sees (dlsym).
    if (isLock(name))
      redirectCalls(*own, ("caudal_wrap_" + name + "_v1").str());
  }
}

void Sections::redirectAll() {
  for (StringRef name : wrapped)
    redirectNamed(name, [](const Function &) { return true; });
  for (const auto &stream : wrappedStreams)
    redirectNamed(stream.name, [&](const Function &function) {
      // Whether the library has one that is weak here, the program may want to know.
      return !function.hasExternalWeakLinkage() && hasParameters(function, stream.parameters);
    });
  for (const auto &[name, wrapper] : renamed)
    if (Function *function = module_.getFunction(name); function && function->isDeclaration())
      redirect(*function, wrapper);
}

/// C++'s guards of static variables: waited for in front of the call, a lock behind it.
bool Sections::surroundGuard(CallBase &call, StringRef name) {
  LLVMContext &context = module_.getContext();
  if (name == "__cxa_guard_acquire") {
    Type *pointer = PointerType::get(context, 0);
    callBefore(&call, call, library("caudal_guard_wait_v1", {pointer}), {call.getArgOperand(0)});
    callBefore(behind(call), call, library("caudal_guard_acquired_v1", {call.getType()}), {&call});
    return true;
  }
  if (name == "__cxa_guard_release" || name == "__cxa_guard_abort") {
    callBefore(behind(call), call, library("caudal_guard_released_v1", {}), {});
    return true;
  }
  return false;
}

bool Sections::surroundScan(CallBase &call, StringRef name) {
  Stream stream = streamOf(name);
  bool hasStream = stream.argument < call.arg_size() && call.getArgOperand(stream.argument)->getType()->isPointerTy();
  if (stream.kind == Stream::None || (stream.kind == Stream::Argument && !hasStream))
    return false;
  // Only a thread that is cancelled unwinds out of these: it is not going to run anything else. The stream stays locked then.
  Instruction *after = behind(call);
  if (stream.kind == Stream::Argument) {
    Value *file = call.getArgOperand(stream.argument);
    callBefore(&call, call, library("caudal_stdio_enter_v1", {file->getType()}), {file});
    callBefore(after, call, library("caudal_stdio_exit_v1", {file->getType()}), {file});
  } else {
    callBefore(&call, call, library("caudal_section_enter_v1", {}), {});
    callBefore(after, call, library("caudal_section_exit_v1", {}), {});
  }
  return true;
}

/// A section from one call of a library to another.
bool Sections::surroundKnown(CallBase &call, StringRef name) {
  KnownCall kind = knownCall(name);
  CallBase *last = kind == KnownCall::Leave ? &call : kind == KnownCall::Prepare ? preparedFor(call) : nullptr;
  if (kind != KnownCall::Enter && !last)
    return false;
  if (kind != KnownCall::Leave)
    callBefore(&call, call, library("caudal_section_enter_v1", {}), {});
  if (last)
    callBefore(behind(*last), *last, library("caudal_section_exit_v1", {}), {});
  return true;
}

/// Calls that load shared objects and unload them. They run constructors and destructors, under a lock that its thread may take again: another
/// request would be given an object whose constructors have not come to their end.
static bool loadsObjects(StringRef name) {
  return NameSwitch<bool>(name).Cases({"dlopen", "dlmopen", "dlclose"}, true).Default(false);
}

/// Calls that make a child process. The child of `clone` may share this thread's memory and thread-local storage, and stop it meanwhile;
/// the others call the handlers of pthread_atfork, in the child too, and have the C library's locks meanwhile.
static bool makesChild(StringRef name) {
  return NameSwitch<bool>(name).Cases({"clone", "fork", "forkpty", "daemon"}, true).Default(false);
}

/// Is each call of `callee` a section?
bool Sections::isSectionCall(const Function &callee) {
  auto [known, isNew] = sectionCalls_.try_emplace(&callee, false);
  if (isNew)
    known->second = isRustPrint(callee.getName()) || (callee.isDeclaration() && (makesChild(callee.getName()) || loadsObjects(callee.getName()))) ||
                    (callee.isDeclaration() && knownCall(callee.getName()) == KnownCall::Section) ||
                    exclusions_.find(Exclusion::Call, callee.getName());
  return known->second;
}

void Sections::surroundCalls(Function &function) {
  SmallVector<CallBase *, 16> calls;
  for (Instruction &instruction : instructions(function))
    if (auto *call = dyn_cast<CallBase>(&instruction); call && !isa<CallBrInst>(call) && !call->isMustTailCall())
      if (Function *callee = call->getCalledFunction(); callee && !callee->isIntrinsic())
        calls.push_back(call);
  for (CallBase *call : calls) {
    Function &callee = *call->getCalledFunction();
    bool isLibrarys = callee.isDeclaration();
    if (isLibrarys && (surroundGuard(*call, callee.getName()) || surroundScan(*call, callee.getName()) ||
                      surroundKnown(*call, callee.getName())))
      redirected_[callee.getName()]++;
    else if (isSectionCall(callee) || isMarkedCall(*call)) {
      redirected_[callee.getName()]++;
      surround(*call, library("caudal_section_enter_v1", {}), library("caudal_section_exit_v1", {}));
    }
  }
}

/// libstdc++'s std::call_once puts its closure into two thread-locals and calls pthread_once. From the first store to the one
/// that clears it nothing may yield, and who has to wait in between takes both along.
void Sections::rewriteCallOnce(Function &function) {
  GlobalVariable *callable = module_.getGlobalVariable("_ZSt15__once_callable");
  GlobalVariable *body = module_.getGlobalVariable("_ZSt11__once_call");
  if (!callable || !body)
    return;
  auto isCallable = [&](const Value *address) {
    const auto *local = dyn_cast<IntrinsicInst>(address);
    return address == callable || (local && local->getIntrinsicID() == Intrinsic::threadlocal_address &&
                                   local->getArgOperand(0) == callable);
  };
  SmallVector<StoreInst *, 4> stores;
  SmallVector<CallBase *, 2> calls;
  for (Instruction &instruction : instructions(function)) {
    if (auto *store = dyn_cast<StoreInst>(&instruction); store && isCallable(store->getPointerOperand()))
      stores.push_back(store);
    if (auto *call = dyn_cast<CallBase>(&instruction); call && call->getCalledFunction())
      if (call->getCalledFunction()->getName() == "caudal_wrap_pthread_once_v1" &&
          call->getArgOperand(1)->stripPointerCasts()->getName() == "__once_proxy")
        calls.push_back(call);
  }
  for (StoreInst *store : stores) {
    if (isa<ConstantPointerNull>(store->getValueOperand()))
      callBefore(store->getNextNode(), *store, library("caudal_lock_exit_v1", {}), {});
    else
      callBefore(store, *store, library("caudal_lock_enter_v1", {}), {});
  }
  for (CallBase *call : calls) {
    IRBuilder<> builder(call);
    giveLine(builder, *call);
    Type *pointer = builder.getPtrTy();
    FunctionCallee wrapper = module_.getOrInsertFunction(
        "caudal_wrap_std_call_once_v1",
        FunctionType::get(builder.getInt32Ty(), {pointer, pointer, pointer, pointer}, /*isVarArg=*/false));
    Value *arguments[] = {call->getArgOperand(0), call->getArgOperand(1), builder.CreateThreadLocalAddress(callable),
                          builder.CreateThreadLocalAddress(body)};
    CallBase *replacement;
    if (auto *invoke = dyn_cast<InvokeInst>(call))
      replacement = builder.CreateInvoke(wrapper, invoke->getNormalDest(), invoke->getUnwindDest(), arguments);
    else
      replacement = builder.CreateCall(wrapper, arguments);
    call->replaceAllUsesWith(replacement);
    call->eraseFromParent();
    changed_ = true;
  }
}

// --- functions --------------------------------------------------------------------------------------------------

/// Enters a section where `function` begins, and leaves it wherever the function is left.
void Sections::becomeSection(Function &function) {
  FunctionCallee enter = library("caudal_section_enter_v1", {}), exit = library("caudal_section_exit_v1", {});
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
    surroundInAllocator(function);
    return;
  }
  surroundCalls(function);
  rewriteCallOnce(function);
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
  redirectAll();
  changed_ |= surroundThreadLocals(module_) > 0;
  // Insertion declares functions; those have nothing to change.
  SmallVector<Function *, 0> functions;
  for (Function &function : module_)
    if (mayChange(function))
      functions.push_back(&function);
  for (Function *function : functions) {
    change(*function);
    function->addFnAttr(seenAttribute);
  }
  report_.sections(redirected_);
  return changed_;
}

} // namespace caudal
