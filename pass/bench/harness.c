/*
 * Linked into every program of the bench, not instrumented: arms the thread before main and says afterwards, on stderr,
 * what happened.
 *
 *     CAUDAL_BENCH            off: never due
 *                             visits (the default): at each quantum's end the cold path reads the clock and arms anew, for
 *                             there is no coroutine's stack
 *                             times: besides, it is noted how far from its end each quantum ended
 *                             count: never due; what the probes have counted in all is said
 *     CAUDAL_BENCH_QUANTUM    in cycles, 5,192 (2 us at 2.596 GHz) unless given
 *     CAUDAL_BENCH_RATE       instructions in a thousand cycles, for the modes of CompilerInterrupts.h
 *     CAUDAL_BENCH_SETTER     a core, on which a second thread sets the flag at each quantum's end
 *
 * Compiled without vector registers (-mgeneral-regs-only): they are the program's in the cold path.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bins.h"
#include "caudal/probe.h"

static struct bins early, late;
static uint64_t quantum = 5192, started, started_ns;
static int is_timed, is_counted, is_off;
static const int64_t plenty = INT64_MAX / 2;

/* Time that the program's thread has had of its core: not that of others, nor of the thread that sets flags. */
static uint64_t own_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static const char *given(const char *name, const char *otherwise)
{
    return getenv(name) ? getenv(name) : otherwise;
}

static void note(uint64_t now, uint64_t due)
{
    if (now < due) {
        count_in(&early, due - now);
    } else {
        count_in(&late, now - due);
    }
}

/*
 * The cold paths of CompilerInterrupts.h's modes. The counter, which probes subtract from, is the budget; what is armed is added to
 * what is left, so that a quantum that was counted too long makes the next one shorter, as published.
 */
static int64_t interval;          /* instructions that a quantum is taken to have */
static uint64_t quantum_began;    /* clock */
static int64_t counted;           /* instructions that the counter was armed with since */
static uint64_t baseline_visits;

static void arm_counter(uint64_t now)
{
    quantum_began = now;
    counted = interval;
    caudal_probe_v1.budget += interval;
}

__attribute__((used)) static void instruction_counter_due(void)
{
    uint64_t now = caudal_probe_rdtsc();
    baseline_visits++;
    if (is_timed) {
        note(now, quantum_began + quantum);
    }
    arm_counter(now);
}

/* Where the quantum is not over, goes on with what is left of it at the instructions a cycle that it has had so far. */
__attribute__((used)) static void counter_gated_clock_due(void)
{
    uint64_t now = caudal_probe_rdtsc(), elapsed = now - quantum_began;
    baseline_visits++;
    if (elapsed < quantum) {
        int64_t more = (int64_t)((__extension__ (unsigned __int128)(quantum - elapsed)) * (uint64_t)counted / (elapsed | 1));
        counted += more;
        caudal_probe_v1.budget += more;
        return;
    }
    if (is_timed) {
        note(now, quantum_began + quantum);
    }
    arm_counter(now);
}

/* Like those of the probe library: all registers but r11 are kept, and the stack may have any alignment. */
#define COLD_ENTRY(name, due)                                                                                      \
    __asm__(".globl " name "\n.type " name ", @function\n.p2align 4\n" name ":\n"                                  \
            "push %rbp\nmov %rsp, %rbp\n"                                                                          \
            "push %rax\npush %rcx\npush %rdx\npush %rsi\npush %rdi\npush %r8\npush %r9\npush %r10\n"               \
            "and $-16, %rsp\ncall " due "\n"                                                                       \
            "mov -8(%rbp), %rax\nmov -16(%rbp), %rcx\nmov -24(%rbp), %rdx\nmov -32(%rbp), %rsi\n"                  \
            "mov -40(%rbp), %rdi\nmov -48(%rbp), %r8\nmov -56(%rbp), %r9\nmov -64(%rbp), %r10\n"                   \
            "leave\nret\n")

COLD_ENTRY("caudal_probe_cold_instruction_counter", "instruction_counter_due");
COLD_ENTRY("caudal_probe_cold_counter_gated_clock", "counter_gated_clock_due");

/* Sets the main thread's flag. */
static struct caudal_flag *flag;
static int setter_core;
static uint64_t asked_at;

static void *set_flags(void *unused)
{
    cpu_set_t core;
    CPU_ZERO(&core);
    CPU_SET(setter_core, &core);
    if (sched_setaffinity(0, sizeof core, &core) != 0) {
        perror("CAUDAL_BENCH_SETTER");
        exit(1);
    }
    for (uint64_t next = caudal_probe_rdtsc() + quantum;;) {
        uint64_t now = caudal_probe_rdtsc();
        if (now < next) {
            continue;
        }
        /* Lateness counts from when it was asked first. */
        if (!__atomic_load_n(&flag->asked, __ATOMIC_RELAXED)) {
            __atomic_store_n(&asked_at, now, __ATOMIC_RELAXED);
            __atomic_store_n(&flag->asked, 1, __ATOMIC_RELEASE);
        }
        next = now + quantum;
    }
    return unused;
}

static void start_setter(const char *core)
{
    pthread_t thread;
    setter_core = atoi(core);
    flag = &caudal_flag_v1;
    if (pthread_create(&thread, NULL, set_flags, NULL) != 0) {
        perror("CAUDAL_BENCH_SETTER");
        exit(1);
    }
}

/* The hook of the modes that Caudal has. */
static void yielded(uint64_t now)
{
    note(now, flag ? __atomic_load_n(&asked_at, __ATOMIC_RELAXED) : caudal_probe_due_v1());
    caudal_probe_arm_v1(now, quantum);
}

__attribute__((constructor)) static void start(void)
{
    const char *mode = given("CAUDAL_BENCH", "visits"), *rate = getenv("CAUDAL_BENCH_RATE");
    quantum = strtoull(given("CAUDAL_BENCH_QUANTUM", "5192"), NULL, 10);
    is_timed = strcmp(mode, "times") == 0;
    is_counted = strcmp(mode, "count") == 0;
    is_off = strcmp(mode, "off") == 0;
    if (is_timed) {
        caudal_probe_hook_v1 = yielded;
        caudal_probe_v1.stack_high = UINT64_MAX;
    }
    if (getenv("CAUDAL_BENCH_SETTER")) {
        start_setter(getenv("CAUDAL_BENCH_SETTER"));
    }
    started_ns = own_ns();
    started = caudal_probe_rdtsc();
    if (is_counted) {
        caudal_probe_v1.budget = plenty;
    } else if (is_off) {
        return;
    } else if (rate) {
        interval = (int64_t)(strtoull(rate, NULL, 10) * quantum / 1000);
        caudal_probe_v1.budget = 0;
        arm_counter(started);
    } else {
        caudal_probe_arm_v1(started, quantum);
    }
}

/* Programs that have threads of their own say here when they wait for one (third-party/request.h). */
void program_waits(int begins)
{
    if (is_off || is_counted) {
        return; /* never due; what was counted stays */
    }
    if (interval != 0) {
        caudal_probe_v1.budget = begins ? plenty : 0;
        if (!begins) {
            arm_counter(caudal_probe_rdtsc());
        }
    } else if (begins) {
        caudal_probe_disarm_v1();
    } else {
        caudal_probe_arm_v1(caudal_probe_rdtsc(), quantum);
    }
}

__attribute__((destructor)) static void stop(void)
{
    uint64_t cycles = caudal_probe_rdtsc() - started;
    uint64_t own = own_ns() - started_ns;
    uint64_t visits = caudal_probe_cold_visits_v1() + baseline_visits;
    long long spent = is_counted ? plenty - caudal_probe_v1.budget : 0;
    caudal_probe_disarm_v1();
    fprintf(stderr, "{\"cycles\": %llu, \"own_ns\": %llu, \"visits\": %llu, \"spent\": %lld, ",
            (unsigned long long)cycles, (unsigned long long)own, (unsigned long long)visits, spent);
    print_bins(stderr, "early", &early);
    fprintf(stderr, ", ");
    print_bins(stderr, "late", &late);
    fprintf(stderr, "}\n");
}
