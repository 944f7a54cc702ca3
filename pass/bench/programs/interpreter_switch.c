/*
 * A stack machine with a switch in a loop. Its program looks for the start below a limit whose Collatz sequence is
 * longest.
 * Stands for interpreters as most are written: one loop, one indirect jump a turn, operands on a stack in memory.
 */
#include <inttypes.h>
#include <stdio.h>

#include "input.h"

enum opcode { PUSH, LOAD, STORE, ADD, MULTIPLY, HALVE, ODD, LESS, JUMP, JUMP_IF_NOT, NOT_EQUAL, HALT };

enum { STACK = 16, VARIABLES = 8 };

struct instruction {
    enum opcode opcode;
    int64_t operand;
};

/* The program's variables. */
enum { LIMIT, START, VALUE, LENGTH, BEST, BEST_LENGTH };

/*
 *   for (start = 1; start < limit; start++) {
 *       length = 0;
 *       for (value = start; value != 1; length++)
 *           value = odd(value) ? 3 * value + 1 : value / 2;
 *       if (best_length < length) { best = start; best_length = length; }
 *   }
 */
static const struct instruction program[] = {
    {PUSH, 1},        {STORE, START},                                              /*  0: start = 1 */
    {LOAD, START},    {LOAD, LIMIT},  {LESS, 0},      {JUMP_IF_NOT, 46},           /*  2: start < limit? */
    {PUSH, 0},        {STORE, LENGTH}, {LOAD, START}, {STORE, VALUE},              /*  6: length = 0, value = start */
    {LOAD, VALUE},    {PUSH, 1},      {NOT_EQUAL, 0}, {JUMP_IF_NOT, 33},           /* 10: value != 1? */
    {LOAD, VALUE},    {ODD, 0},       {JUMP_IF_NOT, 24},                           /* 14: odd? */
    {LOAD, VALUE},    {PUSH, 3},      {MULTIPLY, 0},  {PUSH, 1},      {ADD, 0},    /* 17: 3 * value + 1 */
    {STORE, VALUE},   {JUMP, 28},                                                  /* 22 */
    {LOAD, VALUE},    {HALVE, 0},     {STORE, VALUE}, {JUMP, 28},                  /* 24: value / 2 */
    {LOAD, LENGTH},   {PUSH, 1},      {ADD, 0},       {STORE, LENGTH}, {JUMP, 10}, /* 28: length++ */
    {LOAD, BEST_LENGTH}, {LOAD, LENGTH}, {LESS, 0},   {JUMP_IF_NOT, 41},           /* 33: longer? */
    {LOAD, START},    {STORE, BEST},  {LOAD, LENGTH}, {STORE, BEST_LENGTH},        /* 37 */
    {LOAD, START},    {PUSH, 1},      {ADD, 0},       {STORE, START}, {JUMP, 2},   /* 41: start++ */
    {HALT, 0},                                                                     /* 46 */
};

static void run(const struct instruction *code, int64_t *variables)
{
    int64_t stack[STACK];
    int64_t *top = stack;
    const struct instruction *next = code;
    for (;;) {
        int64_t operand = next->operand;
        switch ((next++)->opcode) {
        case PUSH: *top++ = operand; break;
        case LOAD: *top++ = variables[operand]; break;
        case STORE: variables[operand] = *--top; break;
        case ADD: top--; top[-1] += *top; break;
        case MULTIPLY: top--; top[-1] *= *top; break;
        case HALVE: top[-1] >>= 1; break;
        case ODD: top[-1] &= 1; break;
        case LESS: top--; top[-1] = top[-1] < *top; break;
        case NOT_EQUAL: top--; top[-1] = top[-1] != *top; break;
        case JUMP: next = code + operand; break;
        case JUMP_IF_NOT: next = *--top == 0 ? code + operand : next; break;
        case HALT: return;
        }
    }
}

int main(int argc, char **argv)
{
    uint64_t seed = 33;
    uint64_t checksum = 0;
    int rounds = scaled_rounds(argc, argv, 36);
    for (int i = 0; i < rounds; i++) {
        int64_t variables[VARIABLES] = {[LIMIT] = 5000 + random_below(&seed, 10000)};
        run(program, variables);
        checksum = mix(checksum, (uint64_t)variables[BEST]);
        checksum = mix(checksum, (uint64_t)variables[BEST_LENGTH]);
    }
    printf("%016" PRIx64 "\n", checksum);
    return 0;
}
