/*
 * Principal components of samples with 48 features: means, the covariance matrix, and its largest eigenvectors by
 * power iteration with deflation.
 * Stands for statistics over a table: reductions along columns, a triangular nest over pairs of them, small
 * matrix-vector products.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "input.h"

enum { SAMPLES = 1000, FEATURES = 48, COMPONENTS = 3, ITERATIONS = 60 };

static double samples[SAMPLES][FEATURES];
static double covariance[FEATURES][FEATURES];

static void centre(void)
{
    double means[FEATURES] = {0.0};
    for (int s = 0; s < SAMPLES; s++) {
        for (int f = 0; f < FEATURES; f++) {
            means[f] += samples[s][f] / SAMPLES;
        }
    }
    for (int s = 0; s < SAMPLES; s++) {
        for (int f = 0; f < FEATURES; f++) {
            samples[s][f] -= means[f];
        }
    }
}

static void covary(void)
{
    for (int f = 0; f < FEATURES; f++) {
        for (int g = f; g < FEATURES; g++) {
            double sum = 0.0;
            for (int s = 0; s < SAMPLES; s++) {
                sum += samples[s][f] * samples[s][g];
            }
            covariance[f][g] = covariance[g][f] = sum / (SAMPLES - 1);
        }
    }
}

/* Returns the eigenvalue and takes the component out of the matrix. */
static double take_component(double *direction)
{
    double value = 0.0;
    for (int f = 0; f < FEATURES; f++) {
        direction[f] = 1.0 + f % 3;
    }
    for (int i = 0; i < ITERATIONS; i++) {
        double image[FEATURES], square = 0.0;
        for (int f = 0; f < FEATURES; f++) {
            image[f] = 0.0;
            for (int g = 0; g < FEATURES; g++) {
                image[f] += covariance[f][g] * direction[g];
            }
            square += image[f] * image[f];
        }
        value = sqrt(square);
        for (int f = 0; f < FEATURES; f++) {
            direction[f] = image[f] / value;
        }
    }
    for (int f = 0; f < FEATURES; f++) {
        for (int g = 0; g < FEATURES; g++) {
            covariance[f][g] -= value * direction[f] * direction[g];
        }
    }
    return value;
}

/* Three hidden causes of different strength behind all features, and noise. */
static void generate(uint64_t *seed)
{
    for (int s = 0; s < SAMPLES; s++) {
        double strong = random_unit(seed), middle = random_unit(seed), weak = random_unit(seed);
        for (int f = 0; f < FEATURES; f++) {
            double noise = 0.2 * random_unit(seed);
            samples[s][f] = noise + strong * (f % 5) + middle * (f % 7 < 3) + weak * (f % 2);
        }
    }
}

int main(int argc, char **argv)
{
    uint64_t seed = 22;
    generate(&seed);

    uint64_t checksum = 0;
    int rounds = scaled_rounds(argc, argv, 500);
    for (int i = 0; i < rounds; i++) {
        uint32_t sample = random_below(&seed, SAMPLES);
        samples[sample][random_below(&seed, FEATURES)] += 1.0;
        centre();
        covary();
        for (int c = 0; c < COMPONENTS; c++) {
            double direction[FEATURES];
            double value = take_component(direction);
            checksum = mix(checksum, (uint64_t)(value * 1e6));
            checksum = mix(checksum, (uint64_t)(int64_t)lrint(direction[i % FEATURES] * 1e5));
        }
    }
    printf("%016" PRIx64 "\n", checksum);
    return 0;
}
