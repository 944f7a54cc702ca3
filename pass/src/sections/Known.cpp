// Knows libraries whose state belongs to a thread, and what the pass does about them. Called by Sections.cpp, KeepNames.cpp
// and SurroundedCalls.cpp. See Known.h.
#include "sections/Known.h"
#include "Compat.h"
#include "analysis/Names.h"
#include "llvm/IR/Function.h"

using namespace llvm;

namespace caudal {

// OpenMP, as clang compiles it for libomp. A thread is the root of a team, and has the region that it is in, its loop's next chunk and
// its tasks. Each of these lasts from one call to another.
KnownCall knownCall(StringRef name) {
  if (name.starts_with("omp_"))
    return NameSwitch<KnownCall>(name)
        .Cases({"omp_set_lock", "omp_set_nest_lock"}, KnownCall::Enter)
        .Cases({"omp_unset_lock", "omp_unset_nest_lock"}, KnownCall::Leave)
        .Cases({"omp_test_lock", "omp_test_nest_lock"}, KnownCall::Function)
        .Default(KnownCall::None);
  if (name.starts_with("__tgt_target") || name.starts_with("__kmpc_target"))
    return KnownCall::Section;
  if (!name.consume_front("__kmpc_"))
    return KnownCall::None;
  // Regions, tasks, and what waits for either.
  if (name.starts_with("fork_") || name.starts_with("omp_task") || name.starts_with("omp_wait") || name.starts_with("taskloop") ||
      name.starts_with("omp_reg_task"))
    return name.starts_with("omp_task_begin") || name.starts_with("omp_task_complete") || name.starts_with("omp_task_alloc")
               ? KnownCall::Function
               : KnownCall::Section;
  if (name.starts_with("push_"))
    return KnownCall::Prepare;
  if (name.starts_with("for_static_init") || name.starts_with("team_static_init") || name.starts_with("dist_for_static_init"))
    return KnownCall::Enter;
  // Loops whose chunks are handed out, and reductions.
  if (name.starts_with("dispatch_") || name.starts_with("dist_dispatch_") || name.starts_with("reduce") ||
      name.starts_with("end_reduce") || name.starts_with("doacross_"))
    return KnownCall::Function;
  return NameSwitch<KnownCall>(name)
      .Cases({"barrier", "barrier_master", "cancel_barrier", "end_taskgroup"}, KnownCall::Section)
      .Cases({"serialized_parallel", "critical", "critical_with_hint"}, KnownCall::Enter)
      .Cases({"end_serialized_parallel", "end_critical", "for_static_fini"}, KnownCall::Leave)
      .Cases({"single", "end_single", "master", "end_master", "masked", "end_masked", "ordered", "end_ordered", "taskgroup",
              "copyprivate", "sections_init", "scope"},
             KnownCall::Function)
      .Default(KnownCall::None);
}

CallBase *preparedFor(CallBase &call) {
  for (Instruction *next = call.getNextNode(); next; next = next->getNextNode())
    if (auto *opens = dyn_cast<CallBase>(next); opens && opens->getCalledFunction())
      if (StringRef name = opens->getCalledFunction()->getName(); name.starts_with("__kmpc_fork_"))
        return opens;
  return nullptr;
}

// Subscribers of Rust's tracing keep the spans that are entered, and what filters have answered, by thread, and borrow both while they
// look. They are called through a table of functions, by the dispatcher, which says in a thread-local that it is at work where a
// subscriber is a scope's: an event that another request of the worker meanwhile has would be dropped.
static bool isOfTracing(StringRef name) {
  if (!name.contains("tracing_core"))
    return false;
  std::string written = sourceName(name);
  return StringRef(written).contains(" as tracing_core::subscriber::Subscriber>::") ||
         StringRef(written).contains(" as tracing_core::Subscriber>::") ||
         StringRef(written).contains("tracing_core::dispatcher::get_default") ||
         StringRef(written).contains("tracing_core::dispatcher::get_current");
}

// What Rust's `thread_local!` calls where the variable is not there yet: the initialiser runs within, and its value then takes the place of
// what another request of the thread may have put there meanwhile, and may have borrowed.
static bool makesThreadLocal(StringRef name) {
  if (!name.contains("thread_local"))
    return false;
  std::string written = sourceName(name);
  StringRef text = written;
  return text.contains("std::sys::thread_local::native::") && (text.contains("::get_or_init_slow") || text.contains("::initialize"));
}

bool isKnownSection(StringRef name) { return isOfTracing(name) || makesThreadLocal(name); }

} // namespace caudal
