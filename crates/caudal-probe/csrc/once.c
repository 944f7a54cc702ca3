/*
 * Initialisation that happens once, and lets other requests run while they wait for it. Called by the wrappers of wrappers.S, and
 * C++ code that the pass has instrumented.
 *
 * What is initialised once: pthread_once, call_once of C11, std::call_once, and C++'s static variables in functions.
 *
 * None of these has a try_ function. Their words say whether an initialisation is under way; if so, other requests run meanwhile. Between
 * that check and the call, some nanoseconds, a thread may begin to initialise, and then the worker sleeps until it is done.
 */
#include "wait.h"

#include <pthread.h>

/* glibc's pthread_once_t: bit 0, somebody is at it; bit 1, it is done; above, how often the process had forked. */
#define ONCE_IN_PROGRESS 1u
#define ONCE_DONE 2u

static void leave_lock(const int *unused)
{
    (void)unused;
    caudal_probe_leave(CAUDAL_PROBE_LOCK);
}

#if defined(__GLIBC__)
static unsigned once_state(const pthread_once_t *once)
{
    return __atomic_load_n((const unsigned *)once, __ATOMIC_ACQUIRE) & (ONCE_IN_PROGRESS | ONCE_DONE);
}
#else
static unsigned once_state(const pthread_once_t *once)
{
    (void)once;
    return 0;
}
#endif

static int run_once(pthread_once_t *once, void (*initialise)(void))
{
    /* Left by exceptions too, which pthread_once lets through. */
    __attribute__((cleanup(leave_lock))) int held = 1;
    caudal_probe_hold(CAUDAL_PROBE_LOCK);
    (void)held;
    return LIBC(pthread_once)(once, initialise);
}

static void wait_for_other(const pthread_once_t *once)
{
    uint32_t round;
    for (round = 0; once_state(once) == ONCE_IN_PROGRESS && caudal_probe_wait(round); round++) {
    }
}

int caudal_around_pthread_once_v1(pthread_once_t *once, void (*initialise)(void))
{
    if (once_state(once) == ONCE_DONE) {
        return 0;
    }
    wait_for_other(once);
    return run_once(once, initialise);
}

/* C11's: in glibc and musl the same word and the same function. */
void caudal_around_call_once_v1(pthread_once_t *once, void (*initialise)(void))
{
    (void)caudal_around_pthread_once_v1(once, initialise);
}

/* As pthread_once, for libstdc++'s std::call_once, which hands its closure over in two thread-locals: requests that run meanwhile
 * have closures of their own. */
int caudal_wrap_std_call_once_v1(pthread_once_t *once, void (*initialise)(void), void **callable, void **call)
{
    if (once_state(once) == ONCE_DONE) {
        return 0;
    }
    void *own_callable = *callable, *own_call = *call;
    wait_for_other(once);
    *callable = own_callable;
    *call = own_call;
    return run_once(once, initialise);
}

/* In front of __cxa_guard_acquire(guard). Byte 0 of a guard: initialised (Itanium C++ ABI, 3.3.2); byte 1: somebody is at it,
 * in libstdc++ and libc++abi. */
void caudal_guard_wait_v1(const uint8_t *guard)
{
    uint32_t round;
    for (round = 0; __atomic_load_n(&guard[0], __ATOMIC_ACQUIRE) == 0 &&
                    __atomic_load_n(&guard[1], __ATOMIC_RELAXED) != 0 && caudal_probe_wait(round);
         round++) {
    }
}

/* Behind it, with its answer: not 0, the caller initialises. */
void caudal_guard_acquired_v1(int initialises)
{
    if (initialises) {
        caudal_probe_hold(CAUDAL_PROBE_LOCK);
    }
}

/* Behind __cxa_guard_release and __cxa_guard_abort. */
void caudal_guard_released_v1(void)
{
    caudal_probe_leave(CAUDAL_PROBE_LOCK);
}

/* From where std::call_once's thread-locals are set, to where they are cleared. */
void caudal_lock_enter_v1(void)
{
    caudal_probe_hold(CAUDAL_PROBE_LOCK);
}

void caudal_lock_exit_v1(void)
{
    caudal_probe_leave(CAUDAL_PROBE_LOCK);
}
