#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>

#define REPS 600000
#define N 1024

static uint32_t state = 2463534242u;

static uint32_t xorshift32(void)
{
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

static int find(const int *a, int n, int key)
{
    for (int i = 0; i < n; i++)
        if (a[i] == key)
            return i;
    return -1;
}

static int find_last_le(const int *a, int n, int key)
{
    for (int i = n - 1; i >= 0; i--)
        if (a[i] <= key)
            return i;
    return -1;
}

struct record {
    int id;
    short kind;
    short flags;
    double weight;
};

static const struct record *find_record(const struct record *r, int n, int id, short kind)
{
    for (int i = 0; i < n; i++)
        if (r[i].id == id && r[i].kind == kind)
            return &r[i];
    return NULL;
}

int main(void)
{
    int *a = malloc(N * sizeof *a);
    struct record *r = malloc(N * sizeof *r);
    for (int i = 0; i < N; i++) {
        a[i] = (int)(xorshift32() % (4 * N));
        r[i].id = (int)(xorshift32() % N);
        r[i].kind = (short)(xorshift32() & 3);
        r[i].flags = 0;
        r[i].weight = (double)(xorshift32() % 1000) / 10.0;
    }
    uint64_t sum = 0;
    double w = 0;
    for (int k = 0; k < REPS; k++) {
        int key = (int)(xorshift32() % (4 * N));
        sum = sum * 31 + (uint64_t)(find(a, N, key) + 1);
        sum += (uint64_t)find_last_le(a, N, (int)(xorshift32() % 16));
        const struct record *p = find_record(r, N, (int)(xorshift32() % N), (short)(xorshift32() & 3));
        if (p)
            w += p->weight;
        a[xorshift32() % N] = key;
    }
    printf("linsearch %llu %.1f\n", (unsigned long long)sum, w);
    free(a);
    free(r);
    return 0;
}
