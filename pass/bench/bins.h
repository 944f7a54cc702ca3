/*
 * Lengths of time in cycles by their logarithm, 32 bins for each power of two: a bin is 3 % wide. Shared by the harness and
 * the clock-reading loop; bench/timing.py knows the order of the bins.
 */
#include <stdint.h>
#include <stdio.h>

enum { SHARES = 32, POWERS = 40, BINS = SHARES * POWERS };

/* How many, and their sum. */
struct bins {
    uint64_t count[BINS], cycles[BINS];
};

static inline int bin_of(uint64_t cycles)
{
    if (cycles < SHARES) {
        return (int)cycles;
    }
    int power = 63 - __builtin_clzll(cycles);
    int bin = (power - 4) * SHARES + (int)(cycles >> (power - 5) & (SHARES - 1));
    return bin < BINS ? bin : BINS - 1;
}

static inline void count_in(struct bins *bins, uint64_t cycles)
{
    int bin = bin_of(cycles);
    bins->count[bin]++;
    bins->cycles[bin] += cycles;
}

/* "name": [[bin, count, cycles], ...], without those that are empty. */
static inline void print_bins(FILE *file, const char *name, const struct bins *bins)
{
    const char *comma = "";
    fprintf(file, "\"%s\": [", name);
    for (int bin = 0; bin < BINS; bin++) {
        if (bins->count[bin] != 0) {
            fprintf(file, "%s[%d, %llu, %llu]", comma, bin, (unsigned long long)bins->count[bin],
                    (unsigned long long)bins->cycles[bin]);
            comma = ", ";
        }
    }
    fprintf(file, "]");
}
