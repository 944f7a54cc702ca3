/*
 * Lets requests wait for condition variables of the C library. Called by locks.c, where a request waits, and the program, where it
 * signals a condition.
 *
 * A request that waits is put aside, so the C library could not wake it. It must not come back for no reason now and then, though every wait
 * may: a program that uses a timed wait as a sleep would find the sleep far too short. So pthread_cond_signal and _broadcast are defined here,
 * for all of the program as `syscall` is: they count where a request waits, and go on to the C library where threads may wait.
 *
 *      waits    waiting + 1, what is rung    unlocks the mutex   is put aside until more is rung
 *      signals                               [under the mutex, or behind it]   waiting? rung + 1
 *
 * A thread that changes the condition under the mutex does so either before the waiter has the mutex, and then the waiter does not wait, or
 * after the waiter has given it up, and then that thread sees the count of the waiting with the mutex.
 */
#define _GNU_SOURCE
#include "conditions.h"
#include "libc.h"

#include <dlfcn.h>
#include <stddef.h>

#define BELLS 64

#pragma weak dlsym
#pragma weak dlvsym

typedef int condition_function(pthread_cond_t *);

static struct caudal_bell bells[BELLS];

struct caudal_bell *caudal_probe_bell(const pthread_cond_t *condition)
{
    return &bells[((uintptr_t)condition / sizeof(pthread_cond_t)) % BELLS];
}

static void ring(const pthread_cond_t *condition)
{
    struct caudal_bell *bell = caudal_probe_bell(condition);
    if (__builtin_expect(__atomic_load_n(&bell->waiting, __ATOMIC_SEQ_CST) != 0, 0)) {
        __atomic_fetch_add(&bell->rung, 1, __ATOMIC_SEQ_CST);
    }
}

/* --- the C library's ---------------------------------------------------------------------------------------------------- */

static struct {
    int is_known, hears;
    condition_function *signal, *broadcast;
} next;

static int own_signal(pthread_cond_t *condition);
static int own_broadcast(pthread_cond_t *condition);

/* The C library has two versions of these; dlsym may find the one of long ago. */
static condition_function *find(const char *name, condition_function *own)
{
    void *found = NULL;
    if (dlvsym != NULL) {
        found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
    }
    if (found == NULL && dlsym != NULL) {
        found = dlsym(RTLD_NEXT, name);
    }
    return found == (void *)(uintptr_t)own ? NULL : (condition_function *)(uintptr_t)found;
}

extern condition_function named_signal __asm__("pthread_cond_signal");

/* Is what the program calls by this name ours? In a static program dlsym finds nothing, if it is there. */
static int is_the_programs(void)
{
    void *programs = dlsym != NULL ? dlsym(RTLD_DEFAULT, "pthread_cond_signal") : NULL;
    if (programs == NULL) {
        programs = (void *)(uintptr_t)named_signal;
        /* Hidden from the compiler, which may think that two names are two functions. */
        __asm__("" : "+r"(programs));
    }
    return programs == (void *)(uintptr_t)own_signal;
}

CAUDAL_CONSTRUCTOR static void know_next(void)
{
    if (!__atomic_load_n(&next.is_known, __ATOMIC_ACQUIRE)) {
        next.signal = find("pthread_cond_signal", own_signal);
        next.broadcast = find("pthread_cond_broadcast", own_broadcast);
        next.hears = is_the_programs();
        __atomic_store_n(&next.is_known, 1, __ATOMIC_RELEASE);
    }
}

int caudal_probe_hears_signals(void)
{
    know_next();
    return next.hears;
}

/* C11's. In a static program they are what is left: they call the same by a name of the C library's own, and a function of ours by this name
 * would be in the place of it. So code with probes comes to what is below by its wrappers, and other code is not heard. Declared here, for
 * `#include <threads.h>` would find the file of that name in this directory. */
extern int cnd_signal(void *condition);
extern int cnd_broadcast(void *condition);

static int own_signal(pthread_cond_t *condition)
{
    ring(condition);
    know_next();
    return next.signal != NULL ? next.signal(condition) : cnd_signal(condition);
}

static int own_broadcast(pthread_cond_t *condition)
{
    ring(condition);
    know_next();
    return next.broadcast != NULL ? next.broadcast(condition) : cnd_broadcast(condition);
}

int caudal_around_cnd_signal_v1(pthread_cond_t *condition)
{
    ring(condition);
    return LIBC(cnd_signal)(condition);
}

int caudal_around_cnd_broadcast_v1(pthread_cond_t *condition)
{
    ring(condition);
    return LIBC(cnd_broadcast)(condition);
}

int pthread_cond_signal(pthread_cond_t *condition) __attribute__((weak, alias("own_signal")));
int pthread_cond_broadcast(pthread_cond_t *condition) __attribute__((weak, alias("own_broadcast")));
