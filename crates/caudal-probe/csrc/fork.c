/*
 * Keeps a child that fork() does not announce from running the requests of its parent. Called by code with probes that calls
 * _Fork, and by syscall.c.
 *
 * Children that fork() does not announce: those of _Fork(), which calls no handlers of pthread_atfork, and of the kernel's own calls.
 *
 * A child has its parent's memory, and of its threads only the one that called. If that was a worker's, the child's code runs on the stack of
 * a request, in front of a worker whose other requests are the parent's: a yield would run them twice. So in the child it is no
 * worker's any more, and its probes are quiet. The runtime's handler of pthread_atfork does the same for fork().
 */
#define _GNU_SOURCE
#include "state.h"
#include "wait.h"

#include <unistd.h>

/* So many sections are never left. */
#define NEVER_LEFT (1u << 31)

void caudal_probe_in_child(void)
{
    if (caudal_probe_v1.runtime != 0) {
        caudal_probe_v1.runtime = 0;
        caudal_probe_v1.depth = NEVER_LEFT;
        caudal_probe_disarm_v1();
    }
}

pid_t caudal_around__Fork_v1(void)
{
    pid_t child = LIBC(_Fork)();
    if (child == 0) {
        caudal_probe_in_child();
    }
    return child;
}
