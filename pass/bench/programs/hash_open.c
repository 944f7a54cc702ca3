/*
 * A hash table with open addressing and linear probing: insertions, lookups that find and lookups that do not, and
 * deletions that close the gap.
 * Stands for loops of one or two turns that end on data, with a cache miss now and then.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "input.h"

enum { BITS = 16, SLOTS = 1 << BITS, KEYS = SLOTS / 2 };

/* Key 0 says that a slot is free. */
struct slot {
    uint64_t key;
    uint64_t value;
};

static struct slot slots[SLOTS];

static uint32_t home(uint64_t key)
{
    return (uint32_t)(key * 0x9e3779b97f4a7c15u >> (64 - BITS));
}

/* The slot of a key, or the free one where it would go. */
static struct slot *locate(uint64_t key)
{
    uint32_t i = home(key);
    while (slots[i].key != 0 && slots[i].key != key) {
        i = (i + 1) % SLOTS;
    }
    return &slots[i];
}

static void insert(uint64_t key, uint64_t value)
{
    struct slot *slot = locate(key);
    slot->key = key;
    slot->value += value;
}

/* Moves later keys of the run into the gap, unless they would come before their home. */
static void delete(uint64_t key)
{
    struct slot *slot = locate(key);
    if (slot->key == 0) {
        return;
    }
    uint32_t gap = (uint32_t)(slot - slots);
    for (uint32_t i = (gap + 1) % SLOTS; slots[i].key != 0; i = (i + 1) % SLOTS) {
        uint32_t from_home = (i - home(slots[i].key)) % SLOTS;
        uint32_t from_gap = (i - gap) % SLOTS;
        if (from_home >= from_gap) {
            slots[gap] = slots[i];
            gap = i;
        }
    }
    slots[gap].key = 0;
    slots[gap].value = 0;
}

static uint64_t round_of_work(uint64_t seed)
{
    uint64_t inserted = seed;
    for (int i = 0; i < KEYS; i++) {
        uint64_t key = next_random(&inserted) | 1;
        insert(key, (uint64_t)i);
    }

    uint64_t found = 0;
    uint64_t again = seed;
    for (int i = 0; i < KEYS; i++) {
        uint64_t key = next_random(&again) | 1;
        found = mix(found, locate(key)->value);
        found += locate(key + 1)->value;
    }

    uint64_t deleted = seed;
    for (int i = 0; i < KEYS; i++) {
        delete(next_random(&deleted) | 1);
    }
    return found;
}

int main(int argc, char **argv)
{
    uint64_t checksum = 0;
    int rounds = scaled_rounds(argc, argv, 550);
    for (int i = 0; i < rounds; i++) {
        checksum = mix(checksum, round_of_work((uint64_t)i));
    }
    printf("%016" PRIx64 "\n", checksum);
    return 0;
}
