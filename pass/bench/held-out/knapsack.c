#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>

#define REPS 347
#define ITEMS 100
#define CAP 10000

struct item {
    int weight;
    int value;
};

static uint32_t seed = 99;

static uint32_t rnd(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 10;
}

static int knapsack01(const struct item *it, int n, int cap, int *dp, unsigned char *keep)
{
    memset(dp, 0, sizeof(int) * (size_t)(cap + 1));
    memset(keep, 0, (size_t)n * (size_t)(cap + 1));
    for (int i = 0; i < n; i++)
        for (int w = cap; w >= it[i].weight; w--) {
            int cand = dp[w - it[i].weight] + it[i].value;
            if (cand > dp[w]) {
                dp[w] = cand;
                keep[i * (cap + 1) + w] = 1;
            }
        }
    return dp[cap];
}

static int coin_change(const int *coins, int n, int target, int *dp)
{
    dp[0] = 0;
    for (int t = 1; t <= target; t++) {
        dp[t] = 1 << 28;
        for (int i = 0; i < n; i++)
            if (coins[i] <= t && dp[t - coins[i]] + 1 < dp[t])
                dp[t] = dp[t - coins[i]] + 1;
    }
    return dp[target];
}

static int lis(const int *a, int n, int *tail)
{
    int len = 0;
    for (int i = 0; i < n; i++) {
        int lo = 0, hi = len;
        while (lo < hi) {
            int mid = (lo + hi) / 2;
            if (tail[mid] < a[i])
                lo = mid + 1;
            else
                hi = mid;
        }
        tail[lo] = a[i];
        if (lo == len)
            len++;
    }
    return len;
}

int main(void)
{
    struct item it[ITEMS];
    int *dp = malloc(sizeof(int) * (CAP + 1));
    unsigned char *keep = malloc((size_t)ITEMS * (CAP + 1));
    int coins[8] = {1, 7, 13, 29, 50, 101, 211, 503};
    int *seq = malloc(sizeof(int) * CAP), *tail = malloc(sizeof(int) * CAP);
    uint64_t sum = 0;
    for (int r = 0; r < REPS; r++) {
        for (int i = 0; i < ITEMS; i++) {
            it[i].weight = 50 + (int)(rnd() % 400);
            it[i].value = 1 + (int)(rnd() % 1000);
        }
        sum = sum * 17 + (uint64_t)knapsack01(it, ITEMS, CAP, dp, keep);
        int w = CAP;
        for (int i = ITEMS - 1; i >= 0; i--)
            if (keep[i * (CAP + 1) + w]) {
                sum += (uint64_t)i;
                w -= it[i].weight;
            }
        coins[2] = 11 + (int)(rnd() % 9);
        sum = sum * 17 + (uint64_t)coin_change(coins, 8, CAP - r, dp);
        for (int i = 0; i < CAP; i++)
            seq[i] = (int)(rnd() % 1000000);
        sum += (uint64_t)lis(seq, CAP, tail);
    }
    printf("knapsack %llu\n", (unsigned long long)sum);
    free(dp); free(keep); free(seq); free(tail);
    return 0;
}
