/*
 * Walks round lists whose nodes lie in random order in 32 KiB, 256 KiB, 2 MiB and 8 MiB of memory.
 * Stands for pointer chasing: every load waits for the one before it, from a few cycles to a hundred, and the loop
 * around it is three instructions long.
 */
#include <inttypes.h>
#include <stdio.h>

#include "input.h"

struct node {
    struct node *next;
    uint64_t value;
};

enum { LARGEST = 8 << 20, SIZES = 4 };

static const size_t sizes[SIZES] = {32 << 10, 256 << 10, 2 << 20, 8 << 20};
static const int hops[SIZES] = {1300000, 500000, 150000, 14000};
static struct node nodes[LARGEST / sizeof(struct node)];
static uint32_t order[LARGEST / sizeof(struct node)];

/* Makes the first `count` nodes one ring in random order. */
static void link_nodes(uint32_t count, uint64_t *seed)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t j = random_below(seed, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    for (uint32_t i = 0; i < count; i++) {
        nodes[order[i]].next = &nodes[order[(i + 1) % count]];
        nodes[order[i]].value = i;
    }
}

/* Goes on from `node`, adds what it sees to `sum`, and returns where it stopped. */
static struct node *walk(struct node *node, int count, uint64_t *sum)
{
    uint64_t seen = 0;
    for (int i = 0; i < count; i++) {
        seen += node->value;
        node = node->next;
    }
    *sum += seen;
    return node;
}

int main(int argc, char **argv)
{
    uint64_t seed = 8;
    uint64_t checksum = 0;
    int rounds = scaled_rounds(argc, argv, 120);
    for (int size = 0; size < SIZES; size++) {
        link_nodes((uint32_t)(sizes[size] / sizeof(struct node)), &seed);
        struct node *node = nodes;
        for (int i = 0; i < rounds; i++) {
            uint64_t sum = 0;
            node = walk(node, hops[size], &sum);
            checksum = mix(checksum, sum);
        }
    }
    printf("%016" PRIx64 "\n", checksum);
    return 0;
}
