/*
 * The price of American put options by the Crank-Nicolson scheme: the Black-Scholes equation in the logarithm of the
 * price, a tridiagonal system a time step, early exercise by comparison.
 * Stands for recurrences: loops of some hundred turns whose every turn waits for a division of the one before.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "input.h"

enum { PRICES = 301, STEPS = 200 };

struct option {
    double strike, rate, volatility, years;
};

/* The coefficients of a row: what the values below, at and above a price contribute. */
struct row {
    double below, here, above;
};

static double payoff[PRICES], values[PRICES], right[PRICES], slopes[PRICES];

/* One half of the step is explicit, into `right`; the other half is solved by elimination and substitution. */
static void step(struct row row)
{
    for (int i = 1; i < PRICES - 1; i++) {
        right[i] = row.below * values[i - 1] + (1.0 + row.here) * values[i] + row.above * values[i + 1];
    }
    right[0] = payoff[0];
    slopes[0] = 0.0;
    for (int i = 1; i < PRICES - 1; i++) {
        double pivot = 1.0 - row.here + row.below * slopes[i - 1];
        slopes[i] = -row.above / pivot;
        right[i] = (right[i] + row.below * right[i - 1]) / pivot;
    }
    values[PRICES - 1] = 0.0;
    for (int i = PRICES - 2; i >= 0; i--) {
        double kept = right[i] - slopes[i] * values[i + 1];
        values[i] = kept > payoff[i] ? kept : payoff[i];
    }
}

static double price(const struct option *option, double spot)
{
    double width = 5.0 * option->volatility * sqrt(option->years);
    double dx = 2.0 * width / (PRICES - 1), dt = option->years / STEPS;
    for (int i = 0; i < PRICES; i++) {
        double gain = option->strike - spot * exp(-width + i * dx);
        payoff[i] = gain > 0.0 ? gain : 0.0;
        values[i] = payoff[i];
    }

    double variance = option->volatility * option->volatility;
    double drift = option->rate - 0.5 * variance;
    double diffusion = 0.25 * dt * variance / (dx * dx), transport = 0.25 * dt * drift / dx;
    struct row row = {diffusion - transport, -2.0 * diffusion - 0.5 * dt * option->rate, diffusion + transport};
    for (int t = 0; t < STEPS; t++) {
        step(row);
    }
    return values[PRICES / 2];
}

int main(int argc, char **argv)
{
    uint64_t seed = 25;
    uint64_t checksum = 0;
    int rounds = scaled_rounds(argc, argv, 1500);
    for (int i = 0; i < rounds; i++) {
        struct option option;
        option.strike = 80.0 + 40.0 * random_unit(&seed);
        option.rate = 0.01 + 0.05 * random_unit(&seed);
        option.volatility = 0.1 + 0.4 * random_unit(&seed);
        option.years = 0.25 + 2.0 * random_unit(&seed);
        /* Rounded: the exponential differs in the last place between libraries. */
        checksum = mix(checksum, (uint64_t)lrint(price(&option, 100.0) * 1e5));
    }
    printf("%016" PRIx64 "\n", checksum);
    return 0;
}
