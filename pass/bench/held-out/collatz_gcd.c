#include <stdio.h>
#include <stdint.h>

#define REPS 2700000

static unsigned collatz_len(uint64_t n)
{
    unsigned steps = 0;
    while (n != 1) {
        if (n & 1)
            n = 3 * n + 1;
        else
            n /= 2;
        steps++;
    }
    return steps;
}

static uint32_t gcd(uint32_t a, uint32_t b)
{
    while (b) {
        uint32_t t = a % b;
        a = b;
        b = t;
    }
    return a;
}

static int64_t ext_gcd(int64_t a, int64_t b, int64_t *x, int64_t *y)
{
    if (b == 0) {
        *x = 1;
        *y = 0;
        return a;
    }
    int64_t x1, y1;
    int64_t g = ext_gcd(b, a % b, &x1, &y1);
    *x = y1;
    *y = x1 - (a / b) * y1;
    return g;
}

static uint64_t mod_pow(uint64_t b, uint64_t e, uint64_t m)
{
    uint64_t r = 1;
    b %= m;
    while (e) {
        if (e & 1)
            r = r * b % m;
        b = b * b % m;
        e >>= 1;
    }
    return r;
}

int main(void)
{
    uint32_t x = 12345;
    unsigned best = 0;
    uint64_t best_n = 0, sum = 0;
    for (uint32_t i = 1; i <= REPS; i++) {
        unsigned l = collatz_len(i);
        if (l > best) {
            best = l;
            best_n = i;
        }
        x = x * 1664525u + 1013904223u;
        uint32_t a = x >> 4;
        x = x * 1664525u + 1013904223u;
        uint32_t b = (x >> 5) | 1;
        sum += gcd(a, b);
        if (i % 8 == 0) {
            int64_t p, q;
            sum += (uint64_t)ext_gcd(a, b, &p, &q);
            sum ^= (uint64_t)p;
            sum += mod_pow(a, b, 1000000007u);
        }
    }
    printf("collatz_gcd %llu %u %llu\n", (unsigned long long)best_n, best, (unsigned long long)sum);
    return 0;
}
