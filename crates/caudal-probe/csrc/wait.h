/*
 * The interface of wait.c, which the wrappers of locks share. Used by locks.c, once.c, stdio.c, fork.c, signals.h and threads.h.
 *
 * docs/background/preemption-safety.md says what the wrappers are for, and why nobody deadlocks.
 *
 * The wrappers are ordinary C functions without probes: from the lock's own call to the change of the depth nothing yields.
 */
#ifndef CAUDAL_PROBE_WAIT_H
#define CAUDAL_PROBE_WAIT_H

#include "libc.h"
#include "state.h"

#include <time.h>

/* Asks the wait hook whether the caller may be put aside, and does no more. */
#define CAUDAL_WAIT_ASKS_ONLY UINT32_MAX

/* The end of a wait with a time; `clock` is one that clock_gettime knows. */
struct caudal_until {
    clockid_t clock;
    const struct timespec *at;
};

/* Whether there is a wait hook. */
static inline int caudal_probe_may_wait(void)
{
    return __atomic_load_n(&caudal_probe_wait_hook_v1, __ATOMIC_RELAXED) != NULL;
}

/* Lets others of this worker run, if the caller is a request that may be put aside: not 0. */
__attribute__((visibility("hidden"))) int caudal_probe_wait(uint32_t round);
/* Has the time come? */
__attribute__((visibility("hidden"))) int caudal_probe_is_over(const struct caudal_until *until);
/* Where nothing may yield, though no section is left: gives the depth back that was there before, and leaves what came due
 * meanwhile to the next probe. */
__attribute__((visibility("hidden"))) void caudal_probe_back_to(uint32_t depth);

/* The caller has a lock, or is in a section. */
static inline void caudal_probe_hold(uint32_t unit)
{
    caudal_probe_v1.depth += unit;
    /* The lock's protected accesses stay behind this. */
    __asm__ __volatile__("" : : : "memory");
}

/* Leaves a lock or a section, `unit` being CAUDAL_PROBE_LOCK or _SECTION. One that nobody entered (the lock was taken by
 * code without wrappers) is not left. A call, so that who has let others run since it entered asks for its thread anew. */
__attribute__((visibility("hidden"))) void caudal_probe_leave(uint32_t unit);

/* The same in line, for functions in which nothing else may have run. */
static inline void caudal_probe_leave_here(uint32_t unit)
{
    struct caudal_probe *block = &caudal_probe_v1;
    uint32_t half = unit == CAUDAL_PROBE_LOCK ? ~(uint32_t)CAUDAL_PROBE_SECTIONS : CAUDAL_PROBE_SECTIONS;
    if ((block->depth & half) == 0) {
        return;
    }
    __asm__ __volatile__("" : : : "memory");
    block->depth -= unit;
    if (block->depth == 0 && __builtin_expect(block->pending, 0)) {
        caudal_probe_call_exit_v1();
    }
}

/* The request that runs here, among those of this thread: the top of its stack; 0: none of them. */
static inline uint64_t caudal_probe_request(void)
{
    uint64_t stack = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    const struct caudal_probe *block = &caudal_probe_v1;
    return stack >= block->stack_low && stack < block->stack_high ? block->stack_high : 0;
}

/* This is the child of a fork that nobody announces. */
void caudal_probe_in_child(void) __attribute__((visibility("hidden")));

#endif
