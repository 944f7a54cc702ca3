/*
 * Fits a straight line through points of 16-bit coordinates, for many selections of the points.
 * Stands for reductions: five sums over one pass, widened from 16 to 64 bits, with a condition on every point.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "input.h"

enum { POINTS = 20000 };

struct sums {
    int64_t n, x, y, xx, xy, yy;
};

static int16_t xs[POINTS], ys[POINTS];

static struct sums add_up(int16_t from, int16_t to)
{
    struct sums sums = {0};
    for (int i = 0; i < POINTS; i++) {
        int x = xs[i], y = ys[i];
        if (x >= from && x < to) {
            sums.n++;
            sums.x += x;
            sums.y += y;
            sums.xx += x * x;
            sums.xy += x * y;
            sums.yy += y * y;
        }
    }
    return sums;
}

/* Slope, intercept and the square of the correlation, rounded. */
static uint64_t fit(const struct sums *sums)
{
    double n = (double)sums->n, x = (double)sums->x, y = (double)sums->y;
    double across = n * (double)sums->xx - x * x;
    double both = n * (double)sums->xy - x * y;
    double up = n * (double)sums->yy - y * y;
    if (across <= 0.0 || up <= 0.0) {
        return 0;
    }
    double slope = both / across;
    uint64_t checksum = mix(0, (uint64_t)(int64_t)lrint(slope * 1e6));
    checksum = mix(checksum, (uint64_t)(int64_t)lrint((y - slope * x) / n * 1e3));
    return mix(checksum, (uint64_t)(int64_t)lrint(both * both / (across * up) * 1e6));
}

int main(int argc, char **argv)
{
    uint64_t seed = 21;
    for (int i = 0; i < POINTS; i++) {
        int x = (int)random_below(&seed, 20000) - 10000;
        xs[i] = (int16_t)x;
        ys[i] = (int16_t)(x / 3 + (int)random_below(&seed, 4000) - 1500);
    }

    uint64_t checksum = 0;
    int rounds = scaled_rounds(argc, argv, 10000);
    for (int i = 0; i < rounds; i++) {
        int from = (int)random_below(&seed, 10000) - 10000;
        int to = from + 1000 + (int)random_below(&seed, 9000);
        struct sums sums = add_up((int16_t)from, (int16_t)to);
        checksum = mix(checksum, fit(&sums));
    }
    printf("%016" PRIx64 "\n", checksum);
    return 0;
}
