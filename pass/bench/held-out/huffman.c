#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>

#define REPS 79
#define LEN 200000

struct hnode {
    uint32_t freq;
    int left, right, sym;
};

static struct hnode nodes[512];
static int nnodes;
static int pq[512], pqn;
static uint32_t code[256];
static int codelen[256];

static int less(int a, int b)
{
    if (nodes[a].freq != nodes[b].freq)
        return nodes[a].freq < nodes[b].freq;
    return a < b;
}

static void pq_push(int v)
{
    int i = pqn++;
    pq[i] = v;
    while (i > 0 && less(pq[i], pq[(i - 1) / 2])) {
        int t = pq[i];
        pq[i] = pq[(i - 1) / 2];
        pq[(i - 1) / 2] = t;
        i = (i - 1) / 2;
    }
}

static int pq_pop(void)
{
    int r = pq[0];
    pq[0] = pq[--pqn];
    int i = 0;
    for (;;) {
        int m = i, l = 2 * i + 1, k = 2 * i + 2;
        if (l < pqn && less(pq[l], pq[m]))
            m = l;
        if (k < pqn && less(pq[k], pq[m]))
            m = k;
        if (m == i)
            return r;
        int t = pq[i];
        pq[i] = pq[m];
        pq[m] = t;
        i = m;
    }
}

static void assign(int n, uint32_t c, int len)
{
    if (nodes[n].left < 0) {
        code[nodes[n].sym] = c;
        codelen[nodes[n].sym] = len;
        return;
    }
    assign(nodes[n].left, c << 1, len + 1);
    assign(nodes[n].right, c << 1 | 1, len + 1);
}

static int build(const unsigned char *in, int n)
{
    uint32_t freq[256] = {0};
    for (int i = 0; i < n; i++)
        freq[in[i]]++;
    nnodes = pqn = 0;
    for (int i = 0; i < 256; i++)
        if (freq[i]) {
            nodes[nnodes] = (struct hnode){freq[i], -1, -1, i};
            pq_push(nnodes++);
        }
    while (pqn > 1) {
        int a = pq_pop(), b = pq_pop();
        nodes[nnodes] = (struct hnode){nodes[a].freq + nodes[b].freq, a, b, -1};
        pq_push(nnodes++);
    }
    int root = pq_pop();
    assign(root, 0, 0);
    return root;
}

static long encode(const unsigned char *in, int n, unsigned char *out)
{
    uint64_t acc = 0;
    int bits = 0;
    long o = 0;
    for (int i = 0; i < n; i++) {
        acc = acc << codelen[in[i]] | code[in[i]];
        bits += codelen[in[i]];
        while (bits >= 8) {
            bits -= 8;
            out[o++] = (unsigned char)(acc >> bits);
        }
    }
    if (bits)
        out[o++] = (unsigned char)(acc << (8 - bits));
    return o;
}

static void decode(const unsigned char *in, int root, unsigned char *out, int n)
{
    long pos = 0;
    for (int i = 0; i < n; i++) {
        int k = root;
        while (nodes[k].left >= 0) {
            int bit = in[pos >> 3] >> (7 - (pos & 7)) & 1;
            k = bit ? nodes[k].right : nodes[k].left;
            pos++;
        }
        out[i] = (unsigned char)nodes[k].sym;
    }
}

int main(void)
{
    unsigned char *a = malloc(LEN), *b = malloc(LEN * 4), *c = malloc(LEN);
    uint32_t x = 17;
    for (int i = 0; i < LEN; i++) {
        x = x * 1103515245u + 12345u;
        uint32_t u = (x >> 16) & 0xff;
        x = x * 1103515245u + 12345u;
        uint32_t v = (x >> 16) & 0xff;
        a[i] = (unsigned char)(u * v / 300);
    }
    uint64_t sum = 0;
    for (int r = 0; r < REPS; r++) {
        int root = build(a, LEN);
        long m = encode(a, LEN, b);
        decode(b, root, c, LEN);
        if (memcmp(a, c, LEN) != 0) {
            printf("bad\n");
            return 1;
        }
        sum = sum * 31 + (uint64_t)m + b[m / 2];
        for (int i = 0; i < 1000; i++)
            a[(i * 131 + r) % LEN] = (unsigned char)(i + r);
    }
    printf("huffman %llu\n", (unsigned long long)sum);
    free(a); free(b); free(c);
    return 0;
}
