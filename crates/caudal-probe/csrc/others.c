/*
 * Keeps a request from being preempted in lock functions that are not the C library's. Called by bind.c, which hands such
 * functions over.
 *
 * Such a function takes a lock or a handler of signals in the place of the C library's: it is the program's own, a mock, or a preloaded one.
 * It is called as the program calls it. The code here does around it what the wrappers of the C library's functions do, unless it has called
 * one of these by itself: a request that has a lock is not pre-empted, and handlers run in a section.
 */
#define _GNU_SOURCE
#include "signals.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>

/* Some functions have fewer arguments, or answer nothing. */
typedef int lock_function(void *lock, long second, long third);
typedef void section_function(void *stream);

static uint32_t depth_now(void) __attribute__((noinline));
static uint32_t depth_now(void)
{
    return caudal_probe_v1.depth;
}

__attribute__((visibility("hidden"))) int caudal_probe_others_LOCK(void *lock, long second, long third, lock_function *others)
{
    uint32_t depth = depth_now();
    int answer = others(lock, second, third);
    if ((answer == 0 || answer == EOWNERDEAD) && depth_now() == depth) {
        caudal_probe_hold(CAUDAL_PROBE_LOCK);
    }
    return answer;
}

__attribute__((visibility("hidden"))) int caudal_probe_others_UNLOCK(void *lock, long second, long third, lock_function *others)
{
    uint32_t depth = depth_now();
    int answer = others(lock, second, third);
    if (answer == 0 && depth_now() == depth) {
        caudal_probe_leave(CAUDAL_PROBE_LOCK);
    }
    return answer;
}

/* Whether others' functions have been seen to hand on to the C library: a mutex that was free was taken afterwards, by its word. */
static int hand_on;

static int is_taken(const pthread_mutex_t *mutex)
{
#if defined(__GLIBC__)
    return __atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED) != 0;
#else
    (void)mutex;
    return 0;
#endif
}

/* Where the mutex is a thread's own, who waits for it may be who has it. */
static int may_be_waited_for(const pthread_mutex_t *mutex)
{
#if defined(__GLIBC__)
    int kind = mutex->__data.__kind & 3;
    return kind != PTHREAD_MUTEX_RECURSIVE_NP && kind != PTHREAD_MUTEX_ERRORCHECK_NP;
#else
    (void)mutex;
    return 0;
#endif
}

/* A request that finds it taken lets others run first: in another's function the thread would sleep. Only a request reads the mutex, for
 * what a mock is given may be none. */
__attribute__((visibility("hidden"))) int caudal_probe_others_MUTEX(pthread_mutex_t *mutex, long second, long third, lock_function *others)
{
    uint32_t round;
    int was_taken, answer;
    if (mutex == NULL || !caudal_probe_wait(CAUDAL_WAIT_ASKS_ONLY) || !may_be_waited_for(mutex)) {
        return caudal_probe_others_LOCK(mutex, second, third, others);
    }
    for (round = 0; __atomic_load_n(&hand_on, __ATOMIC_RELAXED) && is_taken(mutex) && caudal_probe_wait(round); round++) {
    }
    was_taken = is_taken(mutex);
    answer = caudal_probe_others_LOCK(mutex, second, third, others);
    if (answer == 0 && !was_taken && is_taken(mutex)) {
        __atomic_store_n(&hand_on, 1, __ATOMIC_RELAXED);
    }
    return answer;
}

__attribute__((visibility("hidden"))) int caudal_probe_others_TRY(void *stream, long second, long third, lock_function *others)
{
    uint32_t depth = depth_now();
    int answer = others(stream, second, third);
    if (answer == 0 && depth_now() == depth) {
        caudal_probe_hold(CAUDAL_PROBE_SECTION);
    }
    return answer;
}

__attribute__((visibility("hidden"))) void caudal_probe_others_ENTER(void *stream, long second, long third, section_function *others)
{
    uint32_t depth = depth_now();
    (void)second, (void)third;
    others(stream);
    if (depth_now() == depth) {
        caudal_probe_hold(CAUDAL_PROBE_SECTION);
    }
}

__attribute__((visibility("hidden"))) void caudal_probe_others_LEAVE(void *stream, long second, long third, section_function *others)
{
    uint32_t depth = depth_now();
    (void)second, (void)third;
    others(stream);
    if (depth_now() == depth) {
        caudal_probe_leave(CAUDAL_PROBE_SECTION);
    }
}

/* --- signals -------------------------------------------------------------------------------------------------------- */

typedef int sigaction_function(int signal, const struct sigaction *action, struct sigaction *before);
typedef void handler(int);
typedef handler *signal_function(int signal, handler *handler);

/* The kernel's. */
static int installed(int signal, struct sigaction *action)
{
    return caudal_plain_sigaction_v1(signal, NULL, action) == 0;
}

/* Where the other one has given the kernel the program's `handler`, it is to run in a section. */
static void cover(int signal, handler *handler)
{
    struct sigaction now;
    int error = errno;
    if (handler != SIG_DFL && handler != SIG_IGN && installed(signal, &now) && now.sa_handler == handler) {
        caudal_around_sigaction_v1(signal, &now, NULL);
    }
    errno = error;
}

__attribute__((visibility("hidden"))) int caudal_probe_others_SIGACTION(int signal, const struct sigaction *action,
                                                                        struct sigaction *before, sigaction_function *others)
{
    struct sigaction kernels, programs;
    int error = errno;
    int is_known = installed(signal, &kernels) && caudal_around_sigaction_v1(signal, NULL, &programs) == 0;
    int answer;
    errno = error;
    answer = others(signal, action, before);
    if (answer == 0 && is_known && before != NULL && before->sa_handler == kernels.sa_handler) {
        before->sa_handler = programs.sa_handler;
    }
    if (answer == 0 && action != NULL) {
        cover(signal, action->sa_handler);
    }
    return answer;
}

__attribute__((visibility("hidden"))) handler *caudal_probe_others_SIGNAL(int signal, handler *handler, long third, signal_function *others)
{
    struct sigaction kernels, programs;
    int error = errno;
    int is_known = installed(signal, &kernels) && caudal_around_sigaction_v1(signal, NULL, &programs) == 0;
    void (*answer)(int);
    (void)third;
    errno = error;
    answer = others(signal, handler);
    if (answer != SIG_ERR) {
        answer = is_known && answer == kernels.sa_handler ? programs.sa_handler : answer;
        cover(signal, handler);
    }
    return answer;
}
