#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>

#define REPS 186
#define NREQ 20000
#define BUCKETS 4096

struct entry {
    struct entry *next;
    uint32_t hash;
    unsigned flags;
    size_t klen, vlen;
    char data[];
};

static struct entry *bucket[BUCKETS];
static uint64_t hits, misses, sets, deletes, errors, bytes_out;

static uint32_t hash_key(const char *k, size_t n)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)k[i]) * 16777619u;
    return h;
}

static struct entry **lookup(const char *k, size_t n, uint32_t h)
{
    struct entry **pp = &bucket[h % BUCKETS];
    while (*pp) {
        if ((*pp)->hash == h && (*pp)->klen == n && memcmp((*pp)->data, k, n) == 0)
            break;
        pp = &(*pp)->next;
    }
    return pp;
}

static void do_set(const char *k, size_t kl, unsigned flags, const char *v, size_t vl)
{
    uint32_t h = hash_key(k, kl);
    struct entry **pp = lookup(k, kl, h), *e = *pp;
    if (e) {
        *pp = e->next;
        free(e);
    }
    e = malloc(sizeof *e + kl + vl);
    if (!e)
        abort();
    e->hash = h;
    e->flags = flags;
    e->klen = kl;
    e->vlen = vl;
    memcpy(e->data, k, kl);
    memcpy(e->data + kl, v, vl);
    e->next = bucket[h % BUCKETS];
    bucket[h % BUCKETS] = e;
    sets++;
}

static size_t token(const char **p, const char *end, const char **tok)
{
    while (*p < end && **p == ' ')
        (*p)++;
    *tok = *p;
    while (*p < end && **p != ' ')
        (*p)++;
    return (size_t)(*p - *tok);
}

static int parse_uint(const char *s, size_t n, unsigned *out)
{
    unsigned v = 0;
    if (n == 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (s[i] < '0' || s[i] > '9')
            return -1;
        v = v * 10 + (unsigned)(s[i] - '0');
    }
    *out = v;
    return 0;
}

static void process(const char *p, const char *end)
{
    char out[512];
    while (p < end) {
        const char *eol = p;
        while (eol + 1 < end && !(eol[0] == '\r' && eol[1] == '\n'))
            eol++;
        const char *q = p, *cmd, *key;
        size_t cl = token(&q, eol, &cmd);
        size_t kl = token(&q, eol, &key);
        p = eol + 2;
        if (cl == 3 && memcmp(cmd, "get", 3) == 0) {
            while (kl > 0) {
                struct entry *e = *lookup(key, kl, hash_key(key, kl));
                if (e) {
                    memcpy(out, "VALUE ", 6);
                    memcpy(out + 6, e->data, kl);
                    memcpy(out + 6 + kl, e->data + kl, e->vlen);
                    bytes_out += 6 + kl + e->vlen;
                    bytes_out += (unsigned char)out[6 + kl];
                    hits++;
                } else
                    misses++;
                kl = token(&q, eol, &key);
            }
        } else if (cl == 3 && memcmp(cmd, "set", 3) == 0) {
            const char *a, *b, *c;
            unsigned flags, ttl, len;
            size_t al = token(&q, eol, &a), bl = token(&q, eol, &b), nl = token(&q, eol, &c);
            if (parse_uint(a, al, &flags) || parse_uint(b, bl, &ttl) || parse_uint(c, nl, &len) || len > 256) {
                errors++;
                continue;
            }
            do_set(key, kl, flags, p, len);
            p += len + 2;
        } else if (cl == 6 && memcmp(cmd, "delete", 6) == 0) {
            struct entry **pp = lookup(key, kl, hash_key(key, kl)), *e = *pp;
            if (e) {
                *pp = e->next;
                free(e);
                deletes++;
            }
        } else
            errors++;
    }
}

int main(void)
{
    char *buf = malloc((size_t)NREQ * 160);
    uint32_t x = 600613;
    for (int r = 0, n; r < REPS; r++) {
        if (r % 8 == 0) {
            n = 0;
            for (int i = 0; i < NREQ; i++) {
                x = x * 1664525u + 1013904223u;
                unsigned id = (x >> 12) % 5000;
                unsigned k = (x >> 8) & 15;
                if (k < 10)
                    n += sprintf(buf + n, "get user:%u session:%u\r\n", id, id % 100);
                else if (k < 14) {
                    int len = 10 + (int)(id % 60);
                    n += sprintf(buf + n, "set %s:%u %u 0 %d\r\n", k & 1 ? "user" : "session", id, k, len);
                    memset(buf + n, 'a' + (int)(id % 26), (size_t)len);
                    n += len;
                    n += sprintf(buf + n, "\r\n");
                } else if (k == 14)
                    n += sprintf(buf + n, "delete user:%u\r\n", id);
                else
                    n += sprintf(buf + n, "stats\r\n");
            }
            buf[n] = 0;
        }
        process(buf, buf + strlen(buf));
    }
    printf("kvproto %llu %llu %llu %llu %llu %llu\n", (unsigned long long)hits, (unsigned long long)misses,
           (unsigned long long)sets, (unsigned long long)deletes, (unsigned long long)errors, (unsigned long long)bytes_out);
    free(buf);
    return 0;
}
