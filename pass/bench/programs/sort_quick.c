/*
 * Quicksort of 64-bit keys, the median of three as the pivot, with insertion sort for what is short.
 * Stands for recursion around loops that end on data and branches that can not be predicted.
 */
#include <inttypes.h>
#include <stdio.h>

#include "input.h"

enum { COUNT = 50000, SHORT = 16 };

static uint64_t keys[COUNT];

static void swap(uint64_t *a, uint64_t *b)
{
    uint64_t kept = *a;
    *a = *b;
    *b = kept;
}

static void insertion_sort(uint64_t *from, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        uint64_t key = from[i];
        size_t j = i;
        for (; j > 0 && from[j - 1] > key; j--) {
            from[j] = from[j - 1];
        }
        from[j] = key;
    }
}

/* Leaves the median in the middle, so that both scans of the partition have something to stop at. */
static uint64_t median_of_three(uint64_t *low, uint64_t *middle, uint64_t *high)
{
    if (*middle < *low) {
        swap(middle, low);
    }
    if (*high < *middle) {
        swap(high, middle);
        if (*middle < *low) {
            swap(middle, low);
        }
    }
    return *middle;
}

static void quicksort(uint64_t *from, size_t count)
{
    if (count <= SHORT) {
        insertion_sort(from, count);
        return;
    }
    uint64_t pivot = median_of_three(from, from + count / 2, from + count - 1);
    uint64_t *low = from, *high = from + count - 1;
    while (low <= high) {
        while (*low < pivot) {
            low++;
        }
        while (*high > pivot) {
            high--;
        }
        if (low <= high) {
            swap(low++, high--);
        }
    }
    quicksort(from, (size_t)(high + 1 - from));
    quicksort(low, (size_t)(from + count - low));
}

int main(int argc, char **argv)
{
    uint64_t seed = 14;
    uint64_t checksum = 0;
    int rounds = scaled_rounds(argc, argv, 320);
    for (int i = 0; i < rounds; i++) {
        for (int k = 0; k < COUNT; k++) {
            keys[k] = next_random(&seed) >> (i % 4 * 16);
        }
        quicksort(keys, COUNT);
        for (int k = 0; k < COUNT; k += 97) {
            checksum = mix(checksum, keys[k]);
        }
    }
    printf("%016" PRIx64 "\n", checksum);
    return 0;
}
