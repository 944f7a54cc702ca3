/*
 * What the C and C++ programs here have in common: a generator of pseudo-random input, so that they need no files,
 * a way to fold results into one checksum, and the scale on the command line.
 */
#ifndef INPUT_H
#define INPUT_H

#include <stdint.h>
#include <stdlib.h>

/* splitmix64: one word of state, and any seed will do. */
static inline uint64_t next_random(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* In 0 .. bound - 1. The bias is far too small to matter to a benchmark. */
static inline uint32_t random_below(uint64_t *state, uint32_t bound)
{
    return (uint32_t)((next_random(state) >> 32) * bound >> 32);
}

/* In [0, 1), with all 53 bits of a double. */
static inline double random_unit(uint64_t *state)
{
    return (double)(next_random(state) >> 11) * 0x1p-53;
}

/* Folds a value into a checksum; the order of the values matters. */
static inline uint64_t mix(uint64_t checksum, uint64_t value)
{
    checksum = (checksum ^ value) * 0xff51afd7ed558ccdu;
    return checksum ^ (checksum >> 32);
}

/* How many rounds of work to do: `rounds`, or argv[1] percent of them. At 0 % only the input is made. */
static inline int scaled_rounds(int argc, char **argv, int rounds)
{
    int percent = argc > 1 ? atoi(argv[1]) : 100;
    return (int)((int64_t)rounds * percent / 100);
}

#endif
