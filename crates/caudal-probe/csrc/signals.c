/*
 * Signal handlers run in a section: they interrupt code at any place, and a probe in them that yielded would leave all of that
 * on a suspended stack, with signals blocked.
 *
 * The kernel is given one of two handlers of this file, which look up the program's by the signal's number. A yield that came due in
 * the handler is not made up for at its end, for the same reasons: the next probe of the interrupted code is made due.
 */
#define _GNU_SOURCE
#include "wait.h"

#include <errno.h>
#include <signal.h>

#define SIGNALS (SIGRTMAX_BOUND + 1)
#define SIGRTMAX_BOUND 64

typedef void plain_handler(int);
typedef void info_handler(int, siginfo_t *, void *);

/* The program's; written before the kernel hears of it. */
static union {
    plain_handler *plain;
    info_handler *info;
} handlers[SIGNALS];

static void on_plain(int signal)
{
    uint32_t depth = caudal_probe_v1.depth;
    plain_handler *handler = __atomic_load_n(&handlers[signal].plain, __ATOMIC_ACQUIRE);
    caudal_probe_hold(CAUDAL_PROBE_SECTION);
    handler(signal);
    /* Whatever the handler has entered or left by itself, the interrupted code finds what it had. */
    caudal_probe_back_to(depth);
}

static void on_info(int signal, siginfo_t *info, void *context)
{
    uint32_t depth = caudal_probe_v1.depth;
    info_handler *handler = __atomic_load_n(&handlers[signal].info, __ATOMIC_ACQUIRE);
    caudal_probe_hold(CAUDAL_PROBE_SECTION);
    handler(signal, info, context);
    caudal_probe_back_to(depth);
}

static int is_function(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) != 0 || (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN);
}

/* What the kernel is to be given for the program's `action`. */
static struct sigaction covered(int signal, const struct sigaction *action)
{
    struct sigaction ours = *action;
    if (!is_function(action)) {
        return ours;
    }
    if (action->sa_flags & SA_SIGINFO) {
        __atomic_store_n(&handlers[signal].info, action->sa_sigaction, __ATOMIC_RELEASE);
        ours.sa_sigaction = on_info;
    } else {
        __atomic_store_n(&handlers[signal].plain, action->sa_handler, __ATOMIC_RELEASE);
        ours.sa_handler = on_plain;
    }
    return ours;
}

/* What the kernel had, as the program gave it. */
static void uncover(struct sigaction *action, plain_handler *plain, info_handler *info)
{
    if (action->sa_flags & SA_SIGINFO) {
        if (action->sa_sigaction == on_info) {
            action->sa_sigaction = info;
        }
    } else if (action->sa_handler == on_plain) {
        action->sa_handler = plain;
    }
}

int caudal_wrap_sigaction_v1(int signal, const struct sigaction *action, struct sigaction *before)
{
    struct sigaction ours;
    plain_handler *plain;
    info_handler *info;
    int answer;
    if (signal <= 0 || signal >= SIGNALS) {
        return sigaction(signal, action, before);
    }
    plain = __atomic_load_n(&handlers[signal].plain, __ATOMIC_ACQUIRE);
    info = __atomic_load_n(&handlers[signal].info, __ATOMIC_ACQUIRE);
    if (action != NULL) {
        ours = covered(signal, action);
    }
    answer = sigaction(signal, action != NULL ? &ours : NULL, before);
    if (answer == 0 && before != NULL) {
        uncover(before, plain, info);
    }
    return answer;
}

/* sigaction itself, for a runtime that is instrumented along: its handler of stack overflows looks at the depth of what it
 * interrupts, and leaves that behind. */
int caudal_plain_sigaction_v1(int signal, const struct sigaction *action, struct sigaction *before)
{
    return sigaction(signal, action, before);
}

/* As glibc's: the handler stays, and system calls go on. */
plain_handler *caudal_wrap_signal_v1(int signal, plain_handler *handler)
{
    struct sigaction action, before;
    if (handler == SIG_ERR) {
        errno = EINVAL;
        return SIG_ERR;
    }
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    return caudal_wrap_sigaction_v1(signal, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}
