#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>

#define REPS 3000000
#define N 65536

static uint64_t s = 0x9E3779B97F4A7C15ull;

static uint64_t next_rand(void)
{
    s ^= s >> 12;
    s ^= s << 25;
    s ^= s >> 27;
    return s * 0x2545F4914F6CDD1Dull;
}

static int bsearch_exact(const uint32_t *a, int n, uint32_t key)
{
    int lo = 0, hi = n - 1;
    while (lo <= hi) {
        int mid = lo + (hi - lo) / 2;
        if (a[mid] == key)
            return mid;
        if (a[mid] < key)
            lo = mid + 1;
        else
            hi = mid - 1;
    }
    return -1;
}

static int lower_bound(const uint32_t *a, int n, uint32_t key)
{
    int lo = 0, hi = n;
    while (lo < hi) {
        int mid = (lo + hi) >> 1;
        if (a[mid] < key)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static int interpolation(const uint32_t *a, int n, uint32_t key)
{
    int lo = 0, hi = n - 1;
    while (lo <= hi && key >= a[lo] && key <= a[hi]) {
        if (a[hi] == a[lo])
            return a[lo] == key ? lo : -1;
        int pos = lo + (int)((uint64_t)(hi - lo) * (key - a[lo]) / (a[hi] - a[lo]));
        if (a[pos] == key)
            return pos;
        if (a[pos] < key)
            lo = pos + 1;
        else
            hi = pos - 1;
    }
    return -1;
}

int main(void)
{
    uint32_t *a = malloc(N * sizeof *a);
    uint32_t v = 0;
    for (int i = 0; i < N; i++) {
        v += 1 + (uint32_t)(next_rand() % 7);
        a[i] = v;
    }
    uint64_t sum = 0;
    for (int r = 0; r < REPS; r++) {
        uint32_t key = (uint32_t)(next_rand() % (v + 1));
        int e = bsearch_exact(a, N, key);
        int l = lower_bound(a, N, key);
        sum += (uint64_t)(e + 1) * 3 + (uint64_t)l;
        if ((r & 7) == 0)
            sum ^= (uint64_t)(interpolation(a, N, key) + 1) << 8;
    }
    printf("binsearch %llu\n", (unsigned long long)sum);
    free(a);
    return 0;
}
