/*
 * A key-value store in memory: short gets, and long scans that would hold them up.
 *
 *      service POLICY [REQUESTS]
 *
 * One request arrives every 5 us; one in 400 is a scan of some hundred microseconds, the others are gets. Prints how long
 * they took from arrival to end. See docs/guides/first-service-in-c.md.
 */
#define _POSIX_C_SOURCE 199309L

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <caudal/caudal.h>

enum { KEYS = 1 << 18, SCAN_KEYS = 1 << 17, GAP_NS = 5000, ONE_SCAN_IN = 400, ROWS_PER_PROBE = 64 };

/* Open addressing; a key of 0 is an empty place. */
static uint64_t keys[2 * KEYS], values[2 * KEYS];

static size_t place_of(uint64_t key)
{
    size_t place = (size_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 32) % (2 * KEYS);
    while (keys[place] != 0 && keys[place] != key) {
        place = (place + 1) % (2 * KEYS);
    }
    return place;
}

static void put(uint64_t key, uint64_t value)
{
    size_t place = place_of(key);
    keys[place] = key;
    values[place] = value;
}

struct request {
    uint64_t key;   /* where a scan begins, which is a place */
    uint64_t reply; /* the value, or the sum of the values */
};

static void get(void *argument)
{
    struct request *request = argument;
    request->reply = values[place_of(request->key)];
}

static void scan(void *argument)
{
    struct request *request = argument;
    uint64_t sum = 0;
    size_t row;
    for (row = 0; row < SCAN_KEYS; row++) {
        sum += values[(request->key + row) % (2 * KEYS)];
        if (row % ROWS_PER_PROBE == 0) {
            CAUDAL_PROBE_CLOCK(); /* some 100 ns since the last one: here a get may overtake */
        }
    }
    request->reply = sum;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void check(caudal_status status, const char *what)
{
    if (status != CAUDAL_OK) {
        fprintf(stderr, "%s: %s\n", what, caudal_status_text(status));
        exit(1);
    }
}

/* Submits `count` requests, one every GAP_NS; nobody waits for any of them. */
static void offer(caudal_runtime *runtime, caudal_class gets, caudal_class scans, struct request *requests, size_t count)
{
    uint64_t next = now_ns();
    size_t number;
    for (number = 0; number < count; number++) {
        int is_scan = number % ONE_SCAN_IN == ONE_SCAN_IN - 1;
        requests[number].key = 1 + number * 7919 % KEYS;
        while (now_ns() < next) {
        }
        next += GAP_NS;
        check(caudal_submit(runtime, is_scan ? scans : gets, is_scan ? scan : get, &requests[number], NULL), "submit");
    }
}

static void report(caudal_runtime *runtime, caudal_class class_, const char *name)
{
    caudal_class_stats stats;
    caudal_class_stats_init(&stats);
    check(caudal_runtime_class_stats(runtime, class_, &stats), "stats");
    printf("%-5s %8llu  service p50 %8.1f us   sojourn p50 %8.1f  p99 %8.1f  p99.9 %8.1f us\n", name,
           (unsigned long long)stats.finished, stats.service.p50_ns / 1e3, stats.sojourn.p50_ns / 1e3,
           stats.sojourn.p99_ns / 1e3, stats.sojourn.p999_ns / 1e3);
}

int main(int argc, char **argv)
{
    size_t count = argc > 2 ? (size_t)strtoul(argv[2], NULL, 10) : 200000, key;
    caudal_runtime *runtime;
    caudal_class gets, scans;
    caudal_options options;
    caudal_error error;
    struct request *requests = calloc(count + 1, sizeof *requests);

    if (argc < 2 || requests == NULL || !caudal_abi_matches()) {
        fprintf(stderr, "usage: service POLICY [REQUESTS]; built for version %d of the library's ABI, runs with %u\n",
                CAUDAL_ABI_VERSION, (unsigned)caudal_abi_version());
        return 2;
    }
    for (key = 1; key <= KEYS; key++) {
        put(key, key * key);
    }
    caudal_options_init(&options);
    if (getenv("SERVICE_UNPINNED") != NULL) {
        options.pinning = CAUDAL_PINNING_NONE; /* to share a core with others, in tests */
    }
    if (caudal_runtime_create(argv[1], &options, &runtime, &error) != CAUDAL_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    check(caudal_runtime_class(runtime, "get", &gets), "class");
    check(caudal_runtime_class(runtime, "scan", &scans), "class");

    offer(runtime, gets, scans, requests, count);

    check(caudal_runtime_shutdown(runtime, CAUDAL_SHUTDOWN_DRAIN, NULL), "shutdown");
    report(runtime, gets, "get");
    report(runtime, scans, "scan");
    if (count > 0 && requests[0].reply != requests[0].key * requests[0].key) {
        fprintf(stderr, "a get answered with another key's value\n");
        return 1;
    }
    check(caudal_runtime_destroy(runtime), "destroy");
    free(requests);
    return 0;
}
