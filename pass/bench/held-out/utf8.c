#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>

#define REPS 750
#define CHARS 200000

static size_t put_utf8(unsigned char *o, uint32_t c)
{
    if (c < 0x80) {
        o[0] = (unsigned char)c;
        return 1;
    }
    if (c < 0x800) {
        o[0] = (unsigned char)(0xC0 | c >> 6);
        o[1] = (unsigned char)(0x80 | (c & 63));
        return 2;
    }
    if (c < 0x10000) {
        o[0] = (unsigned char)(0xE0 | c >> 12);
        o[1] = (unsigned char)(0x80 | ((c >> 6) & 63));
        o[2] = (unsigned char)(0x80 | (c & 63));
        return 3;
    }
    o[0] = (unsigned char)(0xF0 | c >> 18);
    o[1] = (unsigned char)(0x80 | ((c >> 12) & 63));
    o[2] = (unsigned char)(0x80 | ((c >> 6) & 63));
    o[3] = (unsigned char)(0x80 | (c & 63));
    return 4;
}

static int decode_utf8(const unsigned char *p, const unsigned char *end, uint32_t *out)
{
    unsigned char b = p[0];
    if (b < 0x80) {
        *out = b;
        return 1;
    }
    int n;
    uint32_t c, min;
    if ((b & 0xE0) == 0xC0) {
        n = 2; c = b & 0x1F; min = 0x80;
    } else if ((b & 0xF0) == 0xE0) {
        n = 3; c = b & 0x0F; min = 0x800;
    } else if ((b & 0xF8) == 0xF0) {
        n = 4; c = b & 0x07; min = 0x10000;
    } else
        return -1;
    if (end - p < n)
        return -1;
    for (int i = 1; i < n; i++) {
        if ((p[i] & 0xC0) != 0x80)
            return -1;
        c = c << 6 | (p[i] & 63);
    }
    if (c < min || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
        return -1;
    *out = c;
    return n;
}

static size_t to_utf16(const unsigned char *p, size_t n, uint16_t *out, size_t *errors)
{
    const unsigned char *end = p + n;
    size_t o = 0;
    while (p < end) {
        uint32_t c;
        int k = decode_utf8(p, end, &c);
        if (k < 0) {
            (*errors)++;
            out[o++] = 0xFFFD;
            p++;
            continue;
        }
        p += k;
        if (c >= 0x10000) {
            c -= 0x10000;
            out[o++] = (uint16_t)(0xD800 | c >> 10);
            out[o++] = (uint16_t)(0xDC00 | (c & 0x3FF));
        } else
            out[o++] = (uint16_t)c;
    }
    return o;
}

int main(void)
{
    unsigned char *buf = malloc(CHARS * 4);
    uint16_t *u16 = malloc(CHARS * 4 * sizeof *u16);
    uint32_t x = 8;
    size_t n = 0;
    for (int i = 0; i < CHARS; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        uint32_t c;
        switch (x & 15) {
        case 0: c = 0x80 + (x >> 8) % 0x700; break;
        case 1:
        case 2: c = 0x800 + (x >> 8) % 0xC000; break;
        case 3: c = 0x10000 + (x >> 8) % 0xFFFFF; break;
        default: c = 32 + (x >> 8) % 95; break;
        }
        n += put_utf8(buf + n, c);
    }
    uint64_t sum = 0;
    size_t errors = 0;
    for (int r = 0; r < REPS; r++) {
        size_t m = to_utf16(buf, n, u16, &errors);
        for (size_t i = 0; i < m; i += 101)
            sum = sum * 31 + u16[i];
        x = x * 1664525u + 1013904223u;
        buf[(x >> 4) % n] ^= 0x40;
    }
    printf("utf8 %llu %zu\n", (unsigned long long)sum, errors);
    free(buf);
    free(u16);
    return 0;
}
