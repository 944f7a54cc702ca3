#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPS 223
#define MAXN 16

static int cols[MAXN], diag1[2 * MAXN], diag2[2 * MAXN], place[MAXN];

static long solve(int n, int row)
{
    if (row == n)
        return 1;
    long count = 0;
    for (int c = 0; c < n; c++) {
        if (cols[c] || diag1[row + c] || diag2[row - c + n])
            continue;
        cols[c] = diag1[row + c] = diag2[row - c + n] = 1;
        place[row] = c;
        count += solve(n, row + 1);
        cols[c] = diag1[row + c] = diag2[row - c + n] = 0;
    }
    return count;
}

static int safe(const int *q, int row, int c)
{
    for (int i = 0; i < row; i++)
        if (q[i] == c || abs(q[i] - c) == row - i)
            return 0;
    return 1;
}

static long solve_scan(int n, int row, int *q)
{
    if (row == n)
        return 1 + q[0];
    long count = 0;
    for (int c = 0; c < n; c++)
        if (safe(q, row, c)) {
            q[row] = c;
            count += solve_scan(n, row + 1, q);
        }
    return count;
}

int main(void)
{
    long total = 0;
    int q[MAXN];
    for (int r = 0; r < REPS; r++) {
        for (int n = 5; n <= 10; n++)
            total = total * 3 % 1000000007L + solve(n, 0);
        for (int n = 4; n <= 9; n++)
            total += solve_scan(n, 0, q);
    }
    printf("nqueens %ld\n", total);
    return 0;
}
