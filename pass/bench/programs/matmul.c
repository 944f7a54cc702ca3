/*
 * Products of square matrices of doubles by the triple loop, once with the scalar product inside (i, j, k) and once
 * with whole rows inside (i, k, j).
 * Stands for the two orders of a nest: a chain of dependent additions with strided loads, and a vectorisable loop.
 */
#include <inttypes.h>
#include <stdio.h>

#include "input.h"

enum { SIDE = 192 };

typedef double matrix[SIDE][SIDE];

static matrix a, b, c;

static void multiply_by_scalar_products(matrix x, matrix y, matrix product)
{
    for (int i = 0; i < SIDE; i++) {
        for (int j = 0; j < SIDE; j++) {
            double sum = 0.0;
            for (int k = 0; k < SIDE; k++) {
                sum += x[i][k] * y[k][j];
            }
            product[i][j] = sum;
        }
    }
}

static void multiply_by_rows(matrix x, matrix y, matrix product)
{
    for (int i = 0; i < SIDE; i++) {
        for (int j = 0; j < SIDE; j++) {
            product[i][j] = 0.0;
        }
        for (int k = 0; k < SIDE; k++) {
            for (int j = 0; j < SIDE; j++) {
                product[i][j] += x[i][k] * y[k][j];
            }
        }
    }
}

int main(int argc, char **argv)
{
    uint64_t seed = 17;
    for (int i = 0; i < SIDE; i++) {
        for (int j = 0; j < SIDE; j++) {
            a[i][j] = random_unit(&seed);
            b[i][j] = random_unit(&seed) * 2.0 / SIDE;
        }
    }

    uint64_t checksum = 0;
    int rounds = scaled_rounds(argc, argv, 130);
    for (int i = 0; i < rounds; i++) {
        multiply_by_scalar_products(a, b, c);
        multiply_by_rows(c, b, a);
        checksum = mix(checksum, (uint64_t)(a[i % SIDE][i * 7 % SIDE] * 1e6));
    }
    for (int i = 0; i < SIDE; i++) {
        for (int j = 0; j < SIDE; j++) {
            checksum = mix(checksum, (uint64_t)(a[i][j] * 1e6));
        }
    }
    printf("%016" PRIx64 "\n", checksum);
    return 0;
}
