/* A handler of signals is interrupted by another, at each instruction with which the library begins and ends it: the depth of sections is
 * right in it and behind it, whether they return or not. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "handlers.h"

__attribute__((noreturn)) void caudal_wrap_siglongjmp_v1(sigjmp_buf, int);

static sigjmp_buf back;
static int leaves;
static void (*inner)(void), (*interrupted)(void);
static volatile uint32_t outer_depth;

/* What may be interrupted begins or ends here: a stop that the parent knows from that of a step. */
static inline void mark(void)
{
    __asm__ __volatile__("int3");
}

static void stay(void)
{
}

/* As code without probes does, of which the library hears nothing. */
static void jump(void)
{
    siglongjmp(back, 1);
}

/* As code with probes does. */
static void jump_with_probes(void)
{
    caudal_wrap_siglongjmp_v1(back, 1);
}

static void interrupt(int number)
{
    (void)number;
    inner();
}

static void note_depth(int number)
{
    (void)number;
    outer_depth = caudal_critical_depth();
}

static void be_interrupted(int number)
{
    mark();
    note_depth(number);
    if (leaves) {
        jump_with_probes();
    }
}

__attribute__((noinline)) static void raise_deep(int frames)
{
    volatile char room[1024];
    room[0] = (char)frames;
    if (frames > 0) {
        raise_deep(frames - 1);
    } else {
        CHECK(raise(SIGUSR1) == 0);
    }
    CHECK(room[0] == (char)frames);
}

/* No SIGUSR2 from here on. */
static void end(void)
{
    sigset_t set;
    CHECK(sigemptyset(&set) == 0 && sigaddset(&set, SIGUSR2) == 0);
    CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
    mark();
}

/* In a child, whose handler of SIGUSR1 comes to be interrupted by one of SIGUSR2. */
static void handle_interrupted(void)
{
    handle(SIGUSR1, note_depth);
    handle(SIGUSR2, interrupt);
    /* What ran before, deeper on the stack, may not be found. */
    raise_deep(20);
    CHECK_EQUAL(outer_depth, 1);
    handle(SIGUSR1, be_interrupted);
    CHECK(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
    if (sigsetjmp(back, 1) == 0) {
        CHECK(raise(SIGUSR1) == 0);
    }
    end();
    CHECK_EQUAL(outer_depth, 1);
    is_outside();
    _exit(0);
}

static void leave(int number)
{
    (void)number;
    jump();
}

/* The same where the child's handler has been left in silence, and what is interrupted finds that, in a section. */
static void probe_interrupted(void)
{
    volatile int has_probed = 0;
    handle(SIGUSR1, leave);
    handle(SIGUSR2, interrupt);
    CHECK(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
    if (sigsetjmp(back, 1) == 0) {
        CHECK(raise(SIGUSR1) == 0);
    }
    if (!has_probed) {
        has_probed = 1;
        caudal_critical_enter();
        mark();
        CHECK_EQUAL(caudal_critical_depth(), 1);
    }
    end();
    CHECK_EQUAL(caudal_critical_depth(), 1);
    caudal_critical_exit();
    is_outside();
    _exit(0);
}

/* The child goes on with a signal, or with none, and stops or ends. Not 0: it stops. */
static int goes_on(pid_t child, int how, int number, int *status)
{
    CHECK(ptrace(how, child, NULL, number) == 0 && waitpid(child, status, 0) == child);
    return WIFSTOPPED(*status);
}

static int is_at_mark(pid_t child, int status)
{
    siginfo_t why;
    CHECK(WIFSTOPPED(status));
    CHECK(ptrace(PTRACE_GETSIGINFO, child, NULL, &why) == 0);
    return WSTOPSIG(status) == SIGTRAP && why.si_code == SI_KERNEL;
}

/* SIGUSR2 comes so many instructions behind the first of the entry of SIGUSR1's handler, or behind the first mark. 0: what may be
 * interrupted has ended before. */
static int is_interrupted_after(int steps, int from_mark)
{
    int status, step, number = SIGUSR1, is_within = 1;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        interrupted();
    }
    CHECK(waitpid(child, &status, 0) == child && WIFSTOPPED(status) && WSTOPSIG(status) == SIGUSR1);
    if (from_mark) {
        CHECK(goes_on(child, PTRACE_CONT, number, &status) && is_at_mark(child, status));
        number = 0;
    }
    for (step = 0; is_within && step < steps; step++) {
        is_within = goes_on(child, PTRACE_SINGLESTEP, number, &status) && !is_at_mark(child, status);
        number = 0;
    }
    number = is_within ? SIGUSR2 : 0;
    while (goes_on(child, PTRACE_CONT, number, &status)) {
        number = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fprintf(stderr, "interrupted %d instructions behind the %s: status %x\n", steps, from_mark ? "mark" : "entry", status);
        exit(1);
    }
    return is_within;
}

static int is_interrupted_anywhere(int from_mark)
{
    int steps = 1;
    while (is_interrupted_after(steps, from_mark)) {
        steps++;
    }
    return steps;
}

/* With an argument, of handlers that leave by longjmp, or have left. */
int main(int count, char **arguments)
{
    static void (*const by[])(void) = {stay, jump, jump_with_probes};
    size_t i, ways = count == 1 ? 2 : 3;
    (void)arguments;
    /* At the first call a wrapper is bound. */
    if (sigsetjmp(back, 1) == 0) {
        jump_with_probes();
    }
    for (i = 0; i < ways; i++) {
        inner = by[i];
        interrupted = handle_interrupted;
        CHECK(is_interrupted_anywhere(0) > 50);
        if (count == 1) {
            CHECK(is_interrupted_anywhere(1) > 50);
            continue;
        }
        leaves = 1;
        CHECK(is_interrupted_anywhere(1) > 50);
        interrupted = probe_interrupted;
        CHECK(is_interrupted_anywhere(1) > 50);
    }
    return 0;
}
