/*
 * Phases of arithmetic in registers alternate with phases of dependent loads from random places in 64 MiB; each takes
 * about 5 to 20 us, drawn anew each time.
 * Stands for programs whose speed changes faster than anybody could learn it: the same number of instructions takes
 * some hundred times longer in one phase than in the next.
 */
#include <inttypes.h>
#include <stdio.h>

#include "input.h"

enum { LINE = 64, LINES = (64 << 20) / LINE, LEAST_NS = 5000, MOST_NS = 20000 };

/* What a turn of either loop takes on a server core of the 2020s, in tenths of a nanosecond. */
enum { MIX_TENTHS = 20, LOAD_TENTHS = 1700 };

struct line {
    uint64_t value;
    uint8_t rest[LINE - sizeof(uint64_t)];
};

static struct line lines[LINES];

static uint64_t compute(uint64_t x, uint32_t turns)
{
    for (uint32_t i = 0; i < turns; i++) {
        x ^= x >> 29;
        x *= 0xbf58476d1ce4e5b9u;
        x += i;
    }
    return x;
}

/* What is loaded and how often decide where to load next, so that the walk never closes to a ring. */
static uint64_t wander(uint64_t x, uint32_t turns)
{
    for (uint32_t i = 0; i < turns; i++) {
        x = (x + lines[x % LINES].value) * 0x9e3779b97f4a7c15u;
        x ^= x >> 32;
    }
    return x;
}

static uint32_t turns_of_phase(uint64_t *seed, uint32_t tenths_a_turn)
{
    return 10 * (LEAST_NS + random_below(seed, MOST_NS - LEAST_NS)) / tenths_a_turn;
}

int main(int argc, char **argv)
{
    uint64_t seed = 35;
    for (int i = 0; i < LINES; i++) {
        lines[i].value = next_random(&seed);
    }

    uint64_t x = 0;
    int rounds = scaled_rounds(argc, argv, 30000);
    for (int i = 0; i < rounds; i++) {
        x = compute(x, turns_of_phase(&seed, MIX_TENTHS));
        x = wander(x, turns_of_phase(&seed, LOAD_TENTHS));
    }
    printf("%016" PRIx64 "\n", x);
    return 0;
}
