#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>

#define REPS 146
#define LEN (1 << 20)

static uint32_t table[256];

static void make_table(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++)
            c = c & 1 ? 0xEDB88320u ^ (c >> 1) : c >> 1;
        table[i] = c;
    }
}

static uint32_t crc32(uint32_t crc, const unsigned char *p, size_t n)
{
    crc = ~crc;
    for (size_t i = 0; i < n; i++)
        crc = table[(crc ^ p[i]) & 255] ^ (crc >> 8);
    return ~crc;
}

static uint32_t adler32(uint32_t adler, const unsigned char *p, size_t n)
{
    uint32_t a = adler & 0xffff, b = adler >> 16;
    while (n > 0) {
        size_t k = n < 5552 ? n : 5552;
        n -= k;
        while (k--) {
            a += *p++;
            b += a;
        }
        a %= 65521;
        b %= 65521;
    }
    return b << 16 | a;
}

static uint16_t crc16_bitwise(const unsigned char *p, size_t n)
{
    uint16_t crc = 0xffff;
    for (size_t i = 0; i < n; i++) {
        crc ^= (uint16_t)(p[i] << 8);
        for (int k = 0; k < 8; k++)
            crc = (uint16_t)(crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1);
    }
    return crc;
}

static uint64_t fnv1a(const unsigned char *p, size_t n)
{
    uint64_t h = 14695981039346656037ull;
    for (size_t i = 0; i < n; i++) {
        h ^= p[i];
        h *= 1099511628211ull;
    }
    return h;
}

int main(void)
{
    unsigned char *buf = malloc(LEN);
    uint32_t x = 1;
    for (int i = 0; i < LEN; i++) {
        x = x * 1103515245u + 12345u;
        buf[i] = (unsigned char)(x >> 16);
    }
    make_table();
    uint32_t c = 0, a = 1;
    uint64_t h = 0;
    for (int r = 0; r < REPS; r++) {
        c = crc32(c, buf, LEN);
        a = adler32(a, buf, LEN);
        h ^= fnv1a(buf, LEN);
        h = h * 3 + crc16_bitwise(buf, LEN / 8);
        buf[r % LEN]++;
    }
    printf("crc32 %08x %08x %016llx\n", c, a, (unsigned long long)h);
    free(buf);
    return 0;
}
