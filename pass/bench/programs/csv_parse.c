/*
 * Reads a table with a name, three integers and an amount of money a line, some of the names quoted, and adds up the
 * columns; the amounts per first letter of the name too.
 * Stands for hand-written scanners: loops of a few turns over digits, with a branch a character.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "input.h"

enum { LINES = 8000, LONGEST_LINE = 96, LETTERS = 26 };

struct totals {
    int64_t integers[3];
    int64_t cents;
    int64_t cents_by_letter[LETTERS];
    uint64_t names;
};

static char table[LINES * LONGEST_LINE];

static void generate(uint64_t seed)
{
    char *to = table;
    for (int i = 0; i < LINES; i++) {
        char name[16];
        uint32_t length = 3 + random_below(&seed, 12);
        for (uint32_t c = 0; c < length; c++) {
            name[c] = (char)('a' + random_below(&seed, LETTERS));
        }
        name[length] = '\0';
        const char *format = random_below(&seed, 4) == 0 ? "\"%s, jr.\",%d,%d,%d,%u.%02u\n" : "%s,%d,%d,%d,%u.%02u\n";
        int small = (int)random_below(&seed, 100);
        int middle = (int)random_below(&seed, 20000) - 10000;
        int large = (int)random_below(&seed, 2000000000) - 1000000000;
        uint32_t units = random_below(&seed, 10000), cents = random_below(&seed, 100);
        to += sprintf(to, format, name, small, middle, large, units, cents);
    }
}

static const char *skip_name(const char *at, uint64_t *hash, char *initial)
{
    char end = ',';
    if (*at == '"') {
        end = '"';
        at++;
    }
    *initial = *at;
    while (*at != end) {
        *hash = *hash * 33 + (unsigned char)*at;
        at++;
    }
    return end == '"' ? at + 2 : at + 1;
}

static const char *parse_integer(const char *at, int64_t *value)
{
    int negative = *at == '-';
    int64_t magnitude = 0;
    for (at += negative; *at >= '0' && *at <= '9'; at++) {
        magnitude = magnitude * 10 + (*at - '0');
    }
    *value = negative ? -magnitude : magnitude;
    return at;
}

static const char *parse_line(const char *at, struct totals *totals)
{
    char initial;
    at = skip_name(at, &totals->names, &initial);
    for (int i = 0; i < 3; i++) {
        int64_t value;
        at = parse_integer(at, &value) + 1;
        totals->integers[i] += value;
    }
    int64_t units, cents;
    at = parse_integer(at, &units) + 1;
    at = parse_integer(at, &cents) + 1;
    totals->cents += 100 * units + cents;
    totals->cents_by_letter[initial - 'a'] += 100 * units + cents;
    return at;
}

int main(int argc, char **argv)
{
    generate(13);

    struct totals totals = {0};
    int rounds = scaled_rounds(argc, argv, 3200);
    for (int i = 0; i < rounds; i++) {
        for (const char *at = table; *at != '\0';) {
            at = parse_line(at, &totals);
        }
    }

    uint64_t checksum = mix(totals.names, (uint64_t)totals.cents);
    for (int i = 0; i < 3; i++) {
        checksum = mix(checksum, (uint64_t)totals.integers[i]);
    }
    for (int i = 0; i < LETTERS; i++) {
        checksum = mix(checksum, (uint64_t)totals.cents_by_letter[i]);
    }
    printf("%016" PRIx64 "\n", checksum);
    return 0;
}
