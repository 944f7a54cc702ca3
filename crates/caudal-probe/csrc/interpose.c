/*
 * The C library's functions that take handlers of signals, for programs that have this library in them.
 *
 * Their symbols are defined here, as `syscall` is, so that all of an executable, and the shared objects that it is linked with, come here,
 * also those without probes: what they register runs in a section, for it may call back code with probes, and what was
 * registered before they see as the program gave it. Weak: where a program has its own already, that stays.
 *
 * Apart from signals.c, which calls these names and must not find its own.
 */
#define _GNU_SOURCE
#include "signals.h"

int caudal_own_sigaction(int signal, const struct sigaction *action, struct sigaction *before)
{
    return caudal_covered_sigaction(signal, action, before);
}

int sigaction(int signal, const struct sigaction *action, struct sigaction *before) __attribute__((weak, alias("caudal_own_sigaction")));

#define INTERPOSE(NAME)                                                                                                    \
    caudal_handler *caudal_own_##NAME(int signal, caudal_handler *handler)                                                 \
    {                                                                                                                      \
        return caudal_covered_##NAME(signal, handler);                                                                     \
    }                                                                                                                      \
    caudal_handler *NAME(int signal, caudal_handler *handler) __attribute__((weak, alias("caudal_own_" #NAME)))

INTERPOSE(signal);
INTERPOSE(bsd_signal);
INTERPOSE(ssignal);
INTERPOSE(sysv_signal);
INTERPOSE(__sysv_signal);
INTERPOSE(sigset);
