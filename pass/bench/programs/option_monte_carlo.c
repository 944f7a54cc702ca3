/*
 * The price of Asian options (on the average of a path) by Monte Carlo: normal numbers by Marsaglia's polar method, an
 * exponential a step.
 * Stands for code that spends its time in calls of the mathematical library, with a loop of rejection now and then.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "input.h"

enum { PATHS = 2000, STEPS = 24 };

struct normals {
    uint64_t seed;
    double spare;
    int has_spare;
};

static double next_normal(struct normals *normals)
{
    if (normals->has_spare) {
        normals->has_spare = 0;
        return normals->spare;
    }
    double u, v, square;
    do {
        u = 2.0 * random_unit(&normals->seed) - 1.0;
        v = 2.0 * random_unit(&normals->seed) - 1.0;
        square = u * u + v * v;
    } while (square >= 1.0 || square == 0.0);
    double factor = sqrt(-2.0 * log(square) / square);
    normals->spare = v * factor;
    normals->has_spare = 1;
    return u * factor;
}

static double price(double strike, double volatility, double rate, struct normals *normals)
{
    double drift = (rate - 0.5 * volatility * volatility) / STEPS;
    double spread = volatility * sqrt(1.0 / STEPS);
    double sum = 0.0;
    for (int path = 0; path < PATHS; path++) {
        double spot = 100.0, total = 0.0;
        for (int step = 0; step < STEPS; step++) {
            spot *= exp(drift + spread * next_normal(normals));
            total += spot;
        }
        double gain = total / STEPS - strike;
        sum += gain > 0.0 ? gain : 0.0;
    }
    return exp(-rate) * sum / PATHS;
}

int main(int argc, char **argv)
{
    struct normals normals = {26, 0.0, 0};
    uint64_t checksum = 0;
    int rounds = scaled_rounds(argc, argv, 850);
    for (int i = 0; i < rounds; i++) {
        double strike = 90.0 + i % 20, volatility = 0.1 + 0.01 * (i % 30);
        /* Rounded: logarithms and exponentials differ in the last place between libraries. */
        checksum = mix(checksum, (uint64_t)lrint(price(strike, volatility, 0.03, &normals) * 1e5));
    }
    printf("%016" PRIx64 "\n", checksum);
    return 0;
}
