/*
 * What the machine itself takes: reads the clock for a while (argv[1] milliseconds at 2.6 GHz, 300 unless given) and prints
 * the gaps between readings by their length, as harness.c does with lateness.
 */
#include <stdlib.h>

#include "bins.h"
#include "caudal/probe.h"

int main(int argc, char **argv)
{
    static struct bins gaps;
    uint64_t length = (argc > 1 ? strtoull(argv[1], NULL, 10) : 300) * 2600000;
    uint64_t start = caudal_probe_rdtsc(), last = start, now;
    while ((now = caudal_probe_rdtsc()) - start < length) {
        count_in(&gaps, now - last);
        last = now;
    }
    printf("{\"cycles\": %llu, ", (unsigned long long)(last - start));
    print_bins(stdout, "gaps", &gaps);
    printf("}\n");
    return 0;
}
