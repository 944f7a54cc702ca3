/*
 * An 8-bit grey image is blurred with a 3 x 3 kernel and sharpened again, over and over.
 * Stands for filters of bytes: vectorised loops with widening and saturation, a row at a time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "input.h"

enum { WIDTH = 320, HEIGHT = 240 };

static uint8_t image[HEIGHT][WIDTH], soft[HEIGHT][WIDTH];

/* The middle counts four times, its neighbours twice, the corners once. The border is left alone. */
static void blur(uint8_t from[HEIGHT][WIDTH], uint8_t to[HEIGHT][WIDTH])
{
    for (int y = 1; y < HEIGHT - 1; y++) {
        const uint8_t *above = from[y - 1], *row = from[y], *below = from[y + 1];
        for (int x = 1; x < WIDTH - 1; x++) {
            int corners = above[x - 1] + above[x + 1] + below[x - 1] + below[x + 1];
            int sides = above[x] + row[x - 1] + row[x + 1] + below[x];
            to[y][x] = (uint8_t)((corners + 2 * sides + 4 * row[x] + 8) >> 4);
        }
    }
}

/* Moves every pixel away from its blurred self. */
static void sharpen(uint8_t pixels[HEIGHT][WIDTH], uint8_t blurred[HEIGHT][WIDTH])
{
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++) {
            int value = 2 * pixels[y][x] - blurred[y][x];
            pixels[y][x] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
        }
    }
}

int main(int argc, char **argv)
{
    uint64_t seed = 7;
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++) {
            image[y][x] = (uint8_t)((x * y >> 6) + (int)random_below(&seed, 64));
        }
    }
    memcpy(soft, image, sizeof image);

    uint64_t checksum = 0;
    int rounds = scaled_rounds(argc, argv, 8000);
    for (int i = 0; i < rounds; i++) {
        blur(image, soft);
        blur(soft, image);
        blur(image, soft);
        sharpen(image, soft);
        checksum = mix(checksum, image[i % HEIGHT][i % WIDTH]);
    }

    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++) {
            checksum = mix(checksum, image[y][x]);
        }
    }
    printf("%016" PRIx64 "\n", checksum);
    return 0;
}
