#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>

#define REPS 19
#define WORDS 20000

struct tnode {
    struct tnode *child[26];
    int count;
};

static uint32_t s = 11;

static uint32_t rnd(void)
{
    s ^= s << 13;
    s ^= s >> 17;
    s ^= s << 5;
    return s;
}

static struct tnode *new_node(void)
{
    struct tnode *n = calloc(1, sizeof *n);
    if (!n)
        abort();
    return n;
}

static void insert(struct tnode *t, const char *w)
{
    for (; *w; w++) {
        int i = *w - 'a';
        if (!t->child[i])
            t->child[i] = new_node();
        t = t->child[i];
    }
    t->count++;
}

static int lookup(const struct tnode *t, const char *w)
{
    for (; *w; w++) {
        t = t->child[*w - 'a'];
        if (!t)
            return 0;
    }
    return t->count;
}

static int count_words(const struct tnode *t)
{
    int n = t->count;
    for (int i = 0; i < 26; i++)
        if (t->child[i])
            n += count_words(t->child[i]);
    return n;
}

static int prefix_count(const struct tnode *t, const char *p)
{
    for (; *p; p++) {
        t = t->child[*p - 'a'];
        if (!t)
            return 0;
    }
    return count_words(t);
}

static void destroy(struct tnode *t)
{
    for (int i = 0; i < 26; i++)
        if (t->child[i])
            destroy(t->child[i]);
    free(t);
}

static void make_word(char *w)
{
    int n = 3 + (int)(rnd() % 6);
    for (int i = 0; i < n; i++) {
        uint32_t a = rnd() % 26, b = rnd() % 26;
        w[i] = (char)('a' + (a < b ? a : b));
    }
    w[n] = 0;
}

int main(void)
{
    char w[16];
    uint64_t sum = 0;
    for (int r = 0; r < REPS; r++) {
        struct tnode *root = new_node();
        for (int i = 0; i < WORDS; i++) {
            make_word(w);
            insert(root, w);
        }
        for (int i = 0; i < WORDS * 4; i++) {
            make_word(w);
            sum += (uint64_t)lookup(root, w);
        }
        for (int i = 0; i < 200; i++) {
            make_word(w);
            w[2] = 0;
            sum = sum * 3 + (uint64_t)prefix_count(root, w);
        }
        destroy(root);
    }
    printf("trie %llu\n", (unsigned long long)sum);
    return 0;
}
