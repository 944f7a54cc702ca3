#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>

#define REPS 6500000

static uint64_t s = 0x123456789abcdefull;

static uint64_t rnd(void)
{
    s ^= s << 13;
    s ^= s >> 7;
    s ^= s << 17;
    return s;
}

static int popcount_kernighan(uint64_t x)
{
    int c = 0;
    while (x) {
        x &= x - 1;
        c++;
    }
    return c;
}

static uint32_t reverse_bits(uint32_t v)
{
    uint32_t r = 0;
    for (int i = 0; i < 32; i++) {
        r = (r << 1) | (v & 1);
        v >>= 1;
    }
    return r;
}

static int log2_floor(uint64_t v)
{
    int r = -1;
    while (v) {
        v >>= 1;
        r++;
    }
    return r;
}

static uint32_t gray_decode(uint32_t g)
{
    for (uint32_t m = g >> 1; m; m >>= 1)
        g ^= m;
    return g;
}

static uint64_t morton(uint32_t x, uint32_t y)
{
    uint64_t r = 0;
    for (int i = 0; i < 32; i++)
        r |= (uint64_t)((x >> i) & 1) << (2 * i) | (uint64_t)((y >> i) & 1) << (2 * i + 1);
    return r;
}

static uint32_t isqrt(uint32_t n)
{
    uint32_t root = 0, bit = 1u << 30;
    while (bit > n)
        bit >>= 2;
    while (bit) {
        if (n >= root + bit) {
            n -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
        bit >>= 2;
    }
    return root;
}

int main(void)
{
    uint64_t sum = 0;
    for (int i = 0; i < REPS; i++) {
        uint64_t v = rnd();
        sum += (uint64_t)popcount_kernighan(v);
        sum += (uint64_t)log2_floor(v >> (v & 31));
        sum ^= reverse_bits((uint32_t)v);
        sum += gray_decode((uint32_t)(v >> 20));
        sum += isqrt((uint32_t)(v >> 32));
        if (i % 4 == 0)
            sum ^= morton((uint32_t)v, (uint32_t)(v >> 32));
    }
    printf("bittricks %llu\n", (unsigned long long)sum);
    return 0;
}
