/*
 * What the machine itself takes: reads the clock for a while (argv[1] milliseconds at 2.6 GHz, 300 unless given) and prints
 * the gaps between readings by the logarithm of their length, as harness.c does with lateness.
 */
#include <stdio.h>
#include <stdlib.h>

#include "caudal/probe.h"

int main(int argc, char **argv)
{
    uint64_t gaps[64] = {0};
    uint64_t length = (argc > 1 ? strtoull(argv[1], NULL, 10) : 300) * 2600000;
    uint64_t start = caudal_probe_rdtsc(), last = start, now;
    while ((now = caudal_probe_rdtsc()) - start < length) {
        uint64_t gap = now - last;
        gaps[gap == 0 ? 0 : 64 - __builtin_clzll(gap)]++;
        last = now;
    }
    printf("{\"cycles\": %llu, \"gaps\": [", (unsigned long long)(last - start));
    for (int bin = 0; bin < 64; bin++) {
        printf("%s%llu", bin == 0 ? "" : ", ", (unsigned long long)gaps[bin]);
    }
    printf("]}\n");
    return 0;
}
