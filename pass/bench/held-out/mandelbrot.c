#include <stdio.h>
#include <stdint.h>

#define REPS 15
#define W 320
#define H 240
#define MAXIT 400

static int escape(double cr, double ci, int max)
{
    double zr = 0, zi = 0;
    int i;
    for (i = 0; i < max; i++) {
        double zr2 = zr * zr, zi2 = zi * zi;
        if (zr2 + zi2 > 4.0)
            break;
        zi = 2 * zr * zi + ci;
        zr = zr2 - zi2 + cr;
    }
    return i;
}

static unsigned char img[H][W];

int main(void)
{
    uint64_t sum = 0;
    for (int r = 0; r < REPS; r++) {
        double zoom = 1.0 / (1 + 0.1 * r);
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++) {
                double cr = -0.6 + (x - W / 2) * zoom * 3.0 / W;
                double ci = (y - H / 2) * zoom * 2.4 / H;
                img[y][x] = (unsigned char)escape(cr, ci, MAXIT);
            }
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++)
                sum = (sum ^ img[y][x]) * 1099511628211ull;
    }
    printf("mandelbrot %016llx\n", (unsigned long long)sum);
    return 0;
}
