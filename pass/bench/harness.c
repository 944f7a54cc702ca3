/*
 * Linked into every program of the bench, not instrumented: arms the thread before main and says afterwards, on stderr,
 * what happened. CAUDAL_BENCH=off: never due. visits (the default): at each quantum's end the cold path reads the clock and
 * arms anew, for there is no coroutine's stack. times: at each quantum's end the hook notes how far from its deadline it is.
 * CAUDAL_BENCH_QUANTUM: in cycles, 5,192 (2 us at 2.596 GHz) unless given.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "caudal/probe.h"

enum { BINS = 64 };

/* Distances from the deadline: how many, and their sum, by the logarithm of the distance. */
struct side {
    uint64_t count[BINS], cycles[BINS];
};

static struct side early, late;
static uint64_t quantum = 5192, started;
static const char *mode = "visits";

static void note(uint64_t now)
{
    int64_t error = (int64_t)(now - caudal_probe_due_v1());
    struct side *side = error < 0 ? &early : &late;
    uint64_t distance = (uint64_t)(error < 0 ? -error : error);
    int bin = distance == 0 ? 0 : 64 - __builtin_clzll(distance);
    side->count[bin]++;
    side->cycles[bin] += distance;
    caudal_probe_arm_v1(now, quantum);
}

__attribute__((constructor)) static void start(void)
{
    const char *given = getenv("CAUDAL_BENCH_QUANTUM");
    quantum = given ? strtoull(given, NULL, 10) : quantum;
    mode = getenv("CAUDAL_BENCH") ? getenv("CAUDAL_BENCH") : mode;
    if (strcmp(mode, "times") == 0) {
        caudal_probe_hook_v1 = note;
        caudal_probe_v1.stack_high = UINT64_MAX;
    }
    started = caudal_probe_rdtsc();
    if (strcmp(mode, "off") != 0) {
        caudal_probe_arm_v1(started, quantum);
    }
}

static void print(const char *name, const struct side *side)
{
    fprintf(stderr, ", \"%s\": [", name);
    for (int bin = 0; bin < BINS; bin++) {
        fprintf(stderr, "%s[%llu, %llu]", bin == 0 ? "" : ", ", (unsigned long long)side->count[bin],
                (unsigned long long)side->cycles[bin]);
    }
    fprintf(stderr, "]");
}

__attribute__((destructor)) static void stop(void)
{
    uint64_t cycles = caudal_probe_rdtsc() - started;
    caudal_probe_disarm_v1();
    fprintf(stderr, "{\"cycles\": %llu, \"visits\": %llu", (unsigned long long)cycles,
            (unsigned long long)caudal_probe_cold_visits_v1());
    print("early", &early);
    print("late", &late);
    fprintf(stderr, "}\n");
}
