/* Handlers of signals that do not return: the depth of sections is right behind them. */
#define _GNU_SOURCE
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

int main(void)
{
    children_end_in_handlers();
    children_of_handlers_end_in_handlers();
    return 0;
}
