/*
 * The condition variables that have been signalled while requests wait for them (conditions.c). Used by locks.c.
 */
#ifndef CAUDAL_PROBE_CONDITIONS_H
#define CAUDAL_PROBE_CONDITIONS_H

#include <pthread.h>
#include <stdint.h>

/* Conditions share one of a few: a signal for another is a wait that ends for no reason. */
struct caudal_bell {
    uint32_t waiting; /* requests */
    uint32_t rung;    /* signals while there were any */
};

__attribute__((visibility("hidden"))) struct caudal_bell *caudal_probe_bell(const pthread_cond_t *condition);

/* Not 0: all of the program signals by the functions of conditions.c, also code without probes. */
__attribute__((visibility("hidden"))) int caudal_probe_hears_signals(void);

#endif
