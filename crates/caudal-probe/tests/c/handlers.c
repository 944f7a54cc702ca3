/* Handlers of signals that do not return: the depth of sections is right behind them. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <sys/wait.h>
#include <unistd.h>

#include "handlers.h"

/* --- children of vfork --------------------------------------------------------------------------------------------- */

static void end(int number)
{
    CHECK(caudal_critical_depth() > 0);
    _exit(number);
}

static void execute(int number)
{
    (void)number;
    execl("/bin/true", "true", (char *)NULL);
    _exit(1);
}

/* What `wait` says of a child that sends itself a signal, and has ended without its handler if that is the answer. */
#define STAYED 77
__attribute__((noinline)) static int of_child(int number)
{
    int status;
    pid_t child = vfork();
    if (child == 0) {
        kill(getpid(), number);
        _exit(STAYED);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void children_end_in_handlers(void)
{
    handle(SIGTERM, end);
    handle(SIGHUP, execute);
    CHECK_EQUAL(of_child(SIGTERM), SIGTERM);
    is_outside();
    CHECK_EQUAL(of_child(SIGHUP), 0);
    is_outside();
    caudal_critical_enter();
    CHECK_EQUAL(of_child(SIGTERM), SIGTERM);
    CHECK_EQUAL(caudal_critical_depth(), 1);
    caudal_critical_exit();
    is_outside();
}

/* In a handler of the parent's, which is noted already. */
static void have_a_child(int number)
{
    uint32_t depth = caudal_critical_depth();
    CHECK(depth > 0);
    CHECK_EQUAL(of_child(SIGTERM), SIGTERM);
    CHECK_EQUAL(caudal_critical_depth(), depth);
    (void)number;
}

static void children_of_handlers_end_in_handlers(void)
{
    handle(SIGUSR1, have_a_child);
    CHECK(raise(SIGUSR1) == 0);
    is_outside();
    caudal_critical_enter();
    CHECK(raise(SIGUSR1) == 0);
    CHECK_EQUAL(caudal_critical_depth(), 1);
    caudal_critical_exit();
    is_outside();
}

/* --- handlers that code without probes leaves ------------------------------------------------------------------------- */

#define QUANTUM 1
/* More than a signal's frame has. */
#define ROOM 65536

static sigjmp_buf back;
static uint32_t yields;

static void hook(uint64_t now)
{
    yields++;
    caudal_probe_arm_v1(now, QUANTUM);
}

static void jump(int number)
{
    (void)number;
    siglongjmp(back, 1);
}

/* A request on any stack, which is still taken to be in the handler. */
__attribute__((noinline)) static void leave_handler(void)
{
    if (sigsetjmp(back, 1) == 0) {
        CHECK(raise(SIGUSR1) == 0);
    }
    CHECK_EQUAL(caudal_probe_v1.depth, 1);
    yields = 0;
}

static void pass_probes(void)
{
    int times;
    for (times = 0; times < 3; times++) {
        CAUDAL_PROBE_CLOCK();
    }
}

/* Where the handler was there are variables now: all of them written to, or one. */
__attribute__((noinline)) static void pass_probes_deep(size_t written)
{
    volatile char room[ROOM];
    size_t at;
    for (at = 0; at < written; at++) {
        room[at] = 1;
    }
    pass_probes();
    CHECK(room[0] == 1);
}

static void what_is_written_over_a_handler_shows_that_it_was_left(void)
{
    leave_handler();
    pass_probes_deep(ROOM);
    CHECK(yields > 0);
    CHECK_EQUAL(caudal_probe_v1.depth, 0);
    is_outside();
}

/* Where it does not show, a later probe finds it. */
static void a_later_probe_finds_what_did_not_show(void)
{
    leave_handler();
    pass_probes_deep(1);
    pass_probes();
    CHECK(yields > 0);
    CHECK_EQUAL(caudal_probe_v1.depth, 0);
    is_outside();
}

static volatile char *interrupted_room;

static void write_over_another(int number)
{
    size_t at;
    uint32_t before = yields;
    (void)number;
    for (at = 0; at < ROOM; at++) {
        interrupted_room[at] = 1;
    }
    pass_probes();
    CHECK(caudal_critical_depth() > 0);
    CHECK_EQUAL(yields, before);
}

__attribute__((noinline)) static void be_interrupted_deep(void)
{
    volatile char room[ROOM];
    room[0] = 1;
    interrupted_room = room;
    CHECK(raise(SIGUSR2) == 0);
    pass_probes();
    CHECK(room[ROOM - 1] == 1);
}

static void a_handler_within_one_that_was_left_is_a_section(void)
{
    handle(SIGUSR2, write_over_another);
    leave_handler();
    be_interrupted_deep();
    CHECK(yields > 0);
    CHECK_EQUAL(caudal_probe_v1.depth, 0);
    is_outside();
}

static void what_was_entered_since_stays(void)
{
    leave_handler();
    caudal_critical_enter();
    pass_probes();
    CHECK_EQUAL(yields, 0);
    CHECK_EQUAL(caudal_probe_v1.depth, 1);
    caudal_critical_exit();
    CHECK(yields > 0);
    is_outside();
}

static void what_was_left_since_stays_left(void)
{
    caudal_critical_enter();
    if (sigsetjmp(back, 1) == 0) {
        CHECK(raise(SIGUSR1) == 0);
    }
    caudal_critical_exit();
    CHECK_EQUAL(caudal_probe_v1.depth, 1);
    yields = 0;
    pass_probes();
    CHECK(yields > 0);
    is_outside();
}

static void see_depth(int number)
{
    (void)number;
    CHECK_EQUAL(caudal_probe_v1.depth, 1);
}

/* Its frame comes to lie where that of the one was that has been left. */
static void a_handler_in_the_place_of_one_that_was_left_is_the_only_one(void)
{
    volatile int times;
    for (times = 0; times < 2; times++) {
        if (sigsetjmp(back, 1) == 0) {
            handle(SIGUSR1, times == 0 ? jump : see_depth);
            CHECK(raise(SIGUSR1) == 0);
        }
    }
    CHECK_EQUAL(caudal_probe_v1.depth, 0);
    is_outside();
}

static void handlers_are_left_in_silence(void)
{
    caudal_probe_hook_v1 = hook;
    caudal_probe_v1.stack_low = 0;
    caudal_probe_v1.stack_high = UINT64_MAX;
    caudal_probe_arm_v1(caudal_probe_rdtsc(), QUANTUM);
    handle(SIGUSR1, jump);
    what_is_written_over_a_handler_shows_that_it_was_left();
    a_later_probe_finds_what_did_not_show();
    a_handler_within_one_that_was_left_is_a_section();
    what_was_entered_since_stays();
    what_was_left_since_stays_left();
    caudal_probe_disarm_v1();
    a_handler_in_the_place_of_one_that_was_left_is_the_only_one();
}

int main(void)
{
    children_end_in_handlers();
    children_of_handlers_end_in_handlers();
    handlers_are_left_in_silence();
    return 0;
}
