/*
 * Solves systems of linear equations by LU decomposition with partial pivoting, and refines each solution once.
 * Stands for triangular nests, whose loops grow shorter from turn to turn, with rows that are swapped.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "input.h"

enum { SIDE = 150 };

static double matrix[SIDE][SIDE], factors[SIDE][SIDE];
static double wanted[SIDE], solution[SIDE];
static int order[SIDE];

static void swap_rows(int a, int b)
{
    double kept[SIDE];
    memcpy(kept, factors[a], sizeof kept);
    memcpy(factors[a], factors[b], sizeof kept);
    memcpy(factors[b], kept, sizeof kept);
    int index = order[a];
    order[a] = order[b];
    order[b] = index;
}

static void decompose(void)
{
    memcpy(factors, matrix, sizeof factors);
    for (int i = 0; i < SIDE; i++) {
        order[i] = i;
    }
    for (int k = 0; k < SIDE; k++) {
        int pivot = k;
        for (int i = k + 1; i < SIDE; i++) {
            if (fabs(factors[i][k]) > fabs(factors[pivot][k])) {
                pivot = i;
            }
        }
        if (pivot != k) {
            swap_rows(pivot, k);
        }
        for (int i = k + 1; i < SIDE; i++) {
            double factor = factors[i][k] / factors[k][k];
            factors[i][k] = factor;
            for (int j = k + 1; j < SIDE; j++) {
                factors[i][j] -= factor * factors[k][j];
            }
        }
    }
}

static void substitute(const double *right, double *x)
{
    for (int i = 0; i < SIDE; i++) {
        double sum = right[order[i]];
        for (int j = 0; j < i; j++) {
            sum -= factors[i][j] * x[j];
        }
        x[i] = sum;
    }
    for (int i = SIDE - 1; i >= 0; i--) {
        double sum = x[i];
        for (int j = i + 1; j < SIDE; j++) {
            sum -= factors[i][j] * x[j];
        }
        x[i] = sum / factors[i][i];
    }
}

static void refine(void)
{
    double residue[SIDE], correction[SIDE];
    for (int i = 0; i < SIDE; i++) {
        double sum = wanted[i];
        for (int j = 0; j < SIDE; j++) {
            sum -= matrix[i][j] * solution[j];
        }
        residue[i] = sum;
    }
    substitute(residue, correction);
    for (int i = 0; i < SIDE; i++) {
        solution[i] += correction[i];
    }
}

int main(int argc, char **argv)
{
    uint64_t seed = 19;
    for (int i = 0; i < SIDE; i++) {
        for (int j = 0; j < SIDE; j++) {
            matrix[i][j] = random_unit(&seed) - 0.5;
        }
        wanted[i] = random_unit(&seed);
    }

    uint64_t checksum = 0;
    int rounds = scaled_rounds(argc, argv, 2400);
    for (int i = 0; i < rounds; i++) {
        decompose();
        substitute(wanted, solution);
        refine();
        for (int k = 0; k < SIDE; k++) {
            checksum = mix(checksum, (uint64_t)(int64_t)lrint(solution[k] * 1e5));
            wanted[k] = random_unit(&seed);
        }
        matrix[i % SIDE][i * 7 % SIDE] += 0.125;
    }
    printf("%016" PRIx64 "\n", checksum);
    return 0;
}
