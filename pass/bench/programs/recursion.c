/*
 * Three recursions: placing queens (a tree with a loop in every node), Ackermann's function (deep, calls in arguments)
 * and the number of ways to pay an amount with given coins (a binary tree).
 * Stands for code in which calls are the only way to come round again, with little work between them.
 */
#include <inttypes.h>
#include <stdio.h>

#include "input.h"

/* Places a queen in each row from the given one on; the sets say which columns and diagonals are attacked. */
static uint64_t queens(uint32_t board, uint32_t columns, uint32_t left, uint32_t right)
{
    if (columns == board) {
        return 1;
    }
    uint64_t solutions = 0;
    uint32_t open = board & ~(columns | left | right);
    while (open != 0) {
        uint32_t queen = open & -open;
        open ^= queen;
        solutions += queens(board, columns | queen, (left | queen) << 1, (right | queen) >> 1);
    }
    return solutions;
}

static uint32_t ackermann(uint32_t m, uint32_t n)
{
    if (m == 0) {
        return n + 1;
    }
    if (n == 0) {
        return ackermann(m - 1, 1);
    }
    return ackermann(m - 1, ackermann(m, n - 1));
}

static uint64_t ways_to_pay(int amount, const int *coins, int kinds)
{
    if (amount == 0) {
        return 1;
    }
    if (amount < 0 || kinds == 0) {
        return 0;
    }
    return ways_to_pay(amount - coins[0], coins, kinds) + ways_to_pay(amount, coins + 1, kinds - 1);
}

int main(int argc, char **argv)
{
    static const int coins[] = {50, 25, 10, 5, 1};
    uint64_t seed = 3;
    uint64_t checksum = 0;

    int rounds = scaled_rounds(argc, argv, 200);
    for (int i = 0; i < rounds; i++) {
        uint32_t size = 10 + random_below(&seed, 3);
        checksum = mix(checksum, queens((1u << size) - 1, 0, 0, 0));
        checksum = mix(checksum, ackermann(3, 7 + random_below(&seed, 2)));
        checksum = mix(checksum, ways_to_pay(100 + (int)random_below(&seed, 200), coins, 5));
    }
    printf("%016" PRIx64 "\n", checksum);
    return 0;
}
