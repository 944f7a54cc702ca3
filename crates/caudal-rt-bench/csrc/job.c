/*
 * The work of a request in C without any probe by hand, so that `make bench-rt-pass` measures the probes that the compiler places. Called by
 * src/unedited.rs, which has the same work in Rust, and says what the fields are. Only the compiler decides whether it yields.
 */
#include <stdint.h>
#include <x86intrin.h>

#define MULTIPLIER 6364136223846793005u

struct job {
    uint32_t chunks;
    uint32_t steps;
};

struct watch {
    uint64_t since;
    uint64_t threshold;
    void (*gap)(uint64_t start, uint64_t end);
};

uint64_t caudal_bench_job(const struct job *job, volatile struct watch *watch);

uint64_t caudal_bench_job(const struct job *job, volatile struct watch *watch)
{
    uint64_t state = 1;
    for (uint32_t chunk = 0; chunk < job->chunks; chunk++) {
        watch->since = __rdtsc();
        for (uint32_t step = 0; step < job->steps; step++) {
            state = state * MULTIPLIER ^ (state >> 32);
        }
        _mm_lfence();
        uint64_t end = __rdtsc();
        uint64_t since = watch->since;
        watch->since = 0;
        if (end - since > watch->threshold) {
            watch->gap(since, end);
        }
    }
    return state;
}
