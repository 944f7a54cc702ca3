/*
 * Critical sections whose length is measured, and leaving them by longjmp. Called by handlers: caudal_critical_enter() and its
 * like in caudal/probe.h, and jumps.c.
 */
#include "signals.h"

void caudal_critical_enter(void)
{
    if (caudal_probe_v1.depth == 0) {
        caudal_probe_state.entered_tsc = caudal_probe_rdtsc();
    }
    caudal_critical_enter_inline();
}

/* The outermost section is about to end: hands out how long it took, once. */
static void measure(void)
{
    void (*hook)(uint64_t) = __atomic_load_n(&caudal_probe_critical_hook_v1, __ATOMIC_RELAXED);
    uint64_t entered = caudal_probe_state.entered_tsc;
    caudal_probe_state.entered_tsc = 0;
    if (hook && entered != 0) {
        hook(caudal_probe_rdtsc() - entered);
    }
}

void caudal_critical_exit(void)
{
    if (caudal_probe_v1.depth == 1) {
        measure();
    }
    caudal_critical_exit_inline();
}

uint32_t caudal_critical_depth(void)
{
    caudal_probe_found_in_section();
    return caudal_probe_v1.depth;
}

void caudal_critical_restore(uint32_t depth)
{
    caudal_probe_found_in_section();
    if (caudal_probe_v1.depth <= depth) {
        return;
    }
    if (depth > 0) {
        caudal_probe_v1.depth = depth;
        return;
    }
    caudal_probe_v1.depth = 1;
    measure();
    caudal_critical_exit_inline();
}
