/*
 * Lets other requests run while a request waits for a lock. Called by the wrappers of locks (locks.c, once.c, conditions.c) and
 * syscall.c.
 */
#include "signals.h"

int (*caudal_probe_wait_hook_v1)(uint32_t round);

int caudal_probe_wait(uint32_t round)
{
    int (*hook)(uint32_t) = __atomic_load_n(&caudal_probe_wait_hook_v1, __ATOMIC_RELAXED);
    if (hook == NULL) {
        return 0;
    }
    caudal_probe_found_in_section();
    return hook(round);
}

int caudal_probe_is_over(const struct caudal_until *until)
{
    struct timespec now;
    LIBC(clock_gettime)(until->clock, &now);
    return now.tv_sec > until->at->tv_sec ||
           (now.tv_sec == until->at->tv_sec && now.tv_nsec >= until->at->tv_nsec);
}

void caudal_probe_leave(uint32_t unit)
{
    caudal_probe_leave_here(unit);
}

void caudal_probe_back_to(uint32_t depth)
{
    struct caudal_probe *block = &caudal_probe_v1;
    __asm__ __volatile__("" : : : "memory");
    block->depth = depth;
    if (depth == 0 && block->pending) {
        caudal_probe_due_again();
    }
}

/* Around what an allocator calls in other modules, which may have probes. What is called may take a lock by its wrapper that the
 * allocator gives back without, or the other way round, so behind it all is as it was in front. */
uint32_t caudal_allocator_calls_v1(void)
{
    uint32_t depth = caudal_probe_v1.depth;
    caudal_probe_hold(CAUDAL_PROBE_SECTION);
    return depth;
}

void caudal_allocator_called_v1(uint32_t depth)
{
    caudal_probe_back_to(depth);
}
