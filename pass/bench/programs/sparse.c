/*
 * A sparse matrix in compressed rows times a vector, again and again, the product scaled to be the next vector; an
 * entry changes every round, or it would come to rest.
 * Stands for short inner loops under a hot outer loop: rows have 0 to 8 entries, and nobody knows beforehand how many.
 */
#include <inttypes.h>
#include <stdio.h>

#include "input.h"

enum { ROWS = 20000, LONGEST = 8 };

static uint32_t starts[ROWS + 1];
static uint32_t columns[ROWS * LONGEST];
static double values[ROWS * LONGEST];
static double first[ROWS], second[ROWS];

static void generate(uint64_t *seed)
{
    uint32_t entries = 0;
    for (int row = 0; row < ROWS; row++) {
        starts[row] = entries;
        uint32_t length = random_below(seed, LONGEST + 1);
        for (uint32_t i = 0; i < length; i++) {
            columns[entries] = random_below(seed, ROWS);
            values[entries] = random_unit(seed);
            entries++;
        }
        first[row] = random_unit(seed);
    }
    starts[ROWS] = entries;
}

static void multiply(const double *in, double *out)
{
    for (int row = 0; row < ROWS; row++) {
        double sum = 0.0;
        for (uint32_t i = starts[row]; i < starts[row + 1]; i++) {
            sum += values[i] * in[columns[i]];
        }
        out[row] = sum;
    }
}

static void normalise(double *vector)
{
    double largest = 0.0;
    for (int i = 0; i < ROWS; i++) {
        largest = vector[i] > largest ? vector[i] : largest;
    }
    double factor = 1.0 / largest;
    for (int i = 0; i < ROWS; i++) {
        vector[i] *= factor;
    }
}

int main(int argc, char **argv)
{
    uint64_t seed = 5;
    generate(&seed);

    uint64_t checksum = 0;
    int rounds = scaled_rounds(argc, argv, 1900);
    for (int i = 0; i < rounds; i++) {
        multiply(first, second);
        multiply(second, first);
        normalise(first);
        uint32_t changed = random_below(&seed, starts[ROWS]);
        values[changed] = random_unit(&seed);
        checksum = mix(checksum, (uint64_t)(first[i % ROWS] * 1e9));
    }

    for (int i = 0; i < ROWS; i++) {
        checksum = mix(checksum, (uint64_t)(first[i] * 1e9));
    }
    printf("%016" PRIx64 "\n", checksum);
    return 0;
}
