#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>

#define REPS 200
#define ROWS 20000

static uint32_t s = 3;

static uint32_t rnd(void)
{
    s = s * 1664525u + 1013904223u;
    return s >> 9;
}

static int put_int(char *o, int v)
{
    char t[12];
    int n = 0, k = 0;
    do {
        t[n++] = (char)('0' + v % 10);
        v /= 10;
    } while (v);
    while (n)
        o[k++] = t[--n];
    return k;
}

static size_t generate(char *o)
{
    static const char *names[] = {"widget", "\"large, blue\"", "bolt", "\"the \"\"best\"\" nut\"", "", "gear wheel"};
    size_t n = 0;
    for (int i = 0; i < ROWS; i++) {
        n += (size_t)put_int(o + n, i);
        o[n++] = ',';
        const char *nm = names[rnd() % 6];
        size_t l = strlen(nm);
        memcpy(o + n, nm, l);
        n += l;
        o[n++] = ',';
        n += (size_t)put_int(o + n, (int)(rnd() % 5000));
        o[n++] = '.';
        o[n++] = (char)('0' + rnd() % 10);
        o[n++] = (char)('0' + rnd() % 10);
        o[n++] = ',';
        n += (size_t)put_int(o + n, 1970 + (int)(rnd() % 80));
        o[n++] = '-';
        int m = 1 + (int)(rnd() % 12), d = 1 + (int)(rnd() % 28);
        o[n++] = (char)('0' + m / 10);
        o[n++] = (char)('0' + m % 10);
        o[n++] = '-';
        o[n++] = (char)('0' + d / 10);
        o[n++] = (char)('0' + d % 10);
        o[n++] = '\n';
    }
    return n;
}

static long days_from_civil(int y, int m, int d)
{
    y -= m <= 2;
    long era = (y >= 0 ? y : y - 399) / 400;
    int yoe = (int)(y - era * 400);
    int doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
    int doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
    return era * 146097 + doe - 719468;
}

static long parse_date(const char *p)
{
    int f[3] = {0, 0, 0}, k = 0;
    for (; *p; p++) {
        if (*p == '-') {
            if (++k == 3)
                return -1;
        } else if (*p >= '0' && *p <= '9')
            f[k] = f[k] * 10 + (*p - '0');
        else
            return -1;
    }
    return days_from_civil(f[0], f[1], f[2]);
}

static long parse_cents(const char *p)
{
    long v = 0;
    for (; *p; p++)
        if (*p != '.')
            v = v * 10 + (*p - '0');
    return v;
}

enum state { START, UNQUOTED, QUOTED, QUOTE_END };

struct totals {
    long rows, cents, days, name_hash;
};

static void field_done(struct totals *t, int col, const char *f)
{
    switch (col) {
    case 1:
        for (; *f; f++)
            t->name_hash = (t->name_hash * 33 + *f) & 0xffffff;
        break;
    case 2:
        t->cents += parse_cents(f);
        break;
    case 3:
        t->days += parse_date(f);
        break;
    default:
        break;
    }
}

static void parse(const char *p, size_t n, struct totals *t)
{
    char field[256];
    size_t fl = 0;
    int col = 0;
    enum state st = START;
    for (size_t i = 0; i < n; i++) {
        char c = p[i];
        switch (st) {
        case START:
            if (c == '"') {
                st = QUOTED;
                break;
            }
            st = UNQUOTED;
            /* fall through */
        case UNQUOTED:
        case QUOTE_END:
            if (c == ',' || c == '\n') {
                field[fl] = 0;
                field_done(t, col, field);
                fl = 0;
                st = START;
                if (c == '\n') {
                    t->rows++;
                    col = 0;
                } else
                    col++;
            } else if (st == QUOTE_END && c == '"') {
                field[fl++] = '"';
                st = QUOTED;
            } else if (fl < sizeof field - 1)
                field[fl++] = c;
            break;
        case QUOTED:
            if (c == '"')
                st = QUOTE_END;
            else if (fl < sizeof field - 1)
                field[fl++] = c;
            break;
        }
    }
}

int main(void)
{
    char *buf = malloc(ROWS * 64);
    size_t n = generate(buf);
    struct totals t = {0, 0, 0, 0};
    for (int r = 0; r < REPS; r++)
        parse(buf, n, &t);
    printf("csv %ld %ld %ld %ld\n", t.rows, t.cents, t.days, t.name_hash);
    free(buf);
    return 0;
}
