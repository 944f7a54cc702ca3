#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>

#define REPS 118

static volatile int fib_n = 30;

static unsigned fib(int n)
{
    if (n < 2)
        return (unsigned)n;
    return fib(n - 1) + fib(n - 2);
}

static int ack(int m, int n)
{
    if (m == 0)
        return n + 1;
    if (n == 0)
        return ack(m - 1, 1);
    return ack(m - 1, ack(m, n - 1));
}

static int tak(int x, int y, int z)
{
    if (y >= x)
        return z;
    return tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y));
}

static int peg[3][32];
static int top[3];
static uint64_t moves;

static void hanoi(int n, int from, int to, int via)
{
    if (n == 0)
        return;
    hanoi(n - 1, from, via, to);
    int d = peg[from][--top[from]];
    if (top[to] > 0 && peg[to][top[to] - 1] < d)
        abort();
    peg[to][top[to]++] = d;
    moves += (uint64_t)d;
    hanoi(n - 1, via, to, from);
}

int main(void)
{
    uint64_t sum = 0;
    for (int r = 0; r < REPS; r++) {
        sum += fib(fib_n + (r & 1));
        sum = sum * 3 + (uint64_t)ack(3, 6 + (r & 1));
        sum = sum * 3 + (uint64_t)tak(16 + (r & 1), 10, 5);
        int disks = 16;
        top[0] = top[1] = top[2] = 0;
        for (int d = disks; d > 0; d--)
            peg[0][top[0]++] = d;
        hanoi(disks, 0, 2, 1);
        sum += moves;
    }
    printf("recursion %llu\n", (unsigned long long)sum);
    return 0;
}
