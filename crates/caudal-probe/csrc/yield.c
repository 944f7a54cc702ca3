/*
 * Calls the hook of the runtime where a yield is to happen. Called by probe.S and budget.S after a decision, and handlers that
 * call a probe as a C function.
 *
 * The hook may come back on another thread. So no function here touches thread-local memory both before and after it,
 * and errno's address is asked for anew: glibc declares __errno_location() const, which would allow a compiler to keep
 * the first thread's address; the declaration below does not.
 */
#include "state.h"

/* The state that a thread starts with: rounding to nearest, all exceptions masked, none seen. */
#define MXCSR_AT_START 0x1f80u
#define MXCSR_SEEN 0x3fu
#define X87_AT_START 0x37fu

extern int *errno_now(void) __asm__("__errno_location");

static uint32_t mxcsr(void)
{
    uint32_t value;
    __asm__ __volatile__("stmxcsr %0" : "=m"(value));
    return value;
}

static void set_mxcsr(uint32_t value)
{
    __asm__ __volatile__("ldmxcsr %0" : : "m"(value));
}

static uint16_t x87_control(void)
{
    uint16_t value;
    __asm__ __volatile__("fnstcw %0" : "=m"(value));
    return value;
}

static void set_x87_control(uint16_t value)
{
    __asm__ __volatile__("fldcw %0" : : "m"(value));
}

void caudal_probe_yield(uint64_t now_tsc)
{
    int error = *errno_now();
    uint32_t sse = mxcsr();
    uint16_t x87 = x87_control();
    if (__builtin_expect((sse & ~MXCSR_SEEN) != MXCSR_AT_START, 0)) {
        set_mxcsr(MXCSR_AT_START);
    }
    if (__builtin_expect(x87 != X87_AT_START, 0)) {
        set_x87_control(X87_AT_START);
    }
    __atomic_load_n(&caudal_probe_hook_v1, __ATOMIC_RELAXED)(now_tsc);
    /* A check (stmxcsr) takes five times as long as a load of what is there already. */
    set_mxcsr(sse);
    if (x87_control() != x87) {
        set_x87_control(x87);
    }
    *errno_now() = error;
}

static void yield_if(uint64_t now_tsc)
{
    if (now_tsc != 0) {
        caudal_probe_yield(now_tsc);
    }
}

static uint64_t stack_here(void)
{
    uint64_t stack;
    __asm__ __volatile__("movq %%rsp, %0" : "=r"(stack));
    return stack;
}

void caudal_probe_call_clock_v1(void)
{
    yield_if(caudal_probe_decide_clock(stack_here()));
}

void caudal_probe_call_budget_v1(void)
{
    yield_if(caudal_probe_decide_budget(stack_here()));
}

void caudal_probe_call_flag_v1(void)
{
    yield_if(caudal_probe_decide_flag(stack_here()));
}

void caudal_probe_call_exit_v1(void)
{
    yield_if(caudal_probe_decide_exit(stack_here()));
}
