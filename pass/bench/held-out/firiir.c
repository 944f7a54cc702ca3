#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
#include <math.h>

#define REPS 207
#define LEN 100000
#define TAPS 31

struct biquad {
    double b0, b1, b2, a1, a2, z1, z2;
};

static void fir(const float *in, float *out, int n, const float *h, int taps)
{
    for (int i = 0; i < n; i++) {
        float acc = 0;
        for (int k = 0; k < taps && k <= i; k++)
            acc += h[k] * in[i - k];
        out[i] = acc;
    }
}

static void biquad_lowpass(struct biquad *q, double fc, double qf)
{
    double w = 2 * 3.14159265358979323846 * fc, a = sin(w) / (2 * qf), c = cos(w), a0 = 1 + a;
    q->b0 = (1 - c) / 2 / a0;
    q->b1 = (1 - c) / a0;
    q->b2 = q->b0;
    q->a1 = -2 * c / a0;
    q->a2 = (1 - a) / a0;
    q->z1 = q->z2 = 0;
}

static double biquad_run(struct biquad *q, double x)
{
    double y = q->b0 * x + q->z1;
    q->z1 = q->b1 * x - q->a1 * y + q->z2;
    q->z2 = q->b2 * x - q->a2 * y;
    return y;
}

static int16_t saturate(float v)
{
    int i = (int)(v * 32767.0f);
    if (i > 32767)
        return 32767;
    if (i < -32768)
        return -32768;
    return (int16_t)i;
}

static unsigned char ulaw(int16_t s)
{
    int sign = 0, v = s, exp = 7;
    if (v < 0) {
        v = -v;
        sign = 0x80;
    }
    if (v > 32635)
        v = 32635;
    v += 132;
    for (int mask = 0x4000; !(v & mask) && exp > 0; mask >>= 1)
        exp--;
    return (unsigned char)~(sign | exp << 4 | ((v >> (exp + 3)) & 15));
}

int main(void)
{
    float *x = malloc(sizeof(float) * LEN), *y = malloc(sizeof(float) * LEN), h[TAPS];
    uint32_t s = 13;
    for (int i = 0; i < LEN; i++) {
        s = s * 1664525u + 1013904223u;
        x[i] = ((float)(s >> 8) / 8388608.0f - 1.0f) * 1.5f;
    }
    for (int i = 0; i < TAPS; i++)
        h[i] = (float)(0.54 - 0.46 * cos(2 * 3.14159265358979 * i / (TAPS - 1))) / 16.0f;
    struct biquad q[4];
    for (int i = 0; i < 4; i++)
        biquad_lowpass(&q[i], 0.05 + 0.05 * i, 0.707);
    uint64_t sum = 0;
    double energy = 0;
    for (int r = 0; r < REPS; r++) {
        fir(x, y, LEN, h, TAPS);
        for (int i = 0; i < LEN; i++) {
            double v = y[i];
            for (int k = 0; k < 4; k++)
                v = biquad_run(&q[k], v);
            energy += v * v;
            sum += ulaw(saturate((float)v * 4));
        }
        x[r % LEN] = -x[r % LEN];
    }
    printf("firiir %llu %.6f\n", (unsigned long long)sum, energy);
    free(x);
    free(y);
    return 0;
}
