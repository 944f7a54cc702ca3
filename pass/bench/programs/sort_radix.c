/*
 * Least-significant-digit radix sort of 32-bit keys with a number each, a byte a pass.
 * Stands for counting and scattering: four long loops of few instructions whose stores go all over the place.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "input.h"

enum { COUNT = 60000, DIGITS = 256 };

struct item {
    uint32_t key;
    uint32_t number;
};

static struct item items[COUNT], scratch[COUNT];

static void pass(const struct item *from, struct item *to, int shift)
{
    uint32_t places[DIGITS] = {0};
    for (int i = 0; i < COUNT; i++) {
        places[from[i].key >> shift & (DIGITS - 1)]++;
    }
    uint32_t sum = 0;
    for (int digit = 0; digit < DIGITS; digit++) {
        uint32_t count = places[digit];
        places[digit] = sum;
        sum += count;
    }
    for (int i = 0; i < COUNT; i++) {
        to[places[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
    }
}

static void radix_sort(void)
{
    pass(items, scratch, 0);
    pass(scratch, items, 8);
    pass(items, scratch, 16);
    pass(scratch, items, 24);
}

int main(int argc, char **argv)
{
    uint64_t seed = 16;
    for (uint32_t i = 0; i < COUNT; i++) {
        items[i] = (struct item){(uint32_t)next_random(&seed), i};
    }

    uint64_t checksum = 0;
    int rounds = scaled_rounds(argc, argv, 2400);
    for (int i = 0; i < rounds; i++) {
        radix_sort();
        checksum = mix(checksum, items[i * 41 % COUNT].number);
        /* The next keys follow from what was sorted. */
        for (int k = 0; k < COUNT; k++) {
            items[k].key = items[k].key * 2654435761u + items[k].number;
        }
    }
    printf("%016" PRIx64 "\n", checksum);
    return 0;
}
