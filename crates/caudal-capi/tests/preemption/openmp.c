/*
 * Requests of one worker with OpenMP in them: regions, regions of one thread, work-sharing outside of any region, tasks, critical
 * sections and locks. Every probe yields. Prints how many results were wrong, and how often a request saw that another had run in between.
 */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <caudal/caudal.h>
#include <caudal/probe.h>

#include "check.h"

enum { REQUESTS = 4, TIMES = 20 };

static int wrong, others_ran;
static long last, critical, locked;
static omp_lock_t lock;

static void expect(long found, long right)
{
    if (found != right) {
        __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
    }
}

/* Of a team of one, where it is called outside of a region. */
static __attribute__((noinline)) long shares_work(int count)
{
    static long sum;
    long i;
    sum = 0;
#pragma omp for schedule(dynamic, 3)
    for (i = 0; i < count; i++) {
        sum += i;
    }
    return sum;
}

static __attribute__((noinline)) void adds(long *place)
{
    volatile long read = *place;
    volatile int step;
    for (step = 0; step < 50; step++) {
    }
    *place = read + 1;
}

static void handler(void *argument)
{
    long me = (long)(intptr_t)argument, sum, count;
    int turn, i;
    for (turn = 0; turn < TIMES; turn++) {
        long seen = __atomic_exchange_n(&last, me, __ATOMIC_RELAXED);
        others_ran += seen != 0 && seen != me;
        sum = count = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(2) schedule(static)
        for (i = 0; i < 500; i++) {
            sum += i;
        }
        expect(sum, 124750);
        sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(2) if (turn % 2)
        for (i = 0; i < 500; i++) {
            sum += i;
        }
        expect(sum, 124750);
        sum = 0;
#pragma omp parallel num_threads(2)
        {
#pragma omp for schedule(dynamic, 7)
            for (i = 0; i < 100; i++) {
#pragma omp critical
                sum += i;
            }
#pragma omp single
            for (i = 0; i < 10; i++) {
#pragma omp task shared(count)
                {
#pragma omp atomic
                    count++;
                }
            }
        }
        expect(sum, 4950);
        expect(count, 10);
        expect(shares_work(100), 4950);
#pragma omp critical
        adds(&critical);
        omp_set_lock(&lock);
        adds(&locked);
        omp_unset_lock(&lock);
    }
}

int main(int count, char **arguments)
{
    caudal_runtime *runtime;
    caudal_class class;
    caudal_left_behind left;
    intptr_t i;
    CHECK(count == 2);
    caudal_probe_every_v1 = 1;
    omp_init_lock(&lock);
    runtime = start(arguments[1], NULL);
    class = class_of(runtime, "regions");
    for (i = 1; i <= REQUESTS; i++) {
        OK(caudal_submit(runtime, class, handler, (void *)i, NULL));
    }
    OK(caudal_runtime_shutdown(runtime, CAUDAL_SHUTDOWN_DRAIN, &left));
    OK(caudal_runtime_destroy(runtime));
    printf("%d wrong, critical %ld, locked %ld, %s\n", wrong, critical, locked, others_ran > 0 ? "in turns" : "one by one");
    return 0;
}
