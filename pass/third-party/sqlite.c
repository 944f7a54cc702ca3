/*
 * SQLite in memory: orders of customers, which are inserted, changed, joined, summed up and searched, as a service would with
 * a connection for each request (SQLITE_OPEN_NOMUTEX: under a connection's own mutex, which is a thread's, nothing yields).
 * Every row of every answer goes into the checksum.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "input.h"
#include "request.h"

enum { CUSTOMERS = 400, ORDERS = 6000, TEXT = 120, ROUNDS = 30 };

/* What a request has. Nothing else is static: requests take turns. */
struct request {
    sqlite3 *db;
    uint64_t seed, checksum;
};

static void must(sqlite3 *db, int status, int expected, const char *what)
{
    if (status != expected) {
        fprintf(stderr, "%s: %s\n", what, sqlite3_errmsg(db));
        exit(1);
    }
}

static void mix_bytes(struct request *r, const void *bytes, int length)
{
    const unsigned char *b = bytes;
    for (int i = 0; i < length; i++) {
        r->checksum = mix(r->checksum, b[i]);
    }
}

static void mix_column(struct request *r, sqlite3_stmt *statement, int column)
{
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
        r->checksum = mix(r->checksum, (uint64_t)sqlite3_column_int64(statement, column));
        break;
    case SQLITE_FLOAT: {
        double value = sqlite3_column_double(statement, column);
        mix_bytes(r, &value, sizeof value);
        break;
    }
    case SQLITE_NULL:
        r->checksum = mix(r->checksum, 5);
        break;
    default: { /* text and blobs */
        const void *bytes = sqlite3_column_blob(statement, column);
        mix_bytes(r, bytes, sqlite3_column_bytes(statement, column));
        break;
    }
    }
}

static sqlite3_stmt *prepare(struct request *r, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    must(r->db, sqlite3_prepare_v2(r->db, sql, -1, &statement, NULL), SQLITE_OK, sql);
    return statement;
}

/* Runs a statement to its end; its rows go into the checksum. */
static void drain(struct request *r, sqlite3_stmt *statement)
{
    int status;
    while ((status = sqlite3_step(statement)) == SQLITE_ROW) {
        for (int column = 0; column < sqlite3_column_count(statement); column++) {
            mix_column(r, statement, column);
        }
    }
    must(r->db, status, SQLITE_DONE, sqlite3_sql(statement));
    r->checksum = mix(r->checksum, (uint64_t)sqlite3_changes(r->db));
    sqlite3_reset(statement);
}

static void query(struct request *r, const char *sql)
{
    sqlite3_stmt *statement = prepare(r, sql);
    drain(r, statement);
    sqlite3_finalize(statement);
}

static void execute(struct request *r, const char *sql)
{
    must(r->db, sqlite3_exec(r->db, sql, NULL, NULL, NULL), SQLITE_OK, sql);
}

/* A statement that has to fail; what SQLite says of it goes into the checksum. */
static void fails(struct request *r, const char *sql, int expected)
{
    must(r->db, sqlite3_exec(r->db, sql, NULL, NULL, NULL), expected, sql);
    const char *text = sqlite3_errmsg(r->db);
    mix_bytes(r, text, (int)strlen(text));
}

/* An SQL function and a collation of the program's own: SQLite calls back into it. */
static void fold(sqlite3_context *context, int count, sqlite3_value **values)
{
    uint64_t folded = 0;
    for (int i = 0; i < count; i++) {
        folded = mix(folded, (uint64_t)sqlite3_value_int64(values[i]));
    }
    sqlite3_result_int64(context, (sqlite3_int64)(folded >> 8));
}

static int by_length(void *unused, int left_length, const void *left, int right_length, const void *right)
{
    (void)unused;
    if (left_length != right_length) {
        return left_length < right_length ? -1 : 1;
    }
    return memcmp(left, right, (size_t)left_length);
}

static int make_text(uint64_t *seed, char *text)
{
    static const char *const words[] = {"blue", "green", "lamp", "table", "chair", "of", "oak", "small", "large", "round",
                                        "shelf", "steel", "glass", "box", "handle", "drawer"};
    int length = 0, count = 3 + (int)random_below(seed, 10);
    for (int i = 0; i < count; i++) {
        length += snprintf(text + length, (size_t)(TEXT - length), "%s%s", i ? " " : "", words[random_below(seed, 16)]);
    }
    return length;
}

static void create(struct request *r)
{
    execute(r, "CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL, region INTEGER, parent INTEGER);"
                "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customer, day INTEGER,"
                "  amount REAL CHECK (amount >= 0), text TEXT, extra BLOB);"
                "CREATE TABLE log (what TEXT, id INTEGER);"
                "CREATE INDEX by_customer ON orders (customer, day);"
                "CREATE INDEX by_amount ON orders (amount) WHERE amount > 500;"
                "CREATE TRIGGER gone AFTER DELETE ON orders BEGIN INSERT INTO log VALUES ('gone', old.id); END;"
                "CREATE VIEW regional AS SELECT region, sum(amount) AS total, count(*) AS orders FROM orders"
                "  JOIN customer ON customer.id = orders.customer GROUP BY region;");
}

static void fill(struct request *r)
{
    char text[TEXT];
    unsigned char extra[64];
    execute(r, "BEGIN");
    sqlite3_stmt *insert = prepare(r, "INSERT INTO customer VALUES (?1, ?2, ?3, ?4)");
    for (int id = 1; id <= CUSTOMERS; id++) {
        int length = snprintf(text, sizeof text, "customer %x", random_below(&r->seed, 1 << 20));
        sqlite3_bind_int(insert, 1, id);
        sqlite3_bind_text(insert, 2, text, length, SQLITE_TRANSIENT);
        sqlite3_bind_int(insert, 3, (int)random_below(&r->seed, 12));
        sqlite3_bind_int(insert, 4, id / 2);
        drain(r, insert);
    }
    sqlite3_finalize(insert);
    insert = prepare(r, "INSERT INTO orders VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
    for (int id = 1; id <= ORDERS; id++) {
        sqlite3_bind_int(insert, 1, id);
        sqlite3_bind_int(insert, 2, 1 + (int)random_below(&r->seed, CUSTOMERS));
        sqlite3_bind_int(insert, 3, (int)random_below(&r->seed, 365));
        sqlite3_bind_double(insert, 4, random_below(&r->seed, 100000) / 64.0);
        int length = make_text(&r->seed, text);
        sqlite3_bind_text(insert, 5, text, length, SQLITE_TRANSIENT);
        for (size_t i = 0; i < sizeof extra; i++) {
            extra[i] = (unsigned char)next_random(&r->seed);
        }
        sqlite3_bind_blob(insert, 6, extra, (int)random_below(&r->seed, sizeof extra), SQLITE_TRANSIENT);
        drain(r, insert);
    }
    sqlite3_finalize(insert);
    execute(r, "COMMIT");
    execute(r, "ANALYZE");
}

static const char *const queries[] = {
    "SELECT region, count(*), sum(amount), avg(amount), min(text), max(day) FROM orders JOIN customer"
    "  ON customer.id = orders.customer GROUP BY region ORDER BY 3 DESC",
    "SELECT count(*) FROM orders WHERE text LIKE '%oak%lamp%' OR text GLOB '*[rs]ound*b?x*'",
    "SELECT a.id, b.id FROM orders a JOIN orders b ON a.customer = b.customer AND a.day = b.day AND a.id < b.id"
    "  WHERE a.amount > b.amount ORDER BY a.id, b.id LIMIT 200",
    "WITH RECURSIVE up(id, depth) AS (SELECT id, 0 FROM customer WHERE id > 200 UNION ALL"
    "  SELECT customer.parent, depth + 1 FROM up JOIN customer ON customer.id = up.id WHERE customer.parent > 0)"
    "  SELECT id, max(depth), count(*) FROM up GROUP BY id ORDER BY id",
    "WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n WHERE x < 3000)"
    "  SELECT sum(x * x % 97), group_concat(x, '') LIKE '%299930%' FROM n",
    "SELECT customer, day, sum(amount) OVER (PARTITION BY customer ORDER BY day, id ROWS 3 PRECEDING),"
    "  rank() OVER (PARTITION BY customer ORDER BY amount) FROM orders WHERE customer < 40",
    "SELECT * FROM regional WHERE total > (SELECT avg(total) FROM regional)",
    "SELECT substr(text, 1, instr(text, ' ') - 1) AS word, count(*), fold(count(*), sum(length(extra))) FROM orders"
    "  GROUP BY word ORDER BY word COLLATE by_length",
    "SELECT sum(json_extract(j, '$.d')), max(json_array_length(j, '$.w')) FROM (SELECT json_object('d', day, 'w',"
    "  json_array(id, text, amount)) AS j FROM orders WHERE id % 7 = 0)",
    "SELECT count(DISTINCT text), total(amount) FROM orders WHERE customer IN (SELECT id FROM customer WHERE name LIKE '%a%')",
    "SELECT name, (SELECT count(*) FROM orders WHERE customer = customer.id AND amount > 700) AS dear FROM customer"
    "  WHERE dear > 5 UNION SELECT name, -region FROM customer WHERE region < 2 ORDER BY 2, 1",
    "SELECT printf('%08.3f %s %x', amount, upper(hex(extra)), id), strftime('%Y-%m-%d', 1700000000 + day * 86400, 'unixepoch')"
    "  FROM orders WHERE amount BETWEEN 300 AND 320 ORDER BY amount",
};

/* Changes within transactions: one that is kept, and one that is rolled back, to a savepoint and then altogether. */
static void change(struct request *r)
{
    char sql[200];
    execute(r, "BEGIN");
    snprintf(sql, sizeof sql, "UPDATE orders SET amount = amount * 1.0625, day = (day + 1) %% 365 WHERE customer %% 16 = %u",
             random_below(&r->seed, 16));
    query(r, sql);
    snprintf(sql, sizeof sql, "DELETE FROM orders WHERE id %% 61 = %u", random_below(&r->seed, 61));
    query(r, sql);
    query(r, "INSERT INTO orders SELECT id + 1000000, customer, day, amount / 2, text || ' again', extra FROM orders"
              "  WHERE id % 64 = 0 AND id < 1000000 ON CONFLICT DO UPDATE SET amount = excluded.amount");
    execute(r, "COMMIT");
    execute(r, "BEGIN; SAVEPOINT inner; UPDATE orders SET text = NULL, amount = 1;");
    query(r, "SELECT count(*), sum(amount) FROM orders WHERE text IS NULL");
    execute(r, "ROLLBACK TO inner; DELETE FROM orders WHERE customer < 50");
    fails(r, "INSERT INTO orders VALUES (NULL, 1, 1, -1, 'never', NULL)", SQLITE_CONSTRAINT);
    execute(r, "ROLLBACK");
    query(r, "SELECT count(*), sum(amount), (SELECT count(*) FROM log) FROM orders");
}

static int mix_row(void *request, int columns, char **values, char **names)
{
    (void)names;
    for (int i = 0; i < columns; i++) {
        mix_bytes(request, values[i], values[i] ? (int)strlen(values[i]) : 0);
    }
    return 0;
}

static void go_wrong(struct request *r)
{
    fails(r, "SELECT nothing FROM orders WHERE (", SQLITE_ERROR);
    fails(r, "SELEC id FROM orders", SQLITE_ERROR);
    fails(r, "INSERT INTO customer VALUES (1, 'twice', 0, 0)", SQLITE_CONSTRAINT);
    fails(r, "INSERT INTO customer VALUES (NULL, NULL, 0, 0)", SQLITE_CONSTRAINT);
    fails(r, "SELECT json_extract('{\"a\": [1, 2', '$.a')", SQLITE_ERROR);
}

/* Another connection with the database's image, half of a page of which is overwritten: SQLite finds out. */
static void corrupt(struct request *r)
{
    sqlite3_int64 size;
    unsigned char *image = sqlite3_serialize(r->db, "main", &size, 0);
    for (sqlite3_int64 i = size / 2; i < size / 2 + 2048; i++) {
        image[i] ^= 0x5a;
    }
    sqlite3 *copy;
    must(NULL, sqlite3_open_v2(":memory:", &copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX, NULL), SQLITE_OK, "open");
    must(copy, sqlite3_deserialize(copy, "main", image, size, size, SQLITE_DESERIALIZE_FREEONCLOSE), SQLITE_OK, "copy");
    char *answer = NULL;
    int status = sqlite3_exec(copy, "PRAGMA integrity_check(20); SELECT sum(length(text)) FROM orders", mix_row, r, &answer);
    r->checksum = mix(r->checksum, (uint64_t)status);
    mix_bytes(r, answer, answer ? (int)strlen(answer) : 0);
    sqlite3_free(answer);
    must(copy, sqlite3_close(copy), SQLITE_OK, "close");
}

static void full_text(struct request *r)
{
    execute(r, "CREATE VIRTUAL TABLE words USING fts5(text);"
                "INSERT INTO words SELECT text FROM orders WHERE id % 5 = 0;");
    query(r, "SELECT rowid, rank, highlight(words, 0, '<', '>') FROM words WHERE words MATCH 'oak NEAR lamp'"
             "  ORDER BY rank LIMIT 50");
    execute(r, "DROP TABLE words");
}

uint64_t request(uint64_t seed, int percent)
{
    struct request request = {NULL, seed, 0}, *r = &request;
    must(NULL, sqlite3_open_v2(":memory:", &r->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL), SQLITE_OK, "open");
    sqlite3_create_function(r->db, "fold", -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, fold, NULL, NULL);
    sqlite3_create_collation(r->db, "by_length", SQLITE_UTF8, NULL, by_length);
    create(r);
    fill(r);
    for (int round = 0; round < ROUNDS * percent / 100; round++) {
        for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
            query(r, queries[i]);
        }
        change(r);
    }
    go_wrong(r);
    full_text(r);
    corrupt(r);
    execute(r, "DROP INDEX by_amount; VACUUM");
    query(r, "PRAGMA integrity_check");
    must(r->db, sqlite3_close(r->db), SQLITE_OK, "close");
    return r->checksum;
}
