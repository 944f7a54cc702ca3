/*
 * A hash table with chains as a cache of bounded size: lookups, insertions, and the oldest entry goes when it is full.
 * The table doubles as it fills, and starts small in every round.
 * Stands for short walks over linked lists, and now and then a long loop that moves everything.
 */
#include <inttypes.h>
#include <stdio.h>

#include "input.h"

enum { CAPACITY = 40000, REQUESTS = 150000, POPULATION = 120000, LEAST_BUCKETS = 64 };

struct entry {
    struct entry *next;
    uint64_t key;
    uint64_t hits;
};

struct table {
    struct entry **buckets;
    uint32_t bucket_count;
    uint32_t used;
    uint32_t oldest;
};

static struct entry entries[CAPACITY];

static uint32_t bucket_of(const struct table *table, uint64_t key)
{
    uint64_t hash = key * 0xff51afd7ed558ccdu;
    return (uint32_t)(hash >> 40) & (table->bucket_count - 1);
}

static struct entry **new_buckets(uint32_t count)
{
    struct entry **buckets = calloc(count, sizeof *buckets);
    if (buckets == NULL) {
        abort();
    }
    return buckets;
}

static struct entry *find(const struct table *table, uint64_t key)
{
    struct entry *entry = table->buckets[bucket_of(table, key)];
    while (entry != NULL && entry->key != key) {
        entry = entry->next;
    }
    return entry;
}

static void push(struct table *table, struct entry *entry)
{
    struct entry **bucket = &table->buckets[bucket_of(table, entry->key)];
    entry->next = *bucket;
    *bucket = entry;
}

static void unlink_entry(struct table *table, struct entry *entry)
{
    struct entry **link = &table->buckets[bucket_of(table, entry->key)];
    while (*link != entry) {
        link = &(*link)->next;
    }
    *link = entry->next;
}

static void grow(struct table *table)
{
    free(table->buckets);
    table->bucket_count *= 2;
    table->buckets = new_buckets(table->bucket_count);
    for (uint32_t i = 0; i < table->used; i++) {
        push(table, &entries[i]);
    }
}

static void insert(struct table *table, uint64_t key)
{
    struct entry *entry;
    if (table->used < CAPACITY) {
        if (table->used == table->bucket_count) {
            grow(table);
        }
        entry = &entries[table->used++];
    } else {
        entry = &entries[table->oldest];
        table->oldest = (table->oldest + 1) % CAPACITY;
        unlink_entry(table, entry);
    }
    entry->key = key;
    entry->hits = 1;
    push(table, entry);
}

/* Low keys are asked for more often than high ones, as caches hope. */
static uint64_t serve(uint64_t *seed)
{
    struct table table = {new_buckets(LEAST_BUCKETS), LEAST_BUCKETS, 0, 0};
    uint64_t hits = 0;
    for (int i = 0; i < REQUESTS; i++) {
        uint64_t key = random_below(seed, 1 + random_below(seed, POPULATION));
        struct entry *entry = find(&table, key);
        if (entry != NULL) {
            hits += ++entry->hits;
        } else {
            insert(&table, key);
        }
    }
    free(table.buckets);
    return hits;
}

int main(int argc, char **argv)
{
    uint64_t seed = 10;
    uint64_t checksum = 0;
    int rounds = scaled_rounds(argc, argv, 280);
    for (int i = 0; i < rounds; i++) {
        checksum = mix(checksum, serve(&seed));
    }
    printf("%016" PRIx64 "\n", checksum);
    return 0;
}
