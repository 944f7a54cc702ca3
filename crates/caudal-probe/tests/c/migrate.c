/*
 * The hook may switch stacks and return on another thread: what the library keeps goes with the coroutine, and nothing
 * of the first thread is touched afterwards.
 */
#include "caudal/probe.h"
#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <ucontext.h>

static ucontext_t coroutine, scheduler;
static char stack[256 * 1024];
static struct caudal_probe *block_before, *block_after;
static int errno_after, finished;
static int64_t carried_after, left_after;
static void (*probe)(void);

/* Thread-local addresses that no compiler keeps across a yield. */
static __attribute__((noinline)) struct caudal_probe *block_here(void)
{
    __asm__ __volatile__("");
    return &caudal_probe_v1;
}
static __attribute__((noinline)) int errno_here(void)
{
    __asm__ __volatile__("");
    return errno;
}
static __attribute__((noinline)) void set_errno(int value)
{
    __asm__ __volatile__("");
    errno = value;
}

static void probe_clock(void)
{
    CAUDAL_PROBE_CLOCK();
}

/* The budget in a register is the thread's on which the hook returns. */
static __attribute__((noinline)) void probe_carried(void)
{
    register int64_t left __asm__("r11") = -1;
    __asm__ __volatile__("call caudal_probe_cold_carried_v1" : "+r"(left) : : "memory", "cc");
    carried_after = left;
    left_after = block_here()->budget;
}

static void hook(uint64_t now)
{
    (void)now;
    swapcontext(&coroutine, &scheduler);
}

static void body(void)
{
    block_before = block_here();
    set_errno(4711);
    probe();
    errno_after = errno_here();
    block_after = block_here();
    /* Not due yet. */
    for (int i = 0; i < 1000; i++) {
        CAUDAL_PROBE_CLOCK();
        CAUDAL_PROBE_BUDGET(1);
        CAUDAL_PROBE_FLAG();
    }
    finished = 1;
}

static void *second_thread(void *unused)
{
    set_errno(3);
    caudal_probe_arm_v1(caudal_probe_rdtsc(), 100000000000);
    swapcontext(&scheduler, &coroutine);
    CHECK_EQUAL(errno_here(), 4711);
    return unused;
}

static void migrate(void (*by)(void))
{
    pthread_t thread;
    probe = by;
    finished = 0;
    getcontext(&coroutine);
    coroutine.uc_stack.ss_sp = stack;
    coroutine.uc_stack.ss_size = sizeof stack;
    coroutine.uc_link = &scheduler;
    makecontext(&coroutine, body, 0);
    caudal_probe_arm_v1(0, 1);
    swapcontext(&scheduler, &coroutine);
    CHECK_EQUAL(finished, 0);
    set_errno(5);
    CHECK_EQUAL(pthread_create(&thread, NULL, second_thread, NULL), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    CHECK_EQUAL(finished, 1);
    CHECK_EQUAL(errno_after, 4711);
    CHECK_EQUAL(errno_here(), 5);
    CHECK(block_before == block_here());
    CHECK(block_after != block_before);
}

int main(void)
{
    caudal_probe_hook_v1 = hook;
    caudal_probe_v1.stack_low = (uintptr_t)stack;
    caudal_probe_v1.stack_high = (uintptr_t)stack + sizeof stack;
    migrate(probe_clock);
    CHECK_EQUAL(caudal_probe_cold_visits_v1(), 1);
    migrate(probe_carried);
    CHECK_EQUAL(caudal_probe_cold_visits_v1(), 2);
    CHECK_EQUAL(carried_after, left_after);
    CHECK(left_after > 0 && left_after < INT64_MAX);
    return 0;
}
