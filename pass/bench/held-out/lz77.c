#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>

#define REPS 121
#define LEN 300000
#define HBITS 13
#define WINDOW 8192
#define MINMATCH 4
#define MAXMATCH 255

static int hash_head[1 << HBITS];
static int prev_pos[WINDOW];

static uint32_t hash4(const unsigned char *p)
{
    uint32_t v = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
    return (v * 2654435761u) >> (32 - HBITS);
}

static int match_len(const unsigned char *a, const unsigned char *b, int max)
{
    int n = 0;
    while (n < max && a[n] == b[n])
        n++;
    return n;
}

static int compress(const unsigned char *in, int n, unsigned char *out)
{
    int o = 0, i = 0;
    for (int k = 0; k < 1 << HBITS; k++)
        hash_head[k] = -1;
    while (i < n) {
        int best = 0, dist = 0;
        if (i + MINMATCH <= n) {
            uint32_t h = hash4(in + i);
            int max = n - i < MAXMATCH ? n - i : MAXMATCH;
            int cand = hash_head[h];
            for (int chain = 0; cand >= 0 && i - cand < WINDOW && chain < 16; chain++) {
                int l = match_len(in + cand, in + i, max);
                if (l > best) {
                    best = l;
                    dist = i - cand;
                }
                int nx = prev_pos[cand & (WINDOW - 1)];
                if (nx >= cand)
                    break;
                cand = nx;
            }
        }
        int step;
        if (best >= MINMATCH) {
            out[o++] = 0xFF;
            out[o++] = (unsigned char)best;
            out[o++] = (unsigned char)(dist >> 8);
            out[o++] = (unsigned char)dist;
            step = best;
        } else {
            if (in[i] == 0xFF) {
                out[o++] = 0xFF;
                out[o++] = 0;
            } else
                out[o++] = in[i];
            step = 1;
        }
        for (; step > 0; step--, i++)
            if (i + MINMATCH <= n) {
                uint32_t h = hash4(in + i);
                prev_pos[i & (WINDOW - 1)] = hash_head[h];
                hash_head[h] = i;
            }
    }
    return o;
}

static int decompress(const unsigned char *in, int n, unsigned char *out)
{
    int o = 0, i = 0;
    while (i < n) {
        if (in[i] != 0xFF) {
            out[o++] = in[i++];
            continue;
        }
        int l = in[i + 1];
        if (l == 0) {
            out[o++] = 0xFF;
            i += 2;
            continue;
        }
        int d = in[i + 2] << 8 | in[i + 3];
        i += 4;
        for (int k = 0; k < l; k++, o++)
            out[o] = out[o - d];
    }
    return o;
}

static int rle(const unsigned char *in, int n, unsigned char *out)
{
    int o = 0;
    for (int i = 0; i < n;) {
        int j = i + 1;
        while (j < n && j - i < 255 && in[j] == in[i])
            j++;
        out[o++] = (unsigned char)(j - i);
        out[o++] = in[i];
        i = j;
    }
    return o;
}

int main(void)
{
    unsigned char *src = malloc(LEN), *c = malloc(LEN * 2), *d = malloc(LEN);
    static const char *frag[] = {"the quick ", "brown fox ", "jumps over ", "a lazy dog. ", "\n\n    ", "lorem ipsum ", "0000000000"};
    uint32_t x = 1;
    int n = 0;
    while (n < LEN - 32) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        if (x % 5 == 0)
            src[n++] = (unsigned char)(x >> 16);
        else {
            const char *f = frag[(x >> 8) % 7];
            size_t l = strlen(f);
            memcpy(src + n, f, l);
            n += (int)l;
        }
    }
    uint64_t sum = 0;
    for (int r = 0; r < REPS; r++) {
        int m = compress(src, n, c);
        int k = decompress(c, m, d);
        if (k != n || memcmp(src, d, (size_t)n) != 0) {
            printf("bad roundtrip\n");
            return 1;
        }
        sum = sum * 31 + (uint64_t)m;
        sum = sum * 31 + (uint64_t)rle(src, n, c);
        src[(r * 7919) % n] ^= 1;
    }
    printf("lz77 %llu\n", (unsigned long long)sum);
    free(src); free(c); free(d);
    return 0;
}
