#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>

#define REPS 1300
#define LEN 262144

static uint32_t rotl(uint32_t x, int n)
{
    return (x << n) | (x >> (32 - n));
}

static uint32_t load32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void store32(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
    p[2] = (uint8_t)(v >> 16);
    p[3] = (uint8_t)(v >> 24);
}

static void quarter(uint32_t *x, int a, int b, int c, int d)
{
    x[a] += x[b]; x[d] = rotl(x[d] ^ x[a], 16);
    x[c] += x[d]; x[b] = rotl(x[b] ^ x[c], 12);
    x[a] += x[b]; x[d] = rotl(x[d] ^ x[a], 8);
    x[c] += x[d]; x[b] = rotl(x[b] ^ x[c], 7);
}

static void chacha_block(const uint32_t in[16], uint8_t out[64])
{
    uint32_t x[16];
    memcpy(x, in, sizeof x);
    for (int i = 0; i < 10; i++) {
        quarter(x, 0, 4, 8, 12);
        quarter(x, 1, 5, 9, 13);
        quarter(x, 2, 6, 10, 14);
        quarter(x, 3, 7, 11, 15);
        quarter(x, 0, 5, 10, 15);
        quarter(x, 1, 6, 11, 12);
        quarter(x, 2, 7, 8, 13);
        quarter(x, 3, 4, 9, 14);
    }
    for (int i = 0; i < 16; i++)
        store32(out + 4 * i, x[i] + in[i]);
}

static void chacha_xor(uint8_t *buf, size_t n, const uint8_t key[32], const uint8_t nonce[12], uint32_t counter)
{
    uint32_t st[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    uint8_t ks[64];
    for (int i = 0; i < 8; i++)
        st[4 + i] = load32(key + 4 * i);
    st[12] = counter;
    for (int i = 0; i < 3; i++)
        st[13 + i] = load32(nonce + 4 * i);
    while (n > 0) {
        chacha_block(st, ks);
        st[12]++;
        size_t k = n < 64 ? n : 64;
        for (size_t i = 0; i < k; i++)
            buf[i] ^= ks[i];
        buf += k;
        n -= k;
    }
}

int main(void)
{
    uint8_t key[32], nonce[12] = {0};
    for (int i = 0; i < 32; i++)
        key[i] = (uint8_t)(i * 11 + 3);
    uint8_t *buf = calloc(1, LEN);
    for (int r = 0; r < REPS; r++) {
        nonce[r % 12] ^= (uint8_t)(r + 1);
        chacha_xor(buf, LEN - (size_t)(r % 64), key, nonce, 1);
    }
    uint64_t h = 14695981039346656037ull;
    for (int i = 0; i < LEN; i++)
        h = (h ^ buf[i]) * 1099511628211ull;
    printf("chacha20 %016llx\n", (unsigned long long)h);
    free(buf);
    return 0;
}
