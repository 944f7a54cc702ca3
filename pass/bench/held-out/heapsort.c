#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>

#define REPS 68
#define N 40000

static uint32_t x = 42;

static uint32_t rnd(void)
{
    x = x * 1664525u + 1013904223u;
    return x ^ (x >> 15);
}

static void sift_down(uint32_t *a, int i, int n)
{
    for (;;) {
        int c = 2 * i + 1;
        if (c >= n)
            return;
        if (c + 1 < n && a[c + 1] > a[c])
            c++;
        if (a[i] >= a[c])
            return;
        uint32_t t = a[i];
        a[i] = a[c];
        a[c] = t;
        i = c;
    }
}

static void heapsort_u32(uint32_t *a, int n)
{
    for (int i = n / 2 - 1; i >= 0; i--)
        sift_down(a, i, n);
    for (int i = n - 1; i > 0; i--) {
        uint32_t t = a[0];
        a[0] = a[i];
        a[i] = t;
        sift_down(a, 0, i);
    }
}

static void radix_sort(uint32_t *a, uint32_t *tmp, int n)
{
    for (int shift = 0; shift < 32; shift += 8) {
        int count[257] = {0};
        for (int i = 0; i < n; i++)
            count[((a[i] >> shift) & 255) + 1]++;
        for (int i = 0; i < 256; i++)
            count[i + 1] += count[i];
        for (int i = 0; i < n; i++)
            tmp[count[(a[i] >> shift) & 255]++] = a[i];
        memcpy(a, tmp, sizeof(uint32_t) * (size_t)n);
    }
}

static void merge_sort(uint32_t *a, uint32_t *tmp, int n)
{
    for (int w = 1; w < n; w *= 2) {
        for (int lo = 0; lo < n; lo += 2 * w) {
            int mid = lo + w < n ? lo + w : n;
            int hi = lo + 2 * w < n ? lo + 2 * w : n;
            int i = lo, j = mid, k = lo;
            while (i < mid && j < hi)
                tmp[k++] = a[i] <= a[j] ? a[i++] : a[j++];
            while (i < mid)
                tmp[k++] = a[i++];
            while (j < hi)
                tmp[k++] = a[j++];
        }
        memcpy(a, tmp, sizeof(uint32_t) * (size_t)n);
    }
}

static void shell_sort(uint32_t *a, int n)
{
    int gap = 1;
    while (gap < n / 3)
        gap = gap * 3 + 1;
    for (; gap > 0; gap /= 3)
        for (int i = gap; i < n; i++) {
            uint32_t v = a[i];
            int j = i;
            for (; j >= gap && a[j - gap] > v; j -= gap)
                a[j] = a[j - gap];
            a[j] = v;
        }
}

int main(void)
{
    uint32_t *src = malloc(4 * N), *a = malloc(4 * N), *tmp = malloc(4 * N);
    uint64_t sum = 0;
    for (int r = 0; r < REPS; r++) {
        for (int i = 0; i < N; i++)
            src[i] = rnd();
        memcpy(a, src, 4 * N);
        heapsort_u32(a, N);
        sum = sum * 31 + a[N / 3];
        memcpy(a, src, 4 * N);
        radix_sort(a, tmp, N);
        sum = sum * 31 + a[N / 3];
        memcpy(a, src, 4 * N);
        merge_sort(a, tmp, N);
        sum = sum * 31 + a[N / 2];
        memcpy(a, src, 4 * N);
        shell_sort(a, N);
        sum = sum * 31 + a[N / 2];
        for (int i = 1; i < N; i++)
            if (a[i - 1] > a[i])
                return 1;
    }
    printf("heapsort %llu\n", (unsigned long long)sum);
    free(src); free(a); free(tmp);
    return 0;
}
