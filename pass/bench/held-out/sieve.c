#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define REPS 78
#define LIMIT 2000000

static int sieve_bytes(unsigned char *composite, int n)
{
    memset(composite, 0, (size_t)n + 1);
    int count = 0;
    for (int i = 2; i <= n; i++) {
        if (composite[i])
            continue;
        count++;
        for (long long j = (long long)i * i; j <= n; j += i)
            composite[j] = 1;
    }
    return count;
}

static int linear_sieve(int *lp, int *primes, int n)
{
    int np = 0;
    memset(lp, 0, sizeof(int) * ((size_t)n + 1));
    for (int i = 2; i <= n; i++) {
        if (lp[i] == 0) {
            lp[i] = i;
            primes[np++] = i;
        }
        for (int j = 0; j < np && primes[j] <= lp[i]; j++) {
            long long p = (long long)primes[j] * i;
            if (p > n)
                break;
            lp[p] = primes[j];
        }
    }
    return np;
}

int main(void)
{
    unsigned char *c = malloc(LIMIT + 1);
    int *lp = malloc(sizeof(int) * (LIMIT + 1));
    int *pr = malloc(sizeof(int) * (LIMIT / 2));
    uint64_t sum = 0;
    for (int r = 0; r < REPS; r++) {
        int n = LIMIT - r * 1000;
        sum += (uint64_t)sieve_bytes(c, n);
        int m = n / 4;
        int np = linear_sieve(lp, pr, m);
        sum = sum * 7 + (uint64_t)np + (uint64_t)pr[np - 1];
        for (int i = 2; i <= m; i += 97)
            sum += (uint64_t)lp[i];
    }
    printf("sieve %llu\n", (unsigned long long)sum);
    free(c);
    free(lp);
    free(pr);
    return 0;
}
