#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>

#define REPS 47
#define OPS 400000

struct slot {
    uint64_t key;
    uint32_t value;
    uint32_t dist;
};

struct map {
    struct slot *slots;
    size_t cap, size;
};

static uint64_t hash64(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdull;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ull;
    x ^= x >> 33;
    return x;
}

static void map_init(struct map *m, size_t cap)
{
    m->slots = calloc(cap, sizeof *m->slots);
    if (!m->slots)
        abort();
    m->cap = cap;
    m->size = 0;
}

static void map_put(struct map *m, uint64_t key, uint32_t value);

static void map_grow(struct map *m)
{
    struct map n;
    map_init(&n, m->cap * 2);
    for (size_t i = 0; i < m->cap; i++)
        if (m->slots[i].dist)
            map_put(&n, m->slots[i].key, m->slots[i].value);
    free(m->slots);
    *m = n;
}

static void map_put(struct map *m, uint64_t key, uint32_t value)
{
    if (m->size * 10 >= m->cap * 8)
        map_grow(m);
    struct slot cur = {key, value, 1};
    size_t i = hash64(key) & (m->cap - 1);
    for (;;) {
        struct slot *s = &m->slots[i];
        if (s->dist == 0) {
            *s = cur;
            m->size++;
            return;
        }
        if (s->key == cur.key) {
            s->value = cur.value;
            return;
        }
        if (s->dist < cur.dist) {
            struct slot t = *s;
            *s = cur;
            cur = t;
        }
        i = (i + 1) & (m->cap - 1);
        cur.dist++;
    }
}

static struct slot *map_get(struct map *m, uint64_t key)
{
    size_t i = hash64(key) & (m->cap - 1);
    uint32_t d = 1;
    while (m->slots[i].dist >= d) {
        if (m->slots[i].key == key)
            return &m->slots[i];
        i = (i + 1) & (m->cap - 1);
        d++;
    }
    return NULL;
}

static int map_del(struct map *m, uint64_t key)
{
    struct slot *s = map_get(m, key);
    if (!s)
        return 0;
    size_t i = (size_t)(s - m->slots);
    for (;;) {
        size_t j = (i + 1) & (m->cap - 1);
        if (m->slots[j].dist <= 1)
            break;
        m->slots[i] = m->slots[j];
        m->slots[i].dist--;
        i = j;
    }
    m->slots[i].dist = 0;
    m->size--;
    return 1;
}

#define BLOOM_BITS (1u << 20)
static unsigned char bloom[BLOOM_BITS / 8];

static void bloom_add(uint64_t key)
{
    uint64_t h = hash64(key);
    for (int i = 0; i < 4; i++) {
        uint32_t b = (uint32_t)(h >> (i * 11)) & (BLOOM_BITS - 1);
        bloom[b >> 3] |= (unsigned char)(1u << (b & 7));
    }
}

static int bloom_test(uint64_t key)
{
    uint64_t h = hash64(key);
    for (int i = 0; i < 4; i++) {
        uint32_t b = (uint32_t)(h >> (i * 11)) & (BLOOM_BITS - 1);
        if (!(bloom[b >> 3] & (1u << (b & 7))))
            return 0;
    }
    return 1;
}

int main(void)
{
    uint64_t s = 31337, sum = 0;
    for (int r = 0; r < REPS; r++) {
        struct map m;
        map_init(&m, 64);
        memset(bloom, 0, sizeof bloom);
        for (int i = 0; i < OPS; i++) {
            s = s * 6364136223846793005ull + 1442695040888963407ull;
            uint64_t key = (s >> 40) % 30000;
            switch ((s >> 33) & 7) {
            case 0:
            case 1:
            case 2:
                map_put(&m, key, (uint32_t)i);
                bloom_add(key);
                break;
            case 3:
                sum += (uint64_t)map_del(&m, key);
                break;
            default:
                if (bloom_test(key)) {
                    struct slot *p = map_get(&m, key);
                    if (p)
                        sum += p->value;
                }
                break;
            }
        }
        sum = sum * 31 + m.size;
        free(m.slots);
    }
    printf("robinhood %llu\n", (unsigned long long)sum);
    return 0;
}
