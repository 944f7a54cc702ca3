/*
 * A register machine with 32-bit instructions, dispatched by computed goto (a GNU extension): every instruction ends
 * with the jump to the next one's code. Its programs sieve for primes and compute greatest common divisors.
 * Stands for interpreters made for speed: no loop in the source, many indirect jumps, each with its own history.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "input.h"

enum opcode { SET, MOVE, ADD, ADD_SMALL, REMAINDER, LOAD, STORE, BRANCH_LESS, BRANCH_ZERO, BRANCH, HALT };

enum { REGISTERS = 16, MEMORY = 1 << 16 };

/* From the low end: opcode, register a, register b, and 16 bits that are a register or a small signed number. */
#define CODE(opcode, a, b, c) \
    ((uint32_t)(opcode) | (uint32_t)(a) << 8 | (uint32_t)(b) << 12 | (uint32_t)(uint16_t)(c) << 16)

static uint8_t memory[MEMORY];

/*
 * r0 limit, r1 count of primes, r2 candidate, r3 multiple, r4 one, r5 what is in memory.
 * Branches are relative to the instruction after them.
 */
static const uint32_t sieve[] = {
    CODE(SET, 1, 0, 0),
    CODE(SET, 2, 0, 2),
    CODE(SET, 4, 0, 1),
    CODE(LOAD, 5, 2, 0),         /*  3: is the candidate crossed out? */
    CODE(BRANCH_ZERO, 5, 0, 1),
    CODE(BRANCH, 0, 0, 6),       /*  5: yes, go on at 12 */
    CODE(ADD_SMALL, 1, 0, 1),    /*  6: no, it is a prime */
    CODE(MOVE, 3, 2, 0),
    CODE(BRANCH, 0, 0, 1),       /*  8: to 10 */
    CODE(STORE, 4, 3, 0),        /*  9: cross the multiple out */
    CODE(ADD, 3, 2, 3),          /* 10: the next multiple */
    CODE(BRANCH_LESS, 3, 0, -3), /* 11: below the limit: to 9 */
    CODE(ADD_SMALL, 2, 0, 1),    /* 12 */
    CODE(BRANCH_LESS, 2, 0, -11),
    CODE(HALT, 0, 0, 0),
};

/* r0 limit, r1 sum of the divisors, r2 and r3 a pair, r6 and r7 the pair as it shrinks, r8 a remainder. */
static const uint32_t divisors[] = {
    CODE(SET, 1, 0, 0),
    CODE(SET, 2, 0, 1),
    CODE(SET, 3, 0, 1),         /*  2: next a: b from 1 on */
    CODE(MOVE, 6, 2, 0),        /*  3: a pair */
    CODE(MOVE, 7, 3, 0),
    CODE(BRANCH_ZERO, 7, 0, 4), /*  5: to 10 */
    CODE(REMAINDER, 8, 6, 7),
    CODE(MOVE, 6, 7, 0),
    CODE(MOVE, 7, 8, 0),
    CODE(BRANCH, 0, 0, -5),     /*  9: to 5 */
    CODE(ADD, 1, 1, 6),         /* 10 */
    CODE(ADD_SMALL, 3, 0, 7),
    CODE(BRANCH_LESS, 3, 0, -10),
    CODE(ADD_SMALL, 2, 0, 3),
    CODE(BRANCH_LESS, 2, 0, -13),
    CODE(HALT, 0, 0, 0),
};

/* Runs until it halts; returns register 1, where programs leave their result. */
static uint32_t run(const uint32_t *code, uint32_t limit)
{
    static const void *const labels[] = {&&set,  &&move,  &&add,         &&add_small,   &&remainder, &&load,
                                         &&store, &&branch_less, &&branch_zero, &&branch, &&halt};
    uint32_t r[REGISTERS] = {limit};
    uint32_t word;
#define A r[word >> 8 & 15]
#define B r[word >> 12 & 15]
#define C r[word >> 16 & 15]
#define SMALL ((int16_t)(word >> 16))
#define NEXT                       \
    do {                           \
        word = *code++;            \
        goto *labels[word & 0xff]; \
    } while (0)

    NEXT;
set: A = (uint32_t)SMALL; NEXT;
move: A = B; NEXT;
add: A = B + C; NEXT;
add_small: A += (uint32_t)SMALL; NEXT;
remainder: A = B % C; NEXT;
load: A = memory[B % MEMORY]; NEXT;
store: memory[B % MEMORY] = (uint8_t)A; NEXT;
branch_less: code += A < B ? SMALL : 0; NEXT;
branch_zero: code += A == 0 ? SMALL : 0; NEXT;
branch: code += SMALL; NEXT;
halt: return r[1];
}

int main(int argc, char **argv)
{
    uint64_t seed = 34;
    uint64_t checksum = 0;
    int rounds = scaled_rounds(argc, argv, 320);
    for (int i = 0; i < rounds; i++) {
        memset(memory, 0, sizeof memory);
        checksum = mix(checksum, run(sieve, 30000 + random_below(&seed, MEMORY - 30000)));
        checksum = mix(checksum, run(divisors, 500 + random_below(&seed, 500)));
    }
    printf("%016" PRIx64 "\n", checksum);
    return 0;
}
