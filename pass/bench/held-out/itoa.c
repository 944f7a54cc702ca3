#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>

#define REPS 5400000

static char *itoa_base(long v, char *buf, int base)
{
    char tmp[72];
    int n = 0;
    unsigned long u = v < 0 ? 0ul - (unsigned long)v : (unsigned long)v;
    do {
        tmp[n++] = "0123456789abcdefghijklmnopqrstuvwxyz"[u % (unsigned long)base];
        u /= (unsigned long)base;
    } while (u);
    char *p = buf;
    if (v < 0)
        *p++ = '-';
    while (n > 0)
        *p++ = tmp[--n];
    *p = 0;
    return buf;
}

static int parse_int(const char *s, int base, long *out)
{
    int neg = 0;
    long v = 0;
    while (*s == ' ' || *s == '\t')
        s++;
    if (*s == '-' || *s == '+')
        neg = *s++ == '-';
    if (!*s)
        return -1;
    for (; *s; s++) {
        int d;
        if (*s >= '0' && *s <= '9')
            d = *s - '0';
        else if (*s >= 'a' && *s <= 'z')
            d = *s - 'a' + 10;
        else
            return -1;
        if (d >= base)
            return -1;
        v = v * base + d;
    }
    *out = neg ? -v : v;
    return 0;
}

static int to_roman(int v, char *out)
{
    static const int val[] = {1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1};
    static const char *sym[] = {"M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"};
    int n = 0;
    for (int i = 0; i < 13; i++)
        while (v >= val[i]) {
            v -= val[i];
            for (const char *s = sym[i]; *s; s++)
                out[n++] = *s;
        }
    out[n] = 0;
    return n;
}

static int is_palindrome(const char *s)
{
    int i = 0, j = (int)strlen(s) - 1;
    while (i < j)
        if (s[i++] != s[j--])
            return 0;
    return 1;
}

static int luhn(const char *s)
{
    int sum = 0, alt = 0;
    for (int i = (int)strlen(s) - 1; i >= 0; i--) {
        if (s[i] < '0' || s[i] > '9')
            continue;
        int d = s[i] - '0';
        if (alt) {
            d *= 2;
            if (d > 9)
                d -= 9;
        }
        sum += d;
        alt = !alt;
    }
    return sum % 10 == 0;
}

int main(void)
{
    char buf[80];
    uint64_t sum = 0;
    uint32_t x = 1000003;
    for (int i = 0; i < REPS; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        long v = (long)(int32_t)x;
        long w = 0;
        int base = i % 3 == 0 ? 16 : 10;
        itoa_base(v, buf, base);
        if (parse_int(buf, base, &w) || w != v) {
            printf("bad %ld\n", v);
            return 1;
        }
        sum = sum * 31 + (uint64_t)w;
        sum += (uint64_t)luhn(buf);
        itoa_base((long)(x % 100000), buf, 10);
        sum += (uint64_t)is_palindrome(buf);
        if (i % 4 == 0)
            sum += (uint64_t)to_roman((int)(x % 3999) + 1, buf);
    }
    printf("itoa %llu\n", (unsigned long long)sum);
    return 0;
}
