/*
 * Heat on a square plate: Jacobi iterations of the five-point stencil, and the plate's heat at the end.
 * Stands for plain loops over arrays that fit the second-level cache: long inner loops of a few instructions,
 * no branches and no calls.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "input.h"

enum { SIDE = 240 };

typedef double plate[SIDE][SIDE];

static plate first, second;

static void step(plate from, plate to)
{
    for (int y = 1; y < SIDE - 1; y++) {
        for (int x = 1; x < SIDE - 1; x++) {
            double around = from[y - 1][x] + from[y + 1][x] + from[y][x - 1] + from[y][x + 1];
            to[y][x] = 0.5 * from[y][x] + 0.125 * around;
        }
    }
}

int main(int argc, char **argv)
{
    uint64_t seed = 1;
    for (int y = 0; y < SIDE; y++) {
        for (int x = 0; x < SIDE; x++) {
            first[y][x] = 100.0 * random_unit(&seed);
        }
    }
    memcpy(second, first, sizeof first);

    int rounds = scaled_rounds(argc, argv, 15000);
    for (int i = 0; i < rounds; i++) {
        step(first, second);
        step(second, first);
    }

    uint64_t checksum = 0;
    for (int y = 0; y < SIDE; y++) {
        for (int x = 0; x < SIDE; x++) {
            checksum = mix(checksum, (uint64_t)(first[y][x] * 1e6));
        }
    }
    printf("%016" PRIx64 "\n", checksum);
    return 0;
}
