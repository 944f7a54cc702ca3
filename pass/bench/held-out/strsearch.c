#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>

#define REPS 119
#define LEN 500000

static int kmp_count(const char *t, int n, const char *p, int m)
{
    int fail[64], count = 0;
    fail[0] = 0;
    for (int i = 1, k = 0; i < m; i++) {
        while (k > 0 && p[i] != p[k])
            k = fail[k - 1];
        if (p[i] == p[k])
            k++;
        fail[i] = k;
    }
    for (int i = 0, k = 0; i < n; i++) {
        while (k > 0 && t[i] != p[k])
            k = fail[k - 1];
        if (t[i] == p[k])
            k++;
        if (k == m) {
            count++;
            k = fail[k - 1];
        }
    }
    return count;
}

static int bmh_count(const char *t, int n, const char *p, int m)
{
    int skip[256], count = 0;
    for (int i = 0; i < 256; i++)
        skip[i] = m;
    for (int i = 0; i < m - 1; i++)
        skip[(unsigned char)p[i]] = m - 1 - i;
    for (int i = 0; i + m <= n;) {
        int j = m - 1;
        while (j >= 0 && t[i + j] == p[j])
            j--;
        if (j < 0)
            count++;
        i += skip[(unsigned char)t[i + m - 1]];
    }
    return count;
}

static int rabin_karp(const char *t, int n, const char *p, int m)
{
    const uint32_t B = 257;
    uint32_t hp = 0, ht = 0, pw = 1;
    int count = 0;
    for (int i = 0; i < m; i++) {
        hp = hp * B + (unsigned char)p[i];
        ht = ht * B + (unsigned char)t[i];
        if (i)
            pw *= B;
    }
    for (int i = 0; i + m <= n; i++) {
        if (hp == ht && memcmp(t + i, p, (size_t)m) == 0)
            count++;
        if (i + m < n)
            ht = (ht - (unsigned char)t[i] * pw) * B + (unsigned char)t[i + m];
    }
    return count;
}

static int naive(const char *t, int n, const char *p, int m)
{
    int count = 0;
    for (int i = 0; i + m <= n; i++) {
        int j = 0;
        while (j < m && t[i + j] == p[j])
            j++;
        if (j == m)
            count++;
    }
    return count;
}

int main(void)
{
    char *t = malloc(LEN + 1);
    uint32_t x = 55;
    for (int i = 0; i < LEN; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        t[i] = "abcd"[(x >> 7) & 3];
    }
    t[LEN] = 0;
    uint64_t sum = 0;
    char p[64];
    for (int r = 0; r < REPS; r++) {
        int m = 4 + r % 9, off = (r * 7919) % (LEN - 64);
        memcpy(p, t + off, (size_t)m);
        int a = kmp_count(t, LEN, p, m);
        int b = bmh_count(t, LEN, p, m);
        int c = rabin_karp(t, LEN, p, m);
        int d = naive(t, LEN, p, m);
        if (a != b || b != c || c != d) {
            printf("mismatch %d %d %d %d\n", a, b, c, d);
            return 1;
        }
        sum = sum * 31 + (uint64_t)a;
    }
    printf("strsearch %llu\n", (unsigned long long)sum);
    free(t);
    return 0;
}
