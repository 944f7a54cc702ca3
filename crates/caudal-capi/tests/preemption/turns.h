/*
 * Two requests of one worker, of which the first has something and the second wants it.
 *
 *      first                                   second
 *      takes it
 *      is pre-empted wherever it can be   ───▶ wants it
 *      gives it back                      ───▶ has it
 *
 * Every probe yields (caudal_probe_every_v1), so nothing here depends on time. The second is submitted when the first has it; there is
 * one worker, so a second that put the thread to sleep would do so for ever.
 */
#ifndef TURNS_H
#define TURNS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <caudal/caudal.h>
#include <caudal/probe.h>

#include "check.h"

#if defined(__cplusplus)
extern "C" {
#endif

#define LOAD(place) __atomic_load_n(&(place), __ATOMIC_ACQUIRE)
#define STORE(place, value) __atomic_store_n(&(place), (value), __ATOMIC_RELEASE)


struct turns {
    int begun;      /* the first one has it */
    int submitted;  /* the second one is in the worker's inbox */
    int wants;      /* the second one is about to want it */
    int inside;     /* how many have it */
    int most;       /* how many have had it at once */
    int second_ran; /* the second one is through */
};

/* Many probes, each of which yields where it may. */
static __attribute__((noinline)) void work(void)
{
    volatile unsigned step;
    for (step = 0; step < 20000; step++) {
    }
}

static __attribute__((noinline)) void go_in(struct turns *turns)
{
    int inside = LOAD(turns->inside) + 1;
    STORE(turns->inside, inside);
    if (inside > LOAD(turns->most)) {
        STORE(turns->most, inside);
    }
}

static __attribute__((noinline)) void go_out(struct turns *turns)
{
    STORE(turns->inside, LOAD(turns->inside) - 1);
}

/* What the first one does while it has it: all that takes the worker from it. */
static __attribute__((noinline)) void be_preempted(struct turns *turns)
{
    go_in(turns);
    STORE(turns->begun, 1);
    while (!LOAD(turns->submitted)) {
        work();
    }
    work();
    go_out(turns);
}

/* The same, and it waits while it has it, until the second one wants it too. */
static __attribute__((noinline)) void wait_with_it(struct turns *turns)
{
    int iteration;
    go_in(turns);
    STORE(turns->begun, 1);
    while (!LOAD(turns->wants)) {
        OK(caudal_yield());
    }
    for (iteration = 0; iteration < 100; iteration++) {
        OK(caudal_yield());
    }
    go_out(turns);
}

/* The second one has it. */
static __attribute__((noinline)) void use_it(struct turns *turns)
{
    go_in(turns);
    work();
    go_out(turns);
}

/* Runs both, each with `turns`; how many have had it at once. */
static int both(caudal_runtime *runtime, caudal_handler first, caudal_handler second, struct turns *turns)
{
    caudal_request *requests[2];
    caudal_outcome outcome = CAUDAL_OUTCOME_NONE;
    int number;
    memset(turns, 0, sizeof *turns);
    OK(caudal_submit(runtime, class_of(runtime, "first"), first, turns, &requests[0]));
    while (!LOAD(turns->begun)) {
    }
    OK(caudal_submit(runtime, class_of(runtime, "second"), second, turns, &requests[1]));
    STORE(turns->submitted, 1);
    for (number = 0; number < 2; number++) {
        OK(caudal_wait(requests[number], &outcome));
        CHECK(outcome == CAUDAL_OUTCOME_RETURNED);
        OK(caudal_request_release(requests[number]));
    }
    return turns->most;
}

/* A test of this program. */
struct test {
    const char *name;
    caudal_handler first, second;
};

/* `program POLICY TEST`: runs one of `tests`; prints how many have had it at once. */
static int run_test(const struct test *tests, size_t count, int argc, char **argv)
{
    size_t number;
    for (number = 0; argc == 3 && number < count; number++) {
        if (strcmp(argv[2], tests[number].name) == 0) {
            struct turns turns;
            caudal_runtime *runtime;
            caudal_probe_every_v1 = 1;
            runtime = start(argv[1], NULL);
            printf("%d at once\n", both(runtime, tests[number].first, tests[number].second, &turns));
            OK(caudal_runtime_destroy(runtime));
            return 0;
        }
    }
    fprintf(stderr, "no such test\n");
    return 2;
}

#if defined(__cplusplus)
}
#endif
#endif
