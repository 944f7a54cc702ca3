/*
 * Records run through a pipeline of small functions that is made at run time, and every record's kind has a handler
 * in a table.
 * Stands for calls that a compiler can not see through: callbacks, filters and dispatch tables, a few instructions
 * each.
 */
#include <inttypes.h>
#include <stdio.h>

#include "input.h"

enum { RECORDS = 4096, STAGES = 6, KINDS = 8 };

struct record {
    uint32_t kind;
    uint32_t value;
    uint64_t total;
};

typedef uint32_t stage(uint32_t value, uint32_t parameter);
typedef void handler(struct record *record, uint32_t value);

static uint32_t add(uint32_t value, uint32_t parameter) { return value + parameter; }
static uint32_t scale(uint32_t value, uint32_t parameter) { return value * (parameter | 1); }
static uint32_t cut(uint32_t value, uint32_t parameter) { return value > parameter ? value - parameter : value; }
static uint32_t turn(uint32_t value, uint32_t parameter)
{
    parameter &= 31;
    return value << parameter | value >> (-parameter & 31);
}

static void on_count(struct record *record, uint32_t value) { record->total += value != 0; }
static void on_sum(struct record *record, uint32_t value) { record->total += value; }
static void on_parity(struct record *record, uint32_t value) { record->total ^= value & 1; }
static void on_last(struct record *record, uint32_t value) { record->total = value; }
static void on_largest(struct record *record, uint32_t value)
{
    record->total = value > record->total ? value : record->total;
}
static void on_change(struct record *record, uint32_t value)
{
    record->total += value != record->value;
    record->value = value;
}
static void on_mixed(struct record *record, uint32_t value) { record->total = mix(record->total, value); }
static void on_nothing(struct record *record, uint32_t value)
{
    (void)record;
    (void)value;
}

static stage *const stages[] = {add, scale, cut, turn};
static handler *const handlers[KINDS] = {on_count,   on_sum,    on_parity, on_last,
                                         on_largest, on_change, on_mixed,  on_nothing};

struct pipeline {
    stage *stages[STAGES];
    uint32_t parameters[STAGES];
};

static struct record records[RECORDS];

static struct pipeline random_pipeline(uint64_t *seed)
{
    struct pipeline pipeline;
    for (int i = 0; i < STAGES; i++) {
        pipeline.stages[i] = stages[random_below(seed, 4)];
        pipeline.parameters[i] = (uint32_t)next_random(seed);
    }
    return pipeline;
}

static void run(const struct pipeline *pipeline, uint32_t tick)
{
    for (int i = 0; i < RECORDS; i++) {
        uint32_t value = records[i].value ^ tick;
        for (int s = 0; s < STAGES; s++) {
            value = pipeline->stages[s](value, pipeline->parameters[s]);
        }
        handlers[records[i].kind](&records[i], value);
    }
}

int main(int argc, char **argv)
{
    uint64_t seed = 4;
    for (int i = 0; i < RECORDS; i++) {
        records[i].kind = random_below(&seed, KINDS);
        records[i].value = (uint32_t)next_random(&seed);
    }

    int rounds = scaled_rounds(argc, argv, 10000);
    for (int i = 0; i < rounds; i++) {
        struct pipeline pipeline = random_pipeline(&seed);
        run(&pipeline, (uint32_t)i);
    }

    uint64_t checksum = 0;
    for (int i = 0; i < RECORDS; i++) {
        checksum = mix(checksum, records[i].total);
    }
    printf("%016" PRIx64 "\n", checksum);
    return 0;
}
