/*
 * Counts the words of a text: finds where they begin and end, hashes them, looks them up in a table, and sorts the
 * most frequent ones to the front.
 * Stands for text processing: loops over letters of four to ten turns, one table access each, a memcmp.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "input.h"

enum { TEXT = 400000, VOCABULARY = 3000, LONGEST = 12, BUCKETS = 8192, TOP = 20 };

struct word {
    const char *text;
    uint32_t length;
    uint32_t count;
};

static char text[TEXT + 1];
static struct word table[BUCKETS];

static void generate(uint64_t seed)
{
    static char vocabulary[VOCABULARY][LONGEST + 1];
    for (int i = 0; i < VOCABULARY; i++) {
        uint32_t length = 2 + random_below(&seed, LONGEST - 1);
        for (uint32_t c = 0; c < length; c++) {
            vocabulary[i][c] = (char)('a' + random_below(&seed, 26));
        }
    }
    uint32_t at = 0;
    while (at + LONGEST + 2 < TEXT) {
        const char *word = vocabulary[random_below(&seed, 1 + random_below(&seed, VOCABULARY))];
        size_t length = strlen(word);
        memcpy(text + at, word, length);
        at += (uint32_t)length;
        if (random_below(&seed, 8) == 0) {
            text[at++] = '.';
        }
        text[at++] = random_below(&seed, 12) == 0 ? '\n' : ' ';
    }
}

static int is_letter(char c)
{
    return c >= 'a' && c <= 'z';
}

static void count_word(const char *word, uint32_t length, uint32_t hash)
{
    uint32_t i = hash % BUCKETS;
    while (table[i].text != NULL && (table[i].length != length || memcmp(table[i].text, word, length) != 0)) {
        i = (i + 1) % BUCKETS;
    }
    table[i].text = word;
    table[i].length = length;
    table[i].count++;
}

static void count_words(void)
{
    const char *at = text;
    while (*at != '\0') {
        if (!is_letter(*at)) {
            at++;
            continue;
        }
        const char *start = at;
        uint32_t hash = 2166136261u;
        for (; is_letter(*at); at++) {
            hash = (hash ^ (unsigned char)*at) * 16777619u;
        }
        count_word(start, (uint32_t)(at - start), hash);
    }
}

/* By count, then by where the word was seen last, so that the order is the only one. */
static uint64_t most_frequent(void)
{
    struct word top[TOP] = {{0}};
    for (int i = 0; i < BUCKETS; i++) {
        struct word word = table[i];
        for (int t = 0; t < TOP && word.text != NULL; t++) {
            if (word.count > top[t].count || (word.count == top[t].count && word.text > top[t].text)) {
                struct word kept = top[t];
                top[t] = word;
                word = kept;
            }
        }
    }
    uint64_t checksum = 0;
    for (int t = 0; t < TOP; t++) {
        checksum = mix(checksum, (uint64_t)(top[t].text - text) * top[t].count + top[t].length);
    }
    return checksum;
}

int main(int argc, char **argv)
{
    uint64_t seed = 24;
    generate(seed);

    uint64_t checksum = 0;
    int rounds = scaled_rounds(argc, argv, 800);
    for (int i = 0; i < rounds; i++) {
        memset(table, 0, sizeof table);
        count_words();
        checksum = mix(checksum, most_frequent());
        text[random_below(&seed, TEXT / 2)] = ' ';
    }
    printf("%016" PRIx64 "\n", checksum);
    return 0;
}
