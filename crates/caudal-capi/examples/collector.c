/*
 * Requests whose objects are Boehm's collector's (libgc): it is told which threads there are, on which stack each may be, and where all
 * other stacks are.
 *
 *     caudal-cc -O2 examples/collector.c -lcaudal -lgc -o collector && ./collector direct.toml 2000
 *
 * What a collector needs to know of a runtime like this one:
 *
 *   1. Its threads: they register themselves when they begin, and go when they end (worker_starts, worker_stops).
 *   2. On which stack a thread is when it is stopped. libgc looks at the stack pointer: if it is within the thread's *alternate* stack,
 *      it scans from there to that stack's end, else to the end of the thread's own. So the alternate stack is the coroutine with which
 *      the worker goes on: told before it does, on the worker's own stack, it is right whenever the thread is stopped.
 *   3. The stacks of all requests that are set aside, from their lowest address in use on (caudal_each_stack). The collector asks while
 *      all threads stand still.
 *
 * Not scanned: the runtime's own memory. What a request is submitted with has to be reachable from somewhere else until the request
 * has begun; here it is a number.
 */
#define _GNU_SOURCE /* pthread_getattr_np */
#define GC_THREADS
#include <caudal/caudal.h>
#include <gc.h>
#include <gc_mark.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define LENGTH 200

struct node {
    struct node *next;
    uint64_t value;
};

static uint64_t lost;

/* A thread's own stack, as the collector wants to have it. */
static _Thread_local struct {
    void *start;
    size_t bytes;
} own;

static void worker_starts(void *context, uint32_t worker)
{
    pthread_attr_t attributes;
    struct GC_stack_base base;
    (void)context;
    (void)worker;
    GC_get_stack_base(&base);
    if (GC_register_my_thread(&base) != GC_SUCCESS || pthread_getattr_np(pthread_self(), &attributes) != 0) {
        abort();
    }
    pthread_attr_getstack(&attributes, &own.start, &own.bytes);
    pthread_attr_destroy(&attributes);
}

static void worker_stops(void *context, uint32_t worker)
{
    (void)context;
    (void)worker;
    GC_unregister_my_thread();
}

/* The collector and its lock belong to threads: no request is set aside within. */
static caudal_nopreempt void stack_enter(void *context, void *low, void *high)
{
    (void)context;
    GC_register_altstack(own.start, own.bytes, low, (size_t)((char *)high - (char *)low));
}

/* Also those that run, whose threads' stacks are scanned besides: a thread that was stopped right before or behind a switch is on its own. */
static caudal_nopreempt void scan(void *context, void *low, void *high, int runs)
{
    (void)context;
    (void)runs;
    GC_push_all_eager(low, high);
}

static GC_push_other_roots_proc push_others;

static caudal_nopreempt void push_roots(void)
{
    if (push_others != NULL) {
        push_others();
    }
    caudal_each_stack(scan, NULL);
}

/* A list that only this request's stack refers to, while others allocate and collect. */
static void handler(void *argument)
{
    uint64_t mark = (uint64_t)(uintptr_t)argument << 32;
    struct node *list = NULL, *node;
    uint64_t i;
    for (i = 0; i < LENGTH; i++) {
        node = GC_MALLOC(sizeof *node);
        node->value = mark | i;
        node->next = list;
        list = node;
        if (i % 16 == 0) {
            caudal_yield();
        }
    }
    for (i = 0; i < 1000; i++) {
        node = GC_MALLOC(sizeof *node);
        node->value = ~mark;
    }
    caudal_yield();
    for (node = list, i = LENGTH; node != NULL; node = node->next) {
        if (node->value != (mark | --i)) {
            __atomic_fetch_add(&lost, 1, __ATOMIC_RELAXED);
            return;
        }
    }
    if (i != 0) {
        __atomic_fetch_add(&lost, 1, __ATOMIC_RELAXED);
    }
}

int main(int count, char **arguments)
{
    caudal_runtime *runtime;
    caudal_options options;
    caudal_error error;
    caudal_class class;
    caudal_left_behind left;
    uint64_t requests = count > 2 ? strtoull(arguments[2], NULL, 10) : 2000, i;
    if (count < 2) {
        fprintf(stderr, "usage: %s POLICY [REQUESTS]\n", arguments[0]);
        return 2;
    }
    GC_INIT();
    GC_allow_register_threads();
    push_others = GC_get_push_other_roots();
    GC_set_push_other_roots(push_roots);
    caudal_on_stack_enter(stack_enter, NULL);

    caudal_options_init(&options);
    options.pinning = CAUDAL_PINNING_NONE;
    options.worker_starts = worker_starts;
    options.worker_stops = worker_stops;
    if (caudal_runtime_create(arguments[1], &options, &runtime, &error) != CAUDAL_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    caudal_runtime_class(runtime, "lists", &class);
    for (i = 1; i <= requests; i++) {
        if (caudal_submit(runtime, class, handler, (void *)(uintptr_t)i, NULL) != CAUDAL_OK) {
            return 1;
        }
    }
    caudal_runtime_shutdown(runtime, CAUDAL_SHUTDOWN_DRAIN, &left);
    printf("%llu requests, %s, %llu lists with lost objects\n", (unsigned long long)requests,
           GC_get_gc_no() > 0 ? "collected" : "never collected", (unsigned long long)lost);
    caudal_runtime_destroy(runtime);
    return lost != 0;
}
