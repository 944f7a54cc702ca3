/*
 * Multiplies a signal's spectrum by a filter: an iterative radix-2 Fourier transform of 2048 complex values, there and
 * back.
 * Stands for nests whose inner loops are 1, 2, 4, ... 1024 turns long, so that short and long ones alternate.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "input.h"

enum { BITS = 11, LENGTH = 1 << BITS };

struct complex_number {
    double re, im;
};

static struct complex_number signal_values[LENGTH], filter[LENGTH], roots[LENGTH / 2];
static uint32_t reversed[LENGTH];

static struct complex_number times(struct complex_number a, struct complex_number b)
{
    return (struct complex_number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static void make_tables(void)
{
    const double pi = 3.14159265358979323846;
    for (int i = 0; i < LENGTH / 2; i++) {
        roots[i].re = cos(2.0 * pi * i / LENGTH);
        roots[i].im = -sin(2.0 * pi * i / LENGTH);
    }
    for (uint32_t i = 1; i < LENGTH; i++) {
        reversed[i] = reversed[i / 2] / 2 | (i % 2) << (BITS - 1);
    }
}

static void transform(struct complex_number *values)
{
    for (uint32_t i = 0; i < LENGTH; i++) {
        if (i < reversed[i]) {
            struct complex_number kept = values[i];
            values[i] = values[reversed[i]];
            values[reversed[i]] = kept;
        }
    }
    for (int half = 1; half < LENGTH; half *= 2) {
        int stride = LENGTH / 2 / half;
        for (int start = 0; start < LENGTH; start += 2 * half) {
            for (int i = 0; i < half; i++) {
                struct complex_number low = values[start + i];
                struct complex_number high = times(values[start + half + i], roots[i * stride]);
                values[start + i] = (struct complex_number){low.re + high.re, low.im + high.im};
                values[start + half + i] = (struct complex_number){low.re - high.re, low.im - high.im};
            }
        }
    }
}

/* The way back is the way there between two conjugations. */
static void transform_back(struct complex_number *values)
{
    for (int i = 0; i < LENGTH; i++) {
        values[i].im = -values[i].im;
    }
    transform(values);
    for (int i = 0; i < LENGTH; i++) {
        values[i].re /= LENGTH;
        values[i].im /= -LENGTH;
    }
}

int main(int argc, char **argv)
{
    make_tables();
    uint64_t seed = 18;
    for (int i = 0; i < LENGTH; i++) {
        signal_values[i].re = random_unit(&seed);
        signal_values[i].im = random_unit(&seed);
        /* Turns the phases and leaves the amplitudes, so that any number of rounds keeps the signal. */
        filter[i] = roots[random_below(&seed, LENGTH / 2)];
    }

    int rounds = scaled_rounds(argc, argv, 24000);
    for (int i = 0; i < rounds; i++) {
        transform(signal_values);
        for (int k = 0; k < LENGTH; k++) {
            signal_values[k] = times(signal_values[k], filter[k]);
        }
        transform_back(signal_values);
    }

    /* Rounded: sines and cosines differ in the last place between libraries. */
    uint64_t checksum = 0;
    for (int i = 0; i < LENGTH; i++) {
        checksum = mix(checksum, (uint64_t)(int64_t)lrint(signal_values[i].re * 1e4));
        checksum = mix(checksum, (uint64_t)(int64_t)lrint(signal_values[i].im * 1e4));
    }
    printf("%016" PRIx64 "\n", checksum);
    return 0;
}
