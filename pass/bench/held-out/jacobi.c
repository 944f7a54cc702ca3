#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
#include <math.h>

#define REPS 4200
#define N 256

static double u[N][N], v[N][N], f[N][N];
static float img[N][N], blur[N][N];

static double jacobi_step(void)
{
    double diff = 0;
    for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < N - 1; j++) {
            v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] + f[i][j]);
            diff += fabs(v[i][j] - u[i][j]);
        }
    for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < N - 1; j++)
            u[i][j] = v[i][j];
    return diff;
}

static void convolve(const float k[5][5])
{
    for (int y = 2; y < N - 2; y++)
        for (int x = 2; x < N - 2; x++) {
            float s = 0;
            for (int dy = -2; dy <= 2; dy++)
                for (int dx = -2; dx <= 2; dx++)
                    s += img[y + dy][x + dx] * k[dy + 2][dx + 2];
            blur[y][x] = s;
        }
    memcpy(img, blur, sizeof img);
}

int main(void)
{
    uint32_t x = 9;
    float k[5][5];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            x = x * 1664525u + 1013904223u;
            f[i][j] = (double)(x >> 16) / 65536.0 - 0.5;
            img[i][j] = (float)(x >> 24);
            u[i][j] = i == 0 ? 1.0 : 0.0;
        }
    float ksum = 0;
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++) {
            k[i][j] = 1.0f / (float)(1 + abs(i - 2) + abs(j - 2));
            ksum += k[i][j];
        }
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++)
            k[i][j] /= ksum;
    double d = 0;
    for (int r = 0; r < REPS; r++) {
        d += jacobi_step();
        if (r % 8 == 0)
            convolve(k);
    }
    double isum = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            isum += img[i][j];
    printf("jacobi %.6f %.6f %.3f\n", d, u[N / 2][N / 2], isum);
    return 0;
}
