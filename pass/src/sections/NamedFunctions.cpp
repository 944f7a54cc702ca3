// Says by its name what a function of a library does to its thread. Called by KeepNames.cpp, Redirection.cpp,
// SurroundedCalls.cpp and Sections.cpp. See NamedFunctions.h.
#include "sections/NamedFunctions.h"
#include "Compat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Demangle/Demangle.h"

using namespace llvm;

namespace caudal {

bool isRustPrint(StringRef name) {
  if (!name.contains("stdio"))
    return false;
  std::string written = demangle(name);
  StringRef text = written;
  if (text.contains("io::stdio::_print") || text.contains("io::stdio::_eprint"))
    return true;
  return (text.contains("io::stdio::Stdout as") || text.contains("io::stdio::Stderr as")) &&
         text.contains("io::Write>::");
}

bool isRustGuard(StringRef name) {
  if (!name.contains("stdio") || !name.contains("4lock"))
    return false;
  StringRef text = name;
  return text.contains("6Stdout4lock") || text.contains("6Stderr4lock");
}

bool isKeyed(StringRef name) {
  return name == "pthread_getspecific" || name == "pthread_setspecific" || name == "tss_get" || name == "tss_set";
}

bool isLock(StringRef name) {
  return any_of(std::initializer_list<StringRef>{"pthread_mutex_", "pthread_rwlock_", "pthread_spin_", "flockfile", "ftrylockfile",
                                                 "funlockfile"},
                [&](StringRef begin) { return name.starts_with(begin); });
}

bool loadsObjects(StringRef name) {
  return NameSwitch<bool>(name).Cases({"dlopen", "dlmopen", "dlclose"}, true).Default(false);
}

bool makesChild(StringRef name) {
  return NameSwitch<bool>(name).Cases({"clone", "fork", "forkpty", "daemon"}, true).Default(false);
}

} // namespace caudal
