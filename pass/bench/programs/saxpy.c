/*
 * y = a x + y on floats, and the dot product of vectors of 16-bit integers, both in the first-level cache.
 * Stands for loops that compilers turn into vectors: eight or more elements a turn, where anything done once a turn
 * shows.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "input.h"

enum { LENGTH = 3000 };

static float x[LENGTH], y[LENGTH];
static int16_t u[LENGTH], v[LENGTH];

static void saxpy(float a, const float *restrict from, float *restrict to)
{
    for (int i = 0; i < LENGTH; i++) {
        to[i] = a * from[i] + to[i];
    }
}

static int32_t dot(const int16_t *a, const int16_t *b)
{
    int32_t sum = 0;
    for (int i = 0; i < LENGTH; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

int main(int argc, char **argv)
{
    uint64_t seed = 6;
    for (int i = 0; i < LENGTH; i++) {
        x[i] = (float)random_unit(&seed);
        y[i] = (float)random_unit(&seed);
        u[i] = (int16_t)(random_below(&seed, 512) - 256);
        v[i] = (int16_t)(random_below(&seed, 512) - 256);
    }

    uint64_t checksum = 0;
    int rounds = scaled_rounds(argc, argv, 1300000);
    for (int i = 0; i < rounds; i++) {
        saxpy((i & 1) != 0 ? 0.75f : -0.5f, x, y);
        u[i % LENGTH] ^= 0x55;
        checksum = mix(checksum, (uint64_t)(int64_t)dot(u, v));
    }

    for (int i = 0; i < LENGTH; i++) {
        uint32_t bits;
        memcpy(&bits, &y[i], sizeof bits);
        checksum = mix(checksum, bits);
    }
    printf("%016" PRIx64 "\n", checksum);
    return 0;
}
