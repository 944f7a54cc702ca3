/* What goes with requests, as C sees it: a word of the thread, and what two functions take and put back. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <caudal/caudal.h>

#include "check.h"

enum { REQUESTS = 3, TIMES = 200 };

static __thread uint64_t word;
static __thread char name[32];
static int wrong, switches;

static void *address(void)
{
    return &word;
}

static void leave(void *context, void *state)
{
    CHECK(context == &switches);
    switches++;
    memcpy(state, name, sizeof name);
    strcpy(name, "nobody");
}

static void enter(void *context, void *state)
{
    (void)context;
    memcpy(name, state, sizeof name);
}

static void begin(void *context)
{
    (void)context;
    strcpy(name, "nobody");
}

static void handler(void *argument)
{
    uint64_t me = (uint64_t)(uintptr_t)argument, iteration;
    char own[32];
    wrong += word != 77 || strcmp(name, "nobody") != 0;
    snprintf(own, sizeof own, "request %d", (int)me);
    for (iteration = 0; iteration < TIMES; iteration++) {
        word = me << 32 | iteration;
        strcpy(name, own);
        caudal_yield();
        wrong += word != (me << 32 | iteration) || strcmp(name, own) != 0;
    }
}

int main(int count, char **arguments)
{
    caudal_carry_hooks hooks;
    caudal_runtime *runtime;
    caudal_class class;
    caudal_left_behind left;
    uintptr_t i;
    int places = 2;
    CHECK(count == 2);
    memset(&hooks, 0, sizeof hooks);
    CHECK(caudal_carry(NULL) == CAUDAL_ERROR_ARGUMENT && caudal_carry(&hooks) == CAUDAL_ERROR_ARGUMENT);
    CHECK(caudal_carry_word(NULL, 0) == CAUDAL_ERROR_ARGUMENT);
    CHECK(caudal_each_stack(NULL, NULL) == CAUDAL_ERROR_ARGUMENT && caudal_on_stack_enter(NULL, NULL) == CAUDAL_ERROR_ARGUMENT);
    hooks.leave = leave;
    hooks.enter = enter;
    hooks.begin = begin;
    hooks.context = &switches;
    CHECK(caudal_carry(&hooks) == CAUDAL_OK && caudal_carry_word(address, 77) == CAUDAL_OK);
    runtime = start(arguments[1], NULL);
    class = class_of(runtime, "carried");
    for (i = 1; i <= REQUESTS; i++) {
        OK(caudal_submit(runtime, class, handler, (void *)i, NULL));
    }
    OK(caudal_runtime_shutdown(runtime, CAUDAL_SHUTDOWN_DRAIN, &left));
    OK(caudal_runtime_destroy(runtime));
    while (caudal_carry_word(address, 0) == CAUDAL_OK) {
        places++;
    }
    printf("%d wrong, %s, %d places\n", wrong, switches > TIMES ? "in turns" : "one by one", places);
    return 0;
}
