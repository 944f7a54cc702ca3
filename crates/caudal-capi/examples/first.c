/* first.c */
#include <stdio.h>

#include <caudal/caudal.h>

#define ROWS (1 << 20)
static int table[ROWS];

/* Short: nothing special about it. */
static void get(void *argument)
{
    int *key_then_value = argument;
    *key_then_value = table[*key_then_value];
}

/* Long, some 50 ms: has a probe every few hundred nanoseconds, where others may overtake. */
static void sum(void *argument)
{
    long *total = argument;
    for (int row = 0; row < 64 * ROWS; row++) {
        *total += table[row % ROWS];
        if (row % 256 == 0) {
            CAUDAL_PROBE_CLOCK();
        }
    }
}

int main(void)
{
    caudal_runtime *runtime;
    caudal_error error;
    if (caudal_runtime_create("policy.toml", NULL, &runtime, &error) != CAUDAL_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    caudal_class gets, sums;
    caudal_runtime_class(runtime, "get", &gets);
    caudal_runtime_class(runtime, "sum", &sums);

    table[7] = 42;
    int value = 7;
    long total = 0;
    caudal_request *short_one, *long_one;
    caudal_submit(runtime, sums, sum, &total, &long_one);
    caudal_submit(runtime, gets, get, &value, &short_one);

    caudal_wait(short_one, NULL); /* answered while the sum still runs */
    printf("got %d, the sum %s\n", value, caudal_request_outcome(long_one) == CAUDAL_OUTCOME_NONE ? "goes on" : "is done");
    caudal_wait(long_one, NULL);
    printf("summed %ld\n", total);

    caudal_request_release(short_one);
    caudal_request_release(long_one);
    return caudal_runtime_destroy(runtime) != CAUDAL_OK;
}
