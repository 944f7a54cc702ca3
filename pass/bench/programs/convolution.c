/*
 * A layer of a small convolutional network: every output channel is the sum of 3 x 3 filters over all input channels,
 * then rectified and scaled down. The output is the next layer's input.
 * Stands for deep nests: six loops, the innermost two of three turns each, which a compiler unrolls or does not.
 */
#include <inttypes.h>
#include <stdio.h>

#include "input.h"

enum { CHANNELS = 16, SIDE = 32, REACH = 3, PADDED = SIDE + REACH - 1 };

typedef int32_t layer[CHANNELS][PADDED][PADDED];

static layer first, second;
static int32_t filters[CHANNELS][CHANNELS][REACH][REACH];

/* The border of the layers stays zero: it is the padding. */
static void convolve(layer in, layer out)
{
    for (int o = 0; o < CHANNELS; o++) {
        for (int y = 0; y < SIDE; y++) {
            for (int x = 0; x < SIDE; x++) {
                int32_t sum = 0;
                for (int i = 0; i < CHANNELS; i++) {
                    for (int dy = 0; dy < REACH; dy++) {
                        for (int dx = 0; dx < REACH; dx++) {
                            sum += in[i][y + dy][x + dx] * filters[o][i][dy][dx];
                        }
                    }
                }
                out[o][y + 1][x + 1] = sum > 0 ? (sum >> 4) & 0xff : 0;
            }
        }
    }
}

static void generate(uint64_t seed)
{
    for (int c = 0; c < CHANNELS; c++) {
        for (int y = 1; y <= SIDE; y++) {
            for (int x = 1; x <= SIDE; x++) {
                first[c][y][x] = (int32_t)random_below(&seed, 256);
            }
        }
    }
    int32_t *weights = &filters[0][0][0][0];
    for (size_t i = 0; i < sizeof filters / sizeof *weights; i++) {
        weights[i] = (int32_t)random_below(&seed, 15) - 7;
    }
}

int main(int argc, char **argv)
{
    generate(2);

    int rounds = scaled_rounds(argc, argv, 550);
    for (int i = 0; i < rounds; i++) {
        convolve(first, second);
        convolve(second, first);
    }

    uint64_t checksum = 0;
    for (int c = 0; c < CHANNELS; c++) {
        for (int y = 1; y <= SIDE; y++) {
            for (int x = 1; x <= SIDE; x++) {
                checksum = mix(checksum, (uint64_t)first[c][y][x]);
            }
        }
    }
    printf("%016" PRIx64 "\n", checksum);
    return 0;
}
