#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>

#define REPS 800
#define LEN 262144

static const uint32_t K[64] = {
    0xd76aa478,0xe8c7b756,0x242070db,0xc1bdceee,0xf57c0faf,0x4787c62a,0xa8304613,0xfd469501,
    0x698098d8,0x8b44f7af,0xffff5bb1,0x895cd7be,0x6b901122,0xfd987193,0xa679438e,0x49b40821,
    0xf61e2562,0xc040b340,0x265e5a51,0xe9b6c7aa,0xd62f105d,0x02441453,0xd8a1e681,0xe7d3fbc8,
    0x21e1cde6,0xc33707d6,0xf4d50d87,0x455a14ed,0xa9e3e905,0xfcefa3f8,0x676f02d9,0x8d2a4c8a,
    0xfffa3942,0x8771f681,0x6d9d6122,0xfde5380c,0xa4beea44,0x4bdecfa9,0xf6bb4b60,0xbebfbc70,
    0x289b7ec6,0xeaa127fa,0xd4ef3085,0x04881d05,0xd9d4d039,0xe6db99e5,0x1fa27cf8,0xc4ac5665,
    0xf4292244,0x432aff97,0xab9423a7,0xfc93a039,0x655b59c3,0x8f0ccc92,0xffeff47d,0x85845dd1,
    0x6fa87e4f,0xfe2ce6e0,0xa3014314,0x4e0811a1,0xf7537e82,0xbd3af235,0x2ad7d2bb,0xeb86d391};
static const int S[64] = {
    7,12,17,22,7,12,17,22,7,12,17,22,7,12,17,22,5,9,14,20,5,9,14,20,5,9,14,20,5,9,14,20,
    4,11,16,23,4,11,16,23,4,11,16,23,4,11,16,23,6,10,15,21,6,10,15,21,6,10,15,21,6,10,15,21};

struct md5 {
    uint32_t h[4];
    uint64_t total;
    unsigned char buf[64];
    size_t fill;
};

static uint32_t rotl(uint32_t x, int n)
{
    return x << n | x >> (32 - n);
}

static void block(struct md5 *m, const unsigned char *p)
{
    uint32_t w[16];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)p[4 * i] | (uint32_t)p[4 * i + 1] << 8 | (uint32_t)p[4 * i + 2] << 16 | (uint32_t)p[4 * i + 3] << 24;
    uint32_t a = m->h[0], b = m->h[1], c = m->h[2], d = m->h[3];
    for (int i = 0; i < 64; i++) {
        uint32_t f;
        int g;
        if (i < 16) {
            f = (b & c) | (~b & d);
            g = i;
        } else if (i < 32) {
            f = (d & b) | (~d & c);
            g = (5 * i + 1) & 15;
        } else if (i < 48) {
            f = b ^ c ^ d;
            g = (3 * i + 5) & 15;
        } else {
            f = c ^ (b | ~d);
            g = (7 * i) & 15;
        }
        uint32_t t = d;
        d = c;
        c = b;
        b += rotl(a + f + K[i] + w[g], S[i]);
        a = t;
    }
    m->h[0] += a;
    m->h[1] += b;
    m->h[2] += c;
    m->h[3] += d;
}

static void md5_init(struct md5 *m)
{
    m->h[0] = 0x67452301;
    m->h[1] = 0xefcdab89;
    m->h[2] = 0x98badcfe;
    m->h[3] = 0x10325476;
    m->total = 0;
    m->fill = 0;
}

static void md5_update(struct md5 *m, const void *data, size_t n)
{
    const unsigned char *p = data;
    m->total += n;
    while (n > 0) {
        size_t k = 64 - m->fill;
        if (k > n)
            k = n;
        memcpy(m->buf + m->fill, p, k);
        m->fill += k;
        p += k;
        n -= k;
        if (m->fill == 64) {
            block(m, m->buf);
            m->fill = 0;
        }
    }
}

static void md5_final(struct md5 *m, unsigned char out[16])
{
    uint64_t bits = m->total * 8;
    unsigned char pad = 0x80, zero = 0, len[8];
    md5_update(m, &pad, 1);
    while (m->fill != 56)
        md5_update(m, &zero, 1);
    for (int i = 0; i < 8; i++)
        len[i] = (unsigned char)(bits >> (8 * i));
    md5_update(m, len, 8);
    for (int i = 0; i < 16; i++)
        out[i] = (unsigned char)(m->h[i / 4] >> (8 * (i % 4)));
}

int main(void)
{
    unsigned char *buf = malloc(LEN), dig[16];
    for (int i = 0; i < LEN; i++)
        buf[i] = (unsigned char)(i * 7 + (i >> 8));
    struct md5 m;
    memset(dig, 0, sizeof dig);
    for (int r = 0; r < REPS; r++) {
        md5_init(&m);
        md5_update(&m, dig, 16);
        size_t off = 0, step = 1;
        while (off < LEN) {
            size_t k = off + step > LEN ? LEN - off : step;
            md5_update(&m, buf + off, k);
            off += k;
            step = step * 3 % 1009 + 1;
        }
        md5_final(&m, dig);
    }
    printf("md5 ");
    for (int i = 0; i < 16; i++)
        printf("%02x", dig[i]);
    printf("\n");
    free(buf);
    return 0;
}
