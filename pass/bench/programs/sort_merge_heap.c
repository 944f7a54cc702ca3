/*
 * The same records sorted by merging from the bottom up, by one field, and with a heap, by another.
 * Stands for merges (two cursors, one unpredictable branch) and for walks down a heap, with comparisons by a function.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "input.h"

enum { COUNT = 20000 };

struct record {
    uint32_t key;
    uint32_t priority;
    uint64_t payload;
};

static struct record records[COUNT], scratch[COUNT];

static bool key_before(const struct record *a, const struct record *b)
{
    return a->key < b->key;
}

static bool priority_before(const struct record *a, const struct record *b)
{
    return a->priority != b->priority ? a->priority < b->priority : a->payload < b->payload;
}

/* Stable: of equals, the one from the left goes first. */
static void merge(const struct record *from, size_t left, size_t middle, size_t right, struct record *to)
{
    size_t i = left, j = middle;
    for (size_t k = left; k < right; k++) {
        if (i < middle && (j == right || !key_before(&from[j], &from[i]))) {
            to[k] = from[i++];
        } else {
            to[k] = from[j++];
        }
    }
}

static void merge_sort(struct record *array, size_t count, struct record *space)
{
    struct record *from = array, *to = space;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t left = 0; left < count; left += 2 * width) {
            size_t middle = left + width < count ? left + width : count;
            size_t right = middle + width < count ? middle + width : count;
            merge(from, left, middle, right, to);
        }
        struct record *kept = from;
        from = to;
        to = kept;
    }
    if (from != array) {
        memcpy(array, from, count * sizeof *array);
    }
}

static void sift_down(struct record *heap, size_t at, size_t count)
{
    struct record moved = heap[at];
    for (size_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && priority_before(&heap[child], &heap[child + 1])) {
            child++;
        }
        if (!priority_before(&moved, &heap[child])) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

static void heap_sort(struct record *array, size_t count)
{
    for (size_t i = count / 2; i-- > 0;) {
        sift_down(array, i, count);
    }
    for (size_t end = count - 1; end > 0; end--) {
        struct record largest = array[0];
        array[0] = array[end];
        array[end] = largest;
        sift_down(array, 0, end);
    }
}

static uint64_t digest(uint64_t checksum)
{
    for (int i = 0; i < COUNT; i += 31) {
        checksum = mix(checksum, records[i].payload);
    }
    return checksum;
}

int main(int argc, char **argv)
{
    uint64_t seed = 15;
    uint64_t checksum = 0;
    int rounds = scaled_rounds(argc, argv, 240);
    for (int i = 0; i < rounds; i++) {
        for (int k = 0; k < COUNT; k++) {
            records[k].key = random_below(&seed, COUNT);
            records[k].priority = random_below(&seed, 1000);
            records[k].payload = next_random(&seed);
        }
        merge_sort(records, COUNT, scratch);
        checksum = digest(checksum);
        heap_sort(records, COUNT);
        checksum = digest(checksum);
    }
    printf("%016" PRIx64 "\n", checksum);
    return 0;
}
