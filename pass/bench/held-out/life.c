#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>

#define REPS 3600
#define W 256
#define H 256

static unsigned char grid[2][H][W];

static int neighbours(unsigned char g[H][W], int y, int x)
{
    int n = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            if (dx == 0 && dy == 0)
                continue;
            int yy = (y + dy + H) % H, xx = (x + dx + W) % W;
            n += g[yy][xx];
        }
    return n;
}

static int step(unsigned char src[H][W], unsigned char dst[H][W])
{
    int alive = 0;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            int n = neighbours(src, y, x);
            unsigned char v;
            if (src[y][x])
                v = n == 2 || n == 3;
            else
                v = n == 3;
            dst[y][x] = v;
            alive += v;
        }
    return alive;
}

int main(void)
{
    uint32_t s = 2024;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            s = s * 1103515245u + 12345u;
            grid[0][y][x] = (s >> 16) % 3 == 0;
        }
    uint64_t sum = 0;
    int cur = 0;
    for (int r = 0; r < REPS; r++) {
        sum = sum * 31 + (uint64_t)step(grid[cur], grid[1 - cur]);
        cur = 1 - cur;
    }
    printf("life %llu\n", (unsigned long long)sum);
    return 0;
}
