// Gives calls of lock functions to the wrappers of the probe library. Called by Sections.cpp, once for a module. See
// Redirection.h.
#include "sections/Redirection.h"
#include "sections/NamedFunctions.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace caudal {

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

namespace {

class Redirection {
public:
  Redirection(LibraryCalls &calls, function_ref<bool(const Function *)> isUntouched) : calls_(calls), isUntouched_(isUntouched) {}
  void redirectAll();

private:
  void redirect(Function &from, StringRef to);
  void redirectCalls(Function &own, StringRef to);
  void redirectNamed(StringRef name, function_ref<bool(const Function &)> isIt);

  LibraryCalls &calls_;
  function_ref<bool(const Function *)> isUntouched_;
};

} // namespace

/// As the assembler reads a name of any characters.
static std::string quoted(StringRef name) { return ("\"" + name + "\"").str(); }

/// Gives all users of `from`, but allocators and what resolves ifuncs, the function `to`: calls, and addresses in tables.
void Redirection::redirect(Function &from, StringRef to) {
  SmallVector<std::pair<Instruction *, unsigned>, 4> kept;
  int64_t changed = 0;
  for (Use &use : from.uses()) {
    auto *user = dyn_cast<Instruction>(use.getUser());
    if (user && isUntouched_(user->getFunction()))
      kept.push_back({user, use.getOperandNo()});
    else
      changed++;
  }
  if (changed == 0)
    return;
  FunctionCallee wrapper = calls_.module().getOrInsertFunction(to, from.getFunctionType(), from.getAttributes());
  // The linker still sees who is called, and takes it from where it would have taken it.
  calls_.module().appendModuleInlineAsm((from.hasExternalWeakLinkage() ? ".weak " : ".globl ") + quoted(from.getName()));
  from.replaceAllUsesWith(wrapper.getCallee());
  for (auto [user, operand] : kept)
    user->setOperand(operand, &from);
  calls_.count(from.getName(), changed);
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
void Redirection::redirectCalls(Function &own, StringRef to) {
  FunctionCallee wrapper;
  for (User *user : make_early_inc_range(own.users())) {
    auto *call = dyn_cast<CallBase>(user);
    if (!call || call->getCalledFunction() != &own || isUntouched_(call->getFunction()))
      continue;
    if (!wrapper)
      wrapper = calls_.module().getOrInsertFunction(to, own.getFunctionType());
    call->setCalledFunction(wrapper);
    calls_.count(own.getName());
  }
}

/// Calls of `name`, and of what the linker calls __real_`name` where it was told --wrap=`name`.
void Redirection::redirectNamed(StringRef name, function_ref<bool(const Function &)> isIt) {
  for (auto [prefix, wrapper] : {std::pair("", "caudal_wrap_"), {"__real_", "caudal_real_"}})
    if (Function *function = calls_.module().getFunction((prefix + name).str()); function && function->isDeclaration() && isIt(*function))
      redirect(*function, (wrapper + name + "_v1").str());
  // In a static program, nothing else tells the library that it is not the C library's (csrc/bind.c).
  Function *own = calls_.module().getFunction(name);
  std::string mark = ("caudal_defines_" + name).str();
  if (own && !own->isDeclaration() && own->hasExternalLinkage() && !calls_.module().getNamedValue(mark)) {
    GlobalAlias *alias = GlobalAlias::create(own->getValueType(), own->getAddressSpace(), GlobalValue::ExternalLinkage, mark, own, &calls_.module());
    alias->setVisibility(GlobalValue::HiddenVisibility);
    calls_.change();
    // It may come to the C library's in a way that nobody sees (dlsym).
    if (isLock(name))
      redirectCalls(*own, ("caudal_wrap_" + name + "_v1").str());
  }
}

void Redirection::redirectAll() {
  for (StringRef name : wrapped)
    redirectNamed(name, [](const Function &) { return true; });
  for (const auto &stream : wrappedStreams)
    redirectNamed(stream.name, [&](const Function &function) {
      // Whether the library has one that is weak here, the program may want to know.
      return !function.hasExternalWeakLinkage() && hasParameters(function, stream.parameters);
    });
  for (const auto &[name, wrapper] : renamed)
    if (Function *function = calls_.module().getFunction(name); function && function->isDeclaration())
      redirect(*function, wrapper);
}

void redirectCalls(LibraryCalls &calls, function_ref<bool(const Function *)> isUntouched) {
  Redirection(calls, isUntouched).redirectAll();
}

} // namespace caudal
