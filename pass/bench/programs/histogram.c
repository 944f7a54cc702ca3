/*
 * Histograms of the three colours of an image, and the image with the contrast evened out by them.
 * Stands for increments at places that data decide: loops that can not be vectorised, with stores that may hit the
 * counter that was written just before.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "input.h"

enum { PIXELS = 100000, COLOURS = 3, LEVELS = 256 };

static uint8_t image[PIXELS][COLOURS];
static uint32_t counts[COLOURS][LEVELS];

static void count_levels(void)
{
    memset(counts, 0, sizeof counts);
    for (int i = 0; i < PIXELS; i++) {
        for (int c = 0; c < COLOURS; c++) {
            counts[c][image[i][c]]++;
        }
    }
}

/* Each level goes to its rank, with some noise so that no two rounds are alike. */
static void equalise(uint32_t noise)
{
    uint8_t levels[COLOURS][LEVELS];
    for (int c = 0; c < COLOURS; c++) {
        uint32_t below = 0;
        for (int level = 0; level < LEVELS; level++) {
            below += counts[c][level];
            levels[c][level] = (uint8_t)((uint64_t)below * (LEVELS - 1) / PIXELS ^ (noise >> level % 32 & 1));
        }
    }
    for (int i = 0; i < PIXELS; i++) {
        for (int c = 0; c < COLOURS; c++) {
            image[i][c] = levels[c][image[i][c]];
        }
    }
}

int main(int argc, char **argv)
{
    uint64_t seed = 23;
    for (int i = 0; i < PIXELS; i++) {
        for (int c = 0; c < COLOURS; c++) {
            image[i][c] = (uint8_t)(random_below(&seed, 128) + random_below(&seed, 100) + 10 * (uint32_t)c);
        }
    }

    uint64_t checksum = 0;
    int rounds = scaled_rounds(argc, argv, 4000);
    for (int i = 0; i < rounds; i++) {
        count_levels();
        equalise((uint32_t)next_random(&seed));
        checksum = mix(checksum, counts[i % COLOURS][i * 7 % LEVELS]);
    }
    for (int i = 0; i < PIXELS; i += 101) {
        checksum = mix(checksum, image[i][0] + 256u * image[i][1] + 65536u * image[i][2]);
    }
    printf("%016" PRIx64 "\n", checksum);
    return 0;
}
