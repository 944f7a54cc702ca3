#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>

#define REPS 140
#define N 200
#define INF 1000000000

static int d[N][N], next_hop[N][N];
static unsigned char reach[N][N];
static uint32_t x = 77;

static uint32_t rnd(void)
{
    x = x * 1664525u + 1013904223u;
    return x >> 8;
}

static void init(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            d[i][j] = i == j ? 0 : INF;
            next_hop[i][j] = -1;
            reach[i][j] = 0;
        }
    for (int e = 0; e < N * 5; e++) {
        int a = (int)(rnd() % N), b = (int)(rnd() % N), w = 1 + (int)(rnd() % 100);
        if (w < d[a][b]) {
            d[a][b] = w;
            next_hop[a][b] = b;
        }
        if (e < N)
            reach[a][b] = 1;
    }
}

static void floyd_warshall(void)
{
    for (int k = 0; k < N; k++)
        for (int i = 0; i < N; i++) {
            if (d[i][k] == INF)
                continue;
            for (int j = 0; j < N; j++)
                if (d[i][k] + d[k][j] < d[i][j]) {
                    d[i][j] = d[i][k] + d[k][j];
                    next_hop[i][j] = next_hop[i][k];
                }
        }
}

static void transitive_closure(void)
{
    for (int k = 0; k < N; k++)
        for (int i = 0; i < N; i++)
            if (reach[i][k])
                for (int j = 0; j < N; j++)
                    reach[i][j] = reach[i][j] || reach[k][j];
}

static int path_len(int a, int b)
{
    int n = 0;
    while (a != b && a >= 0) {
        a = next_hop[a][b];
        n++;
        if (n > N)
            return -1;
    }
    return n;
}

int main(void)
{
    uint64_t sum = 0;
    for (int r = 0; r < REPS; r++) {
        init();
        floyd_warshall();
        transitive_closure();
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j += 3) {
                if (d[i][j] < INF)
                    sum += (uint64_t)d[i][j] + (uint64_t)path_len(i, j);
                sum = sum * 3 + reach[i][j];
            }
    }
    printf("floyd %llu\n", (unsigned long long)sum);
    return 0;
}
