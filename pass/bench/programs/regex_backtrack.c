/*
 * Matches lines against regular expressions by backtracking: literals, dots, classes, repetitions and anchors.
 * Stands for matchers that try and come back: recursion inside loops that eat characters first and give them back
 * one by one.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "input.h"

enum { LINES = 1500, LONGEST_LINE = 96, MOST_ATOMS = 32, MANY = 1 << 20 };

/* A set of characters and how often one of them may come. */
struct atom {
    uint64_t set[4];
    int least, most;
};

struct pattern {
    struct atom atoms[MOST_ATOMS];
    int count;
    bool at_start, at_end;
};

static char lines[LINES][LONGEST_LINE];

static const char *const sources[] = {
    "^[a-z]+ [0-9]+", "timeout.*[0-9][0-9]+$", "a.*b.*c", "[0-9]+\\.[0-9]+", "key=[a-f0-9]*ff",
    "[q-z]+ .*9$",    "^.*worker.*e.*$",       "x+y*z?w", "[^a-z ]+ [^0-9]+ ", "error",
};

static void add_to_set(struct atom *atom, unsigned char c)
{
    atom->set[c / 64] |= (uint64_t)1 << c % 64;
}

static bool in_set(const struct atom *atom, unsigned char c)
{
    return (atom->set[c / 64] >> c % 64 & 1) != 0;
}

/* Returns what follows the closing bracket. */
static const char *compile_class(const char *source, struct atom *atom)
{
    bool negated = *source == '^';
    source += negated;
    while (*source != ']') {
        unsigned char first = (unsigned char)*source++, last = first;
        if (source[0] == '-' && source[1] != ']') {
            last = (unsigned char)source[1];
            source += 2;
        }
        for (int c = first; c <= last; c++) {
            add_to_set(atom, (unsigned char)c);
        }
    }
    for (int i = 0; i < 4 && negated; i++) {
        atom->set[i] = ~atom->set[i];
    }
    return source + 1;
}

static const char *compile_repetition(const char *source, struct atom *atom)
{
    atom->least = *source == '*' || *source == '?' ? 0 : 1;
    atom->most = *source == '*' || *source == '+' ? MANY : 1;
    return source + (*source == '*' || *source == '+' || *source == '?');
}

static void compile(const char *source, struct pattern *pattern)
{
    memset(pattern, 0, sizeof *pattern);
    pattern->at_start = *source == '^';
    source += pattern->at_start;
    while (*source != '\0') {
        if (source[0] == '$' && source[1] == '\0') {
            pattern->at_end = true;
            return;
        }
        struct atom *atom = &pattern->atoms[pattern->count++];
        if (*source == '[') {
            source = compile_class(source + 1, atom);
        } else if (*source == '.') {
            memset(atom->set, 0xff, sizeof atom->set);
            source++;
        } else {
            source += *source == '\\';
            add_to_set(atom, (unsigned char)*source++);
        }
        source = compile_repetition(source, atom);
    }
}

/* The end of the longest match of the atoms from `index` on, or NULL. */
static const char *match_here(const struct pattern *pattern, int index, const char *text)
{
    if (index == pattern->count) {
        return pattern->at_end && *text != '\0' ? NULL : text;
    }
    const struct atom *atom = &pattern->atoms[index];
    int eaten = 0;
    while (eaten < atom->most && text[eaten] != '\0' && in_set(atom, (unsigned char)text[eaten])) {
        eaten++;
    }
    for (; eaten >= atom->least; eaten--) {
        const char *end = match_here(pattern, index + 1, text + eaten);
        if (end != NULL) {
            return end;
        }
    }
    return NULL;
}

/* Where the first match begins and ends, as one number; 0 when there is none. */
static uint64_t match(const struct pattern *pattern, const char *line)
{
    for (const char *from = line; *from != '\0'; from++) {
        const char *end = match_here(pattern, 0, from);
        if (end != NULL) {
            return 1 + (uint64_t)(from - line) * LONGEST_LINE + (uint64_t)(end - line);
        }
        if (pattern->at_start) {
            break;
        }
    }
    return 0;
}

static void generate(uint64_t seed)
{
    static const char *const starts[] = {"worker", "cab", "error", "timeout", "key", "xxyzw", "a1b2c3"};
    for (int i = 0; i < LINES; i++) {
        const char *start = starts[random_below(&seed, 7)], *middle = starts[random_below(&seed, 7)];
        uint32_t number = random_below(&seed, 1000), key = random_below(&seed, 1u << 20);
        uint32_t whole = random_below(&seed, 100), hundredths = random_below(&seed, 100);
        uint32_t duration = random_below(&seed, 100000);
        snprintf(lines[i], LONGEST_LINE, "%s %u key=%x abc %u.%02u %s took %u", start, number, key, whole, hundredths,
                 middle, duration);
    }
}

int main(int argc, char **argv)
{
    enum { PATTERNS = sizeof sources / sizeof sources[0] };
    static struct pattern patterns[PATTERNS];
    uint64_t seed = 32;
    generate(seed);
    for (int p = 0; p < PATTERNS; p++) {
        compile(sources[p], &patterns[p]);
    }

    uint64_t checksum = 0;
    int rounds = scaled_rounds(argc, argv, 240);
    for (int i = 0; i < rounds; i++) {
        for (int l = 0; l < LINES; l++) {
            for (int p = 0; p < PATTERNS; p++) {
                checksum = mix(checksum, match(&patterns[p], lines[l]));
            }
        }
        uint32_t line = random_below(&seed, LINES);
        lines[line][random_below(&seed, 20)] = 'x';
    }
    printf("%016" PRIx64 "\n", checksum);
    return 0;
}
