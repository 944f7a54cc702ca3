#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>

#define REPS 142
#define N 160

static uint32_t lcg = 1;

static double frand(void)
{
    lcg = lcg * 1103515245u + 12345u;
    return (double)((lcg >> 8) & 0xffff) / 65536.0 - 0.5;
}

static void mul_ijk(const double *a, const double *b, double *c, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double s = 0;
            for (int k = 0; k < n; k++)
                s += a[i * n + k] * b[k * n + j];
            c[i * n + j] = s;
        }
}

static void mul_ikj(const int *a, const int *b, int *c, int n)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            c[i * n + j] = 0;
        for (int k = 0; k < n; k++) {
            int x = a[i * n + k];
            for (int j = 0; j < n; j++)
                c[i * n + j] += x * b[k * n + j];
        }
    }
}

static void transpose(double *a, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) {
            double t = a[i * n + j];
            a[i * n + j] = a[j * n + i];
            a[j * n + i] = t;
        }
}

int main(void)
{
    double *a = malloc(sizeof(double) * N * N), *b = malloc(sizeof(double) * N * N), *c = malloc(sizeof(double) * N * N);
    int *ia = malloc(sizeof(int) * N * N), *ib = malloc(sizeof(int) * N * N), *ic = malloc(sizeof(int) * N * N);
    for (int i = 0; i < N * N; i++) {
        a[i] = frand();
        b[i] = frand();
        ia[i] = (int)(lcg >> 24);
        ib[i] = (int)(lcg >> 20) & 63;
    }
    double tr = 0;
    long isum = 0;
    for (int r = 0; r < REPS; r++) {
        mul_ijk(a, b, c, N);
        transpose(b, N);
        for (int i = 0; i < N; i++)
            tr += c[i * N + i];
        mul_ikj(ia, ib, ic, N);
        for (int i = 0; i < N; i++)
            isum += ic[i * N + (i * 7 + r) % N];
        ia[r % (N * N)] ^= 5;
    }
    printf("matmul %.6f %ld\n", tr, isum);
    free(a); free(b); free(c); free(ia); free(ib); free(ic);
    return 0;
}
