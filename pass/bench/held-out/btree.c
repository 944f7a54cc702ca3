#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
#include <stdbool.h>

#define REPS 48
#define T 8
#define MAXK (2 * T - 1)
#define N 40000

struct bnode {
    int n;
    bool leaf;
    uint32_t key[MAXK];
    uint32_t val[MAXK];
    struct bnode *child[2 * T];
};

static struct bnode *alloc_node(bool leaf)
{
    struct bnode *b = calloc(1, sizeof *b);
    if (!b)
        abort();
    b->leaf = leaf;
    return b;
}

static void split_child(struct bnode *p, int i)
{
    struct bnode *y = p->child[i], *z = alloc_node(y->leaf);
    z->n = T - 1;
    for (int j = 0; j < T - 1; j++) {
        z->key[j] = y->key[j + T];
        z->val[j] = y->val[j + T];
    }
    if (!y->leaf)
        for (int j = 0; j < T; j++)
            z->child[j] = y->child[j + T];
    y->n = T - 1;
    for (int j = p->n; j > i; j--)
        p->child[j + 1] = p->child[j];
    p->child[i + 1] = z;
    for (int j = p->n - 1; j >= i; j--) {
        p->key[j + 1] = p->key[j];
        p->val[j + 1] = p->val[j];
    }
    p->key[i] = y->key[T - 1];
    p->val[i] = y->val[T - 1];
    p->n++;
}

static uint32_t *find(struct bnode *b, uint32_t k)
{
    for (;;) {
        int i = 0;
        while (i < b->n && k > b->key[i])
            i++;
        if (i < b->n && b->key[i] == k)
            return &b->val[i];
        if (b->leaf)
            return NULL;
        b = b->child[i];
    }
}

static void insert_nonfull(struct bnode *b, uint32_t k, uint32_t v)
{
    int i = b->n - 1;
    if (b->leaf) {
        while (i >= 0 && k < b->key[i]) {
            b->key[i + 1] = b->key[i];
            b->val[i + 1] = b->val[i];
            i--;
        }
        b->key[i + 1] = k;
        b->val[i + 1] = v;
        b->n++;
        return;
    }
    while (i >= 0 && k < b->key[i])
        i--;
    i++;
    if (b->child[i]->n == MAXK) {
        split_child(b, i);
        if (k > b->key[i])
            i++;
    }
    insert_nonfull(b->child[i], k, v);
}

static struct bnode *insert(struct bnode *root, uint32_t k, uint32_t v)
{
    uint32_t *slot = find(root, k);
    if (slot) {
        *slot += v;
        return root;
    }
    if (root->n == MAXK) {
        struct bnode *s = alloc_node(false);
        s->child[0] = root;
        split_child(s, 0);
        root = s;
    }
    insert_nonfull(root, k, v);
    return root;
}

static uint64_t walk(const struct bnode *b, uint64_t h)
{
    for (int i = 0; i < b->n; i++) {
        if (!b->leaf)
            h = walk(b->child[i], h);
        h = h * 31 + b->key[i] + b->val[i];
    }
    if (!b->leaf)
        h = walk(b->child[b->n], h);
    return h;
}

static void destroy(struct bnode *b)
{
    if (!b->leaf)
        for (int i = 0; i <= b->n; i++)
            destroy(b->child[i]);
    free(b);
}

int main(void)
{
    uint32_t x = 4711;
    uint64_t h = 0;
    for (int r = 0; r < REPS; r++) {
        struct bnode *root = alloc_node(true);
        for (int i = 0; i < N; i++) {
            x = x * 1664525u + 1013904223u;
            root = insert(root, (x >> 7) % 1000000, x & 255);
        }
        int hits = 0;
        for (int i = 0; i < N * 2; i++) {
            x = x * 1664525u + 1013904223u;
            if (find(root, (x >> 7) % 1000000))
                hits++;
        }
        h = walk(root, h) + (uint64_t)hits;
        destroy(root);
    }
    printf("btree %llu\n", (unsigned long long)h);
    return 0;
}
