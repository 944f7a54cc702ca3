/*
 * Compresses a log-like text with matches in a sliding window (the Lempel-Ziv way, a hash table of recent places) and
 * unpacks it again.
 * Stands for byte-wise codecs: compare loops of unknown length, table look-ups, copies that may overlap themselves.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "input.h"

enum {
    TEXT = 1 << 18,
    PACKED = TEXT + TEXT / 8,
    HASH_BITS = 13,
    SHORTEST = 4,
    LONGEST = SHORTEST + 127,
    FARTHEST = 65535,
    MOST_LITERALS = 128,
};

static uint8_t text[TEXT], packed[PACKED], unpacked[TEXT];

static uint32_t hash_of(const uint8_t *at)
{
    uint32_t four;
    memcpy(&four, at, sizeof four);
    return four * 2654435761u >> (32 - HASH_BITS);
}

/* A byte below 128 announces that many literals and one more; any other, a match and two bytes of distance. */
static uint8_t *put_literals(uint8_t *to, const uint8_t *from, const uint8_t *end)
{
    while (from < end) {
        size_t count = end - from < MOST_LITERALS ? (size_t)(end - from) : MOST_LITERALS;
        *to++ = (uint8_t)(count - 1);
        memcpy(to, from, count);
        to += count;
        from += count;
    }
    return to;
}

static uint8_t *put_match(uint8_t *to, uint32_t length, uint32_t distance)
{
    *to++ = (uint8_t)(128 + length - SHORTEST);
    *to++ = (uint8_t)distance;
    *to++ = (uint8_t)(distance >> 8);
    return to;
}

static uint32_t common_length(const uint8_t *a, const uint8_t *b, uint32_t limit)
{
    uint32_t length = 0;
    while (length < limit && a[length] == b[length]) {
        length++;
    }
    return length;
}

static size_t compress(void)
{
    static uint32_t recent[1 << HASH_BITS];
    memset(recent, 0, sizeof recent);
    uint8_t *to = packed;
    uint32_t literals = 0, at = 1;
    while (at + SHORTEST <= TEXT) {
        uint32_t hash = hash_of(text + at);
        uint32_t candidate = recent[hash];
        recent[hash] = at;
        uint32_t limit = TEXT - at < LONGEST ? TEXT - at : LONGEST;
        uint32_t length = at - candidate <= FARTHEST ? common_length(text + candidate, text + at, limit) : 0;
        if (length < SHORTEST) {
            at++;
            continue;
        }
        to = put_literals(to, text + literals, text + at);
        to = put_match(to, length, at - candidate);
        at += length;
        literals = at;
    }
    to = put_literals(to, text + literals, text + TEXT);
    return (size_t)(to - packed);
}

/* Goes byte by byte where a match reaches into itself. */
static size_t unpack(size_t packed_length)
{
    const uint8_t *from = packed, *end = packed + packed_length;
    uint8_t *to = unpacked;
    while (from < end) {
        uint32_t head = *from++;
        if (head < 128) {
            memcpy(to, from, head + 1);
            to += head + 1;
            from += head + 1;
            continue;
        }
        uint32_t length = head - 128 + SHORTEST;
        uint32_t distance = from[0] | (uint32_t)from[1] << 8;
        const uint8_t *match = to - distance;
        from += 2;
        if (distance >= length) {
            memcpy(to, match, length);
        } else {
            for (uint32_t i = 0; i < length; i++) {
                to[i] = match[i];
            }
        }
        to += length;
    }
    return (size_t)(to - unpacked);
}

static void generate(uint64_t seed)
{
    static const char *const verbs[] = {"GET", "PUT", "SCAN", "DELETE"};
    static const char *const results[] = {"ok", "ok", "not found", "timed out"};
    size_t at = 0;
    while (at < TEXT) {
        char line[128];
        uint32_t worker = random_below(&seed, 16), key = random_below(&seed, 1u << 31);
        const char *verb = verbs[random_below(&seed, 4)], *result = results[random_below(&seed, 4)];
        uint32_t duration = random_below(&seed, 100000);
        const char *note = random_below(&seed, 30) == 0 ? " --------------------------------" : "";
        int length = snprintf(line, sizeof line, "%010u worker=%u %s key=%08x %s in %u ns%s\n", (unsigned)(at * 37),
                              worker, verb, key, result, duration, note);
        size_t room = TEXT - at < (size_t)length ? TEXT - at : (size_t)length;
        memcpy(text + at, line, room);
        at += room;
    }
}

int main(int argc, char **argv)
{
    uint64_t seed = 31;
    generate(seed);

    uint64_t checksum = 0;
    int rounds = scaled_rounds(argc, argv, 750);
    for (int i = 0; i < rounds; i++) {
        size_t length = compress();
        if (unpack(length) != TEXT || memcmp(text, unpacked, TEXT) != 0) {
            printf("what was unpacked differs\n");
            return 1;
        }
        for (size_t b = 0; b < length; b += 61) {
            checksum = mix(checksum, packed[b]);
        }
        text[random_below(&seed, TEXT)] = (uint8_t)i;
    }
    printf("%016" PRIx64 "\n", checksum);
    return 0;
}
