/*
 * Freezes the ABI: code instrumented by hand, in assembly and in C, from the header alone, with the library without
 * Rust. Nothing here depends on how fast the machine is.
 */
#include "caudal/probe.h"
#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <unwind.h>

#define NEVER UINT64_MAX
#define ROUNDS 1000

/* instrumented.S */
extern uint64_t sum_clock(uint64_t n);
extern uint64_t sum_budget(uint64_t n);
extern uint64_t sum_flag(uint64_t n);

#define IN_C(name, probe)                            \
    static uint64_t __attribute__((noinline)) name(uint64_t n) \
    {                                                \
        uint64_t sum = 0;                            \
        for (; n > 0; n--) {                         \
            sum += n;                                \
            probe;                                   \
        }                                            \
        return sum;                                  \
    }
IN_C(c_clock, CAUDAL_PROBE_CLOCK())
IN_C(c_budget, CAUDAL_PROBE_BUDGET(1))
IN_C(c_flag, CAUDAL_PROBE_FLAG())

/* As the pass has it: the clock is looked at where a credit has been spent. */
#define CREDIT(cost)                                    \
    do {                                                \
        if ((caudal_probe_v1.credit -= (cost)) < 0) {   \
            caudal_probe_cold_credit_v1();              \
        }                                               \
    } while (0)
IN_C(c_credit, CREDIT(1))
IN_C(c_credit_of_0, CREDIT(0))

static const struct mode {
    uint64_t (*sum)(uint64_t n);
    int follows_clock;
} modes[] = {{sum_clock, 1}, {sum_budget, 1}, {sum_flag, 0}, {c_clock, 1}, {c_budget, 1}, {c_flag, 0},
             {c_credit, 1}};
#define MODES (sizeof modes / sizeof modes[0])

static uint64_t times[4 * ROUNDS];

/* Makes all modes due, without a clock. */
static void force_due(uint64_t deadline)
{
    caudal_probe_v1.deadline = deadline;
    caudal_probe_v1.budget = -1;
    caudal_probe_v1.credit = -1;
    caudal_flag_v1.asked = 1;
    __asm__ __volatile__("" ::: "memory");
}

static uint64_t probe_all(void)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < MODES; i++) {
        sum += modes[i].sum(ROUNDS);
    }
    return sum;
}

static void initial_values_are_never_due(void)
{
    CHECK_EQUAL(caudal_probe_v1.deadline, NEVER);
    CHECK_EQUAL(caudal_probe_v1.budget, CAUDAL_PROBE_NEVER_SPENT);
    CHECK_EQUAL(caudal_probe_v1.depth, 0);
    CHECK_EQUAL(caudal_probe_v1.pending, 0);
    CHECK_EQUAL(caudal_probe_v1.stack_low, 0);
    CHECK_EQUAL(caudal_probe_v1.stack_high, 0);
    CHECK_EQUAL(caudal_probe_v1.quantum, NEVER);
    CHECK_EQUAL(caudal_probe_v1.ratio, 1 << 16);
    CHECK_EQUAL(caudal_flag_v1.asked, 0);
    CHECK_EQUAL((uintptr_t)&caudal_probe_v1 % 64, 0);
    CHECK_EQUAL((uintptr_t)&caudal_flag_v1 % 64, 0);
    CHECK_EQUAL(probe_all(), MODES * ROUNDS * (ROUNDS + 1) / 2);
    CHECK_EQUAL(caudal_probe_cold_visits_v1(), 0);
}

static void *foreign(void *unused)
{
    initial_values_are_never_due();
    return unused;
}

static void foreign_threads_stay_out(void)
{
    pthread_t thread;
    caudal_probe_every_v1 = 1;
    CHECK_EQUAL(caudal_probe_record_start(times, 4 * ROUNDS, 1), 0);
    CHECK_EQUAL(pthread_create(&thread, NULL, foreign, NULL), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    caudal_probe_every_v1 = 0;
    CHECK_EQUAL(caudal_probe_record_stop(), 0);
}

static void every_probe_yields(void)
{
    for (size_t i = 0; i < MODES; i++) {
        caudal_probe_every_v1 = 1;
        CHECK_EQUAL(caudal_probe_record_start(times, 4 * ROUNDS, 1u << 30), 0);
        errno = 4711;
        CHECK_EQUAL(modes[i].sum(ROUNDS), ROUNDS * (ROUNDS + 1) / 2);
        CHECK_EQUAL(errno, 4711);
        caudal_probe_every_v1 = 0;
        CHECK_EQUAL(caudal_probe_record_stop(), ROUNDS);
        /* By which who decides on requests knows that it is no deadline. */
        CHECK_EQUAL(caudal_probe_due_v1(), 0);
        for (size_t t = 1; t < ROUNDS; t++) {
            CHECK(times[t - 1] < times[t]);
        }
        CHECK_EQUAL(probe_all(), MODES * ROUNDS * (ROUNDS + 1) / 2);
    }
}

/* A probe of cost 0 yields as well. */
static void every_probe_yields_whatever_it_costs(void)
{
    caudal_probe_every_v1 = 1;
    CHECK_EQUAL(caudal_probe_record_start(times, 4 * ROUNDS, 1u << 30), 0);
    c_credit_of_0(ROUNDS);
    caudal_probe_every_v1 = 0;
    CHECK_EQUAL(caudal_probe_record_stop(), ROUNDS);
}

static void forced_once_yields_once(void)
{
    for (size_t i = 0; i < MODES; i++) {
        CHECK_EQUAL(caudal_probe_record_start(times, 1, NEVER), 0);
        modes[i].sum(ROUNDS);
        force_due(5);
        modes[i].sum(ROUNDS);
        CHECK_EQUAL(caudal_probe_due_v1(), 5);
        CHECK_EQUAL(caudal_probe_record_stop(), 1);
    }
}

/* However slow the machine: yields are a quantum apart (budget mode may be a fifth early), and so at most as many
 * as fit; and a loop that lasts for quanta has some. */
static void yields_are_a_quantum_apart(void)
{
    const uint64_t quantum = 20000;
    for (size_t i = 0; i < MODES; i++) {
        if (!modes[i].follows_clock) {
            continue;
        }
        uint64_t start = caudal_probe_rdtsc();
        CHECK_EQUAL(caudal_probe_record_start(times, 4 * ROUNDS, quantum), 0);
        while (caudal_probe_rdtsc() - start < 50 * quantum) {
            modes[i].sum(ROUNDS);
        }
        /* Unlike the clock's, a budget ends only when it is spent. */
        modes[i].sum(100 * ROUNDS);
        size_t yields = caudal_probe_record_stop();
        uint64_t elapsed = caudal_probe_rdtsc() - start;
        CHECK(yields >= 1);
        CHECK(yields <= elapsed / (quantum - quantum / 5));
        for (size_t t = 1; t < yields && t < 4 * ROUNDS; t++) {
            CHECK(times[t] - times[t - 1] >= quantum - quantum / 5);
        }
    }
}

static void a_full_buffer_is_not_overrun(void)
{
    uint64_t few[3] = {0, 0, 4711};
    caudal_probe_every_v1 = 1;
    CHECK_EQUAL(caudal_probe_record_start(few, 2, 1), 0);
    sum_flag(ROUNDS);
    caudal_probe_every_v1 = 0;
    CHECK_EQUAL(caudal_probe_record_stop(), ROUNDS);
    CHECK(few[0] != 0 && few[1] != 0);
    CHECK_EQUAL(few[2], 4711);
}

/* The budget's arithmetic, with clocks so far away that this machine's does not matter. */
static void the_ratio_follows(void)
{
    const uint64_t far = (uint64_t)1 << 36;
    CHECK_EQUAL(caudal_probe_record_start(times, 4, NEVER), 0);

    caudal_probe_v1.ratio = 1 << 16;
    caudal_probe_arm_v1(1000, 4000);
    CHECK_EQUAL(caudal_probe_v1.deadline, 5000);
    CHECK_EQUAL(caudal_probe_v1.budget, 2000);
    caudal_probe_v1.ratio = 3 << 15;
    caudal_probe_arm_v1(1000, 4000);
    CHECK_EQUAL(caudal_probe_v1.budget, 3000);

    /* Many more units than cycles: up by half of the ratio and no more. */
    uint64_t now = caudal_probe_rdtsc();
    caudal_probe_v1.ratio = 1 << 16;
    caudal_probe_arm_v1(now - 1000, far);
    caudal_probe_v1.budget = -1;
    caudal_probe_cold_budget_v1();
    CHECK_EQUAL(caudal_probe_v1.ratio, (3 << 15) + 1);
    /* And the rest is armed with it. */
    CHECK(caudal_probe_v1.budget > (int64_t)(far + far / 4) && caudal_probe_v1.budget < (int64_t)(far + far / 2 + far / 8));

    /* A little fewer or more than expected: by half of the difference. */
    const uint64_t farther = (uint64_t)1 << 40;
    caudal_probe_v1.ratio = 1 << 16;
    caudal_probe_arm_v1(caudal_probe_rdtsc() - farther, 4 * farther);
    caudal_probe_v1.budget -= (int64_t)(farther / 4 * 3);
    caudal_probe_cold_budget_v1();
    CHECK(caudal_probe_v1.ratio <= 7 << 13 && caudal_probe_v1.ratio > (7 << 13) - 64);

    /* Far fewer units than cycles: down at once. */
    caudal_probe_v1.ratio = 1 << 16;
    caudal_probe_arm_v1(now - far, 4 * far);
    caudal_probe_v1.budget -= 1000;
    caudal_probe_cold_budget_v1();
    CHECK_EQUAL(caudal_probe_v1.ratio, 1);

    /* Due within a sixth of the quantum: now rather than by another visit. Farther away: later. */
    caudal_probe_arm_v1(caudal_probe_rdtsc(), far);
    uint64_t later = caudal_probe_rdtsc() + far / 4, soon = caudal_probe_rdtsc() + far / 8;
    caudal_probe_v1.deadline = later;
    caudal_probe_cold_budget_v1();
    CHECK_EQUAL(caudal_probe_v1.deadline, later);
    caudal_probe_v1.deadline = soon;
    caudal_probe_cold_budget_v1();
    CHECK_EQUAL(caudal_probe_due_v1(), soon);
    CHECK_EQUAL(caudal_probe_record_stop(), 1);
    caudal_probe_v1.ratio = 1 << 16;
}

/* A thread whose pace has fallen to nearly nothing is not trusted with what a fast one spends in half a quantum. */
static void the_lowest_ratio_limits(void)
{
    const uint64_t far = (uint64_t)1 << 36;
    CHECK_EQUAL(caudal_probe_record_start(times, 4, NEVER), 0);
    for (int i = 0; i < 40; i++) {
        caudal_probe_arm_v1(caudal_probe_rdtsc() - far, 4 * far);
        caudal_probe_v1.budget -= 1 << 30;
        caudal_probe_cold_budget_v1();
    }
    caudal_probe_v1.ratio = 1 << 16;
    caudal_probe_arm_v1(caudal_probe_rdtsc(), far);
    CHECK(caudal_probe_v1.budget > (int64_t)(far / 14) && caudal_probe_v1.budget < (int64_t)(far / 12));

    /* Which it is again after some 280 visits at its old pace. */
    for (int i = 1; i <= 400; i++) {
        caudal_probe_arm_v1(caudal_probe_rdtsc() - far, 4 * far);
        caudal_probe_v1.budget -= (int64_t)far;
        caudal_probe_cold_budget_v1();
        caudal_probe_arm_v1(caudal_probe_rdtsc(), far);
        CHECK(i != 200 || caudal_probe_v1.budget < (int64_t)(far / 3));
    }
    CHECK(caudal_probe_v1.budget > (int64_t)(far / 2 - far / 16));
    CHECK_EQUAL(caudal_probe_record_stop(), 0);
    caudal_probe_v1.ratio = 1 << 16;
}

/* What is left in a register behind a disarm, or is too much to count, is no yield. */
static void what_is_not_due_is_armed_anew(void)
{
    const int64_t most = ((int64_t)1 << 37) - 1;
    CHECK_EQUAL(caudal_probe_record_start(times, 4, NEVER), 0);
    caudal_probe_arm_v1(caudal_probe_rdtsc(), NEVER / 2);
    CHECK_EQUAL(caudal_probe_v1.budget, most);
    caudal_probe_disarm_v1();
    caudal_probe_v1.budget = -1;
    caudal_probe_cold_budget_v1();
    CHECK_EQUAL(caudal_probe_v1.budget, most);
    CHECK_EQUAL(caudal_probe_v1.deadline, NEVER);
    CHECK_EQUAL(caudal_probe_record_stop(), 0);
}

static void *ask(void *flag)
{
    __atomic_store_n((uint8_t *)flag, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void another_thread_asks(void)
{
    pthread_t thread;
    CHECK_EQUAL(caudal_probe_record_start(times, 4, NEVER), 0);
    times[0] = 0;
    sum_flag(ROUNDS);
    CHECK_EQUAL(times[0], 0);
    CHECK_EQUAL(pthread_create(&thread, NULL, ask, &caudal_flag_v1.asked), 0);
    while (times[0] == 0) {
        sum_flag(ROUNDS);
    }
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    sum_flag(ROUNDS);
    CHECK_EQUAL(caudal_probe_due_v1(), NEVER);
    /* The budget's slow check looks at the flag too. */
    caudal_probe_arm_v1(caudal_probe_rdtsc(), (uint64_t)1 << 60);
    caudal_flag_v1.asked = 1;
    caudal_probe_v1.budget = 10;
    c_budget(ROUNDS);
    CHECK_EQUAL(caudal_probe_record_stop(), 2);
}

static uint64_t critical_calls;
static void count_critical(uint64_t cycles)
{
    CHECK_EQUAL(caudal_probe_v1.depth, 1);
    CHECK(cycles > 0);
    critical_calls++;
}

static void critical_sections_defer(void)
{
    caudal_probe_critical_hook_v1 = count_critical;
    for (size_t i = 0; i < MODES; i++) {
        for (int inlined = 0; inlined < 2; inlined++) {
            void (*enter)(void) = inlined ? caudal_critical_enter_inline : caudal_critical_enter;
            void (*leave)(void) = inlined ? caudal_critical_exit_inline : caudal_critical_exit;
            uint64_t calls = critical_calls;
            CHECK_EQUAL(caudal_probe_record_start(times, 4, NEVER), 0);
            times[0] = 0;
            enter();
            enter();
            CHECK_EQUAL(caudal_critical_depth(), 2);
            force_due(7);
            uint64_t visits = caudal_probe_cold_visits_v1();
            modes[i].sum(ROUNDS);
            CHECK_EQUAL(caudal_probe_v1.pending, 1);
            modes[i].sum(ROUNDS);
            CHECK_EQUAL(caudal_probe_cold_visits_v1(), visits + 1);
            CHECK_EQUAL(caudal_probe_v1.deadline, NEVER);
            /* Due again, by the flag: the first deadline stays the one. */
            caudal_flag_v1.asked = 1;
            sum_flag(1);
            CHECK_EQUAL(caudal_flag_v1.asked, 0);
            leave();
            CHECK_EQUAL(times[0], 0);
            modes[i].sum(ROUNDS);
            CHECK_EQUAL(times[0], 0);
            leave();
            CHECK(times[0] != 0);
            CHECK_EQUAL(caudal_probe_due_v1(), 7);
            CHECK_EQUAL(caudal_probe_v1.pending, 0);
            /* Nothing pending: nothing happens at the exit. */
            enter();
            leave();
            CHECK_EQUAL(caudal_probe_record_stop(), 1);
            CHECK_EQUAL(critical_calls, calls + (inlined ? 0 : 2));
        }
    }
    caudal_probe_critical_hook_v1 = NULL;
}

/* An instrumented exit by the keeping convention. */
static void an_inlined_exit_may_keep_registers(void)
{
    CHECK_EQUAL(caudal_probe_record_start(times, 4, NEVER), 0);
    caudal_critical_enter_inline();
    force_due(9);
    sum_clock(1);
    caudal_probe_v1.depth = 0;
    caudal_probe_cold_exit_v1();
    CHECK_EQUAL(caudal_probe_due_v1(), 9);
    CHECK_EQUAL(caudal_probe_record_stop(), 1);
}

static jmp_buf out;
static void __attribute__((noinline)) leave_by_longjmp(void)
{
    caudal_critical_enter();
    caudal_critical_enter();
    force_due(1);
    sum_clock(1);
    longjmp(out, 1);
}

static void longjmp_leaves_sections(void)
{
    volatile uint32_t depth;
    uint64_t calls = critical_calls;
    caudal_probe_critical_hook_v1 = count_critical;
    CHECK_EQUAL(caudal_probe_record_start(times, 4, NEVER), 0);
    times[0] = 0;
    caudal_critical_enter();
    depth = caudal_critical_depth();
    if (setjmp(out) == 0) {
        leave_by_longjmp();
    }
    CHECK_EQUAL(caudal_critical_depth(), 3);
    caudal_critical_restore(depth);
    CHECK_EQUAL(caudal_critical_depth(), 1);
    caudal_critical_restore(2);
    CHECK_EQUAL(caudal_critical_depth(), 1);
    CHECK_EQUAL(times[0], 0);
    CHECK_EQUAL(critical_calls, calls);
    caudal_critical_restore(0);
    CHECK_EQUAL(critical_calls, calls + 1);
    caudal_probe_critical_hook_v1 = NULL;
    CHECK_EQUAL(caudal_critical_depth(), 0);
    CHECK(times[0] != 0);
    CHECK_EQUAL(caudal_probe_record_stop(), 1);
}

static void other_stacks_decline(void)
{
    static char elsewhere[64];
    uint64_t visits;
    for (size_t i = 0; i < MODES; i++) {
        CHECK_EQUAL(caudal_probe_record_start(times, 4, NEVER), 0);
        caudal_probe_v1.stack_low = (uintptr_t)elsewhere;
        caudal_probe_v1.stack_high = (uintptr_t)elsewhere + sizeof elsewhere;
        force_due(1);
        visits = caudal_probe_cold_visits_v1();
        modes[i].sum(ROUNDS);
        CHECK_EQUAL(caudal_probe_cold_visits_v1(), visits + 1);
        /* Below the stack; no stack at all. */
        caudal_probe_v1.stack_low = NEVER - 1;
        caudal_probe_v1.stack_high = NEVER;
        force_due(1);
        modes[i].sum(ROUNDS);
        CHECK_EQUAL(caudal_probe_cold_visits_v1(), visits + 2);
        caudal_probe_v1.stack_low = caudal_probe_v1.stack_high = 0;
        caudal_critical_enter();
        force_due(1);
        modes[i].sum(ROUNDS);
        caudal_critical_exit();
        CHECK_EQUAL(caudal_probe_v1.pending, 0);
        CHECK_EQUAL(caudal_flag_v1.asked, 0);
        /* A declined yield is due again a quantum later. */
        caudal_probe_v1.quantum = (uint64_t)1 << 50;
        force_due(1);
        modes[i].sum(1);
        CHECK(caudal_probe_v1.deadline > caudal_probe_rdtsc() && caudal_probe_v1.deadline < NEVER);
        CHECK(caudal_probe_v1.budget > 0);
        CHECK_EQUAL(caudal_probe_record_stop(), 0);
    }
}

static void disarmed_is_never_due(void)
{
    CHECK_EQUAL(caudal_probe_record_start(times, 4, 1), 0);
    force_due(1);
    caudal_probe_v1.pending = 1;
    caudal_probe_disarm_v1();
    CHECK_EQUAL(caudal_probe_v1.pending, 0);
    probe_all();
    CHECK_EQUAL(caudal_probe_record_stop(), 0);
    CHECK_EQUAL(caudal_probe_v1.stack_high, 0);
    CHECK_EQUAL(caudal_probe_v1.quantum, NEVER);
}

static int unwound_to_main;
int main(void);
static _Unwind_Reason_Code note_frame(struct _Unwind_Context *context, void *unused)
{
    (void)unused;
    unwound_to_main |= (uintptr_t)_Unwind_FindEnclosingFunction((void *)_Unwind_GetIP(context)) == (uintptr_t)main;
    return _URC_NO_REASON;
}

static void walk(uint64_t now)
{
    (void)now;
    CHECK_EQUAL(caudal_probe_v1.deadline, NEVER);
    CHECK_EQUAL(caudal_probe_v1.budget, CAUDAL_PROBE_NEVER_SPENT);
    CHECK_EQUAL(caudal_flag_v1.asked, 0);
    CHECK_EQUAL(caudal_probe_v1.pending, 0);
    _Unwind_Backtrace(note_frame, NULL);
}

static void the_hook_can_walk_the_stack(void)
{
    void (*recorder)(uint64_t) = caudal_probe_hook_v1;
    caudal_probe_v1.stack_high = NEVER;
    caudal_probe_hook_v1 = walk;
    for (size_t i = 0; i < MODES; i++) {
        unwound_to_main = 0;
        force_due(1);
        modes[i].sum(ROUNDS);
        CHECK(unwound_to_main);
    }
    unwound_to_main = 0;
    caudal_critical_enter();
    force_due(1);
    sum_clock(1);
    CHECK(!unwound_to_main);
    caudal_critical_exit();
    CHECK(unwound_to_main);
    CHECK(caudal_probe_record_start(times, 4, 1) == -1);
    caudal_probe_hook_v1 = recorder;
    caudal_probe_v1.stack_high = 0;
}

int main(void)
{
    initial_values_are_never_due();
    the_ratio_follows(); /* while nothing is known of the thread's pace: each quantum is looked at halfway */
    foreign_threads_stay_out();
    every_probe_yields();
    every_probe_yields_whatever_it_costs();
    forced_once_yields_once();
    yields_are_a_quantum_apart();
    a_full_buffer_is_not_overrun();
    another_thread_asks();
    critical_sections_defer();
    an_inlined_exit_may_keep_registers();
    longjmp_leaves_sections();
    other_stacks_decline();
    disarmed_is_never_due();
    the_hook_can_walk_the_stack();
    the_lowest_ratio_limits();
    what_is_not_due_is_armed_anew();
    return 0;
}
