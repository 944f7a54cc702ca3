/*
 * Counts where words of several lengths occur in a text, once by trying every place and once by Boyer, Moore and
 * Horspool's way of leaping.
 * Stands for scans of bytes that compare little and go on: inner loops of one turn most of the time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "input.h"

enum { TEXT = 1 << 17, NEEDLES = 24, LONGEST = 32 };

struct needle {
    unsigned char bytes[LONGEST];
    size_t length;
};

static unsigned char text[TEXT];
static struct needle needles[NEEDLES];

static uint64_t search_naively(const struct needle *needle)
{
    uint64_t places = 0;
    for (size_t at = 0; at + needle->length <= TEXT; at++) {
        size_t same = 0;
        while (same < needle->length && text[at + same] == needle->bytes[same]) {
            same++;
        }
        if (same == needle->length) {
            places = places * 31 + at;
        }
    }
    return places;
}

static uint64_t search_leaping(const struct needle *needle)
{
    size_t last = needle->length - 1;
    size_t leaps[256];
    for (int i = 0; i < 256; i++) {
        leaps[i] = needle->length;
    }
    for (size_t i = 0; i < last; i++) {
        leaps[needle->bytes[i]] = last - i;
    }

    uint64_t places = 0;
    for (size_t at = 0; at + needle->length <= TEXT; at += leaps[text[at + last]]) {
        if (text[at + last] == needle->bytes[last] && memcmp(text + at, needle->bytes, last) == 0) {
            places = places * 31 + at;
        }
    }
    return places;
}

/* Letters of unequal frequency; every needle is cut from the text, and every third one then spoilt. */
static void generate(uint64_t seed)
{
    for (int i = 0; i < TEXT; i++) {
        text[i] = (unsigned char)('a' + random_below(&seed, 1 + random_below(&seed, 26)));
    }
    for (int i = 0; i < NEEDLES; i++) {
        struct needle *needle = &needles[i];
        needle->length = 2 + random_below(&seed, LONGEST - 1);
        memcpy(needle->bytes, text + random_below(&seed, TEXT - LONGEST), needle->length);
        if (i % 3 == 0) {
            needle->bytes[needle->length / 2] = 'A';
        }
    }
}

int main(int argc, char **argv)
{
    generate(11);

    uint64_t checksum = 0;
    int rounds = scaled_rounds(argc, argv, 130);
    for (int i = 0; i < rounds; i++) {
        for (int n = 0; n < NEEDLES; n++) {
            checksum = mix(checksum, search_naively(&needles[n]));
            checksum = mix(checksum, search_leaping(&needles[n]));
        }
        text[i * 97 % TEXT] ^= 1;
    }
    printf("%016" PRIx64 "\n", checksum);
    return 0;
}
