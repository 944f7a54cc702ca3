/*
 * Parses a JSON document into a tree of nodes, and walks the tree for sums of the numbers and hashes of the strings.
 * Stands for recursive-descent parsers: a switch a character, short loops over digits and letters, recursion.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "input.h"

enum { ROOM = 1 << 18, SLACK = 4096, MOST_NODES = ROOM / 2, DEEPEST = 12 };

enum kind { NOTHING, BOOLEAN, NUMBER, STRING, ARRAY, OBJECT };

/* Members of arrays and objects are a list; those of objects have a key. */
struct node {
    enum kind kind;
    const char *key;
    uint32_t key_length;
    uint32_t length;
    const char *text;
    int64_t number;
    struct node *first;
    struct node *next;
};

static char document[ROOM + SLACK];
static size_t document_length;
static struct node nodes[MOST_NODES];
static uint32_t used_nodes;

/* ---- making a document ---- */

static void put(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t room = sizeof document - document_length;
    document_length += (size_t)vsnprintf(document + document_length, room, format, arguments);
    va_end(arguments);
}

static void put_string(uint64_t *seed)
{
    static const char *const words[] = {
        "latency", "tail", "core", "quantum", "a \\\"quoted\\\" word", "line\\nbreak", "id",
    };
    const char *first = words[random_below(seed, 7)], *second = words[random_below(seed, 7)];
    put("\"%s %s %u\"", first, second, random_below(seed, 1000));
}

static void put_decimal(uint64_t *seed)
{
    uint32_t whole = random_below(seed, 100), thousandths = random_below(seed, 1000);
    put("%u.%03ue%d", whole, thousandths, (int)random_below(seed, 9) - 4);
}

static void put_value(uint64_t *seed, int depth)
{
    uint32_t members = document_length < ROOM / 8 * 7 ? 1 + random_below(seed, 8) : 0;
    uint32_t choice = depth == 0 ? 5 : random_below(seed, depth < DEEPEST ? 7 : 4);
    switch (choice) {
    case 0: put("%s", random_below(seed, 2) != 0 ? "true" : "null"); break;
    case 1: put("%d", (int)random_below(seed, 2000000) - 1000000); break;
    case 2: put_decimal(seed); break;
    case 3: put_string(seed); break;
    case 4:
        put("[");
        for (uint32_t i = 0; i < members; i++) {
            put(i == 0 ? "" : ", ");
            put_value(seed, depth + 1);
        }
        put("]");
        break;
    default:
        put("{");
        for (uint32_t i = 0; depth == 0 ? document_length < ROOM / 8 * 7 : i < members; i++) {
            put("%s\n%*s\"field_%u\": ", i == 0 ? "" : ",", 2 * depth + 2, "", random_below(seed, 100));
            put_value(seed, depth + 1);
        }
        put("\n%*s}", 2 * depth, "");
        break;
    }
}

/* ---- parsing it ---- */

static const char *at;

static void fail(const char *expected)
{
    printf("byte %td: expected %s\n", at - document, expected);
    exit(1);
}

static void skip_space(void)
{
    while (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r') {
        at++;
    }
}

static bool accept(char c)
{
    skip_space();
    if (*at != c) {
        return false;
    }
    at++;
    return true;
}

static void expect(char c, const char *expected)
{
    if (!accept(c)) {
        fail(expected);
    }
}

static void expect_word(const char *word)
{
    size_t length = strlen(word);
    if (strncmp(at, word, length) != 0) {
        fail(word);
    }
    at += length;
}

static struct node *new_node(enum kind kind)
{
    if (used_nodes == MOST_NODES) {
        fail("fewer values");
    }
    struct node *node = &nodes[used_nodes++];
    *node = (struct node){.kind = kind};
    return node;
}

/* Escapes stay as they are written; the text is a part of the document. */
static const char *parse_string(uint32_t *length)
{
    expect('"', "a string");
    const char *start = at;
    while (*at != '"') {
        if (*at == '\\') {
            at++;
        }
        if (*at == '\0') {
            fail("the end of the string");
        }
        at++;
    }
    *length = (uint32_t)(at - start);
    at++;
    return start;
}

static int64_t parse_digits(int64_t value, int *count)
{
    *count = 0;
    while (*at >= '0' && *at <= '9') {
        value = value * 10 + (*at - '0');
        at++;
        (*count)++;
    }
    return value;
}

/* In millionths, rounded towards zero. */
static int64_t parse_number(void)
{
    bool negative = *at == '-';
    at += negative;
    int digits, decimals = 0, exponent = 0, ignored;
    int64_t value = parse_digits(0, &digits);
    if (digits == 0) {
        fail("a value");
    }
    if (*at == '.') {
        at++;
        value = parse_digits(value, &decimals);
    }
    if (*at == 'e' || *at == 'E') {
        at++;
        bool down = *at == '-';
        at += *at == '-' || *at == '+';
        exponent = (int)parse_digits(0, &ignored);
        exponent = down ? -exponent : exponent;
    }
    int places = 6 + exponent - decimals;
    for (; places > 0; places--) {
        value *= 10;
    }
    for (; places < 0; places++) {
        value /= 10;
    }
    return negative ? -value : value;
}

static struct node *parse_value(void);

static struct node *parse_array(void)
{
    struct node *array = new_node(ARRAY);
    at++;
    if (accept(']')) {
        return array;
    }
    struct node **link = &array->first;
    do {
        *link = parse_value();
        link = &(*link)->next;
    } while (accept(','));
    expect(']', "a comma or ]");
    return array;
}

static struct node *parse_object(void)
{
    struct node *object = new_node(OBJECT);
    at++;
    if (accept('}')) {
        return object;
    }
    struct node **link = &object->first;
    do {
        uint32_t length;
        const char *key = parse_string(&length);
        expect(':', "a colon");
        *link = parse_value();
        (*link)->key = key;
        (*link)->key_length = length;
        link = &(*link)->next;
    } while (accept(','));
    expect('}', "a comma or }");
    return object;
}

static struct node *parse_value(void)
{
    struct node *node;
    skip_space();
    switch (*at) {
    case '{': return parse_object();
    case '[': return parse_array();
    case '"':
        node = new_node(STRING);
        node->text = parse_string(&node->length);
        return node;
    case 't':
        expect_word("true");
        node = new_node(BOOLEAN);
        node->number = 1;
        return node;
    case 'f': expect_word("false"); return new_node(BOOLEAN);
    case 'n': expect_word("null"); return new_node(NOTHING);
    default:
        node = new_node(NUMBER);
        node->number = parse_number();
        return node;
    }
}

static uint64_t digest_text(uint64_t checksum, const char *text, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++) {
        checksum = checksum * 31 + (unsigned char)text[i];
    }
    return checksum;
}

static uint64_t digest(uint64_t checksum, const struct node *node)
{
    checksum = mix(checksum, node->kind);
    checksum = digest_text(checksum, node->key, node->key_length);
    checksum = digest_text(checksum, node->text, node->length);
    checksum += (uint64_t)node->number;
    for (const struct node *member = node->first; member != NULL; member = member->next) {
        checksum = digest(checksum, member);
    }
    return checksum;
}

int main(int argc, char **argv)
{
    uint64_t seed = 12;
    put_value(&seed, 0);

    uint64_t checksum = 0;
    int rounds = scaled_rounds(argc, argv, 2800);
    for (int i = 0; i < rounds; i++) {
        at = document;
        used_nodes = 0;
        checksum = digest(checksum, parse_value());
    }
    printf("%016" PRIx64 "\n", checksum);
    return 0;
}
