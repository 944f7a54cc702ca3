#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>

#define REPS 173
#define N 50000

static uint64_t s = 1234567;

static uint32_t rnd(void)
{
    s ^= s << 13;
    s ^= s >> 7;
    s ^= s << 17;
    return (uint32_t)(s >> 16);
}

static void insertion_sort(int *a, int lo, int hi)
{
    for (int i = lo + 1; i <= hi; i++) {
        int v = a[i], j = i - 1;
        while (j >= lo && a[j] > v) {
            a[j + 1] = a[j];
            j--;
        }
        a[j + 1] = v;
    }
}

static void swap(int *a, int *b)
{
    int t = *a;
    *a = *b;
    *b = t;
}

static void quicksort(int *a, int lo, int hi)
{
    while (hi - lo > 16) {
        int mid = lo + (hi - lo) / 2;
        if (a[mid] < a[lo]) swap(&a[mid], &a[lo]);
        if (a[hi] < a[lo]) swap(&a[hi], &a[lo]);
        if (a[hi] < a[mid]) swap(&a[hi], &a[mid]);
        int pivot = a[mid];
        int i = lo, j = hi;
        while (i <= j) {
            while (a[i] < pivot) i++;
            while (a[j] > pivot) j--;
            if (i <= j) {
                swap(&a[i], &a[j]);
                i++;
                j--;
            }
        }
        if (j - lo < hi - i) {
            quicksort(a, lo, j);
            lo = i;
        } else {
            quicksort(a, i, hi);
            hi = j;
        }
    }
    insertion_sort(a, lo, hi);
}

static int quickselect(int *a, int n, int k)
{
    int lo = 0, hi = n - 1;
    while (lo < hi) {
        int p = a[(lo + hi) / 2], i = lo, j = hi;
        while (i <= j) {
            while (a[i] < p) i++;
            while (a[j] > p) j--;
            if (i <= j)
                swap(&a[i++], &a[j--]);
        }
        if (k <= j) hi = j;
        else if (k >= i) lo = i;
        else break;
    }
    return a[k];
}

static int cmp_int(const void *x, const void *y)
{
    int a = *(const int *)x, b = *(const int *)y;
    return (a > b) - (a < b);
}

int main(void)
{
    int *a = malloc(sizeof(int) * N), *b = malloc(sizeof(int) * N);
    uint64_t sum = 0;
    for (int r = 0; r < REPS; r++) {
        for (int i = 0; i < N; i++)
            a[i] = b[i] = (int)(rnd() & 0x7fffffff);
        sum += (uint64_t)quickselect(b, N, (int)(rnd() % N));
        quicksort(a, 0, N - 1);
        if (r % 4 == 0)
            qsort(b, N / 4, sizeof(int), cmp_int);
        for (int i = 0; i < N; i++) {
            if (i && a[i - 1] > a[i])
                return 1;
            sum = sum * 3 + (uint64_t)a[i] + (uint64_t)b[i / 4];
        }
        insertion_sort(b, 0, 500);
        sum += (uint64_t)b[250];
    }
    printf("quicksort %llu\n", (unsigned long long)sum);
    free(a);
    free(b);
    return 0;
}
