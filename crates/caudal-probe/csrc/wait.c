#include "wait.h"

int (*caudal_probe_wait_hook_v1)(uint32_t round);

int caudal_probe_wait(uint32_t round)
{
    int (*hook)(uint32_t) = __atomic_load_n(&caudal_probe_wait_hook_v1, __ATOMIC_RELAXED);
    return hook != NULL && hook(round);
}

int caudal_probe_is_over(const struct caudal_until *until)
{
    struct timespec now;
    clock_gettime(until->clock, &now);
    return now.tv_sec > until->at->tv_sec ||
           (now.tv_sec == until->at->tv_sec && now.tv_nsec >= until->at->tv_nsec);
}

/* How much of the depth is in the half that `unit` counts in. */
static uint32_t held(uint32_t unit)
{
    uint32_t depth = caudal_probe_v1.depth;
    return unit == CAUDAL_PROBE_LOCK ? depth / CAUDAL_PROBE_LOCK : depth & CAUDAL_PROBE_SECTIONS;
}

void caudal_probe_leave(uint32_t unit)
{
    struct caudal_probe *block = &caudal_probe_v1;
    if (held(unit) == 0) {
        return;
    }
    __asm__ __volatile__("" : : : "memory");
    block->depth -= unit;
    if (block->depth == 0 && block->pending) {
        caudal_probe_call_exit_v1();
    }
}

/* Out of a section in the midst of an allocator, where nothing may yield: what came due meanwhile, the next probe makes. */
void caudal_section_exit_later_v1(void)
{
    struct caudal_probe *block = &caudal_probe_v1;
    if (held(CAUDAL_PROBE_SECTION) == 0) {
        return;
    }
    __asm__ __volatile__("" : : : "memory");
    block->depth -= CAUDAL_PROBE_SECTION;
    if (block->depth == 0 && block->pending) {
        caudal_probe_due_again();
    }
}
