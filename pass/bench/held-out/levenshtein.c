#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>

#define REPS 1900
#define MAXL 400

static uint32_t st = 7;

static uint32_t rnd(void)
{
    st ^= st << 13;
    st ^= st >> 17;
    st ^= st << 5;
    return st;
}

static int min3(int a, int b, int c)
{
    int m = a < b ? a : b;
    return m < c ? m : c;
}

static int levenshtein(const char *s, const char *t)
{
    int n = (int)strlen(s), m = (int)strlen(t);
    int *prev = malloc(sizeof(int) * (size_t)(m + 1));
    int *cur = malloc(sizeof(int) * (size_t)(m + 1));
    for (int j = 0; j <= m; j++)
        prev[j] = j;
    for (int i = 1; i <= n; i++) {
        cur[0] = i;
        for (int j = 1; j <= m; j++) {
            int cost = s[i - 1] == t[j - 1] ? 0 : 1;
            cur[j] = min3(prev[j] + 1, cur[j - 1] + 1, prev[j - 1] + cost);
        }
        int *tmp = prev;
        prev = cur;
        cur = tmp;
    }
    int d = prev[m];
    free(prev);
    free(cur);
    return d;
}

static int table[MAXL + 1][MAXL + 1];

static int lcs(const char *s, const char *t, char *out)
{
    int n = (int)strlen(s), m = (int)strlen(t);
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= m; j++) {
            if (s[i - 1] == t[j - 1])
                table[i][j] = table[i - 1][j - 1] + 1;
            else if (table[i - 1][j] >= table[i][j - 1])
                table[i][j] = table[i - 1][j];
            else
                table[i][j] = table[i][j - 1];
        }
    int len = table[n][m], k = len, i = n, j = m;
    out[len] = 0;
    while (i > 0 && j > 0) {
        if (s[i - 1] == t[j - 1]) {
            out[--k] = s[i - 1];
            i--;
            j--;
        } else if (table[i - 1][j] >= table[i][j - 1])
            i--;
        else
            j--;
    }
    return len;
}

static void make(char *s, int n)
{
    for (int i = 0; i < n; i++)
        s[i] = (char)('a' + rnd() % 6);
    s[n] = 0;
}

int main(void)
{
    char a[MAXL + 1], b[MAXL + 1], out[MAXL + 1];
    uint64_t sum = 0;
    for (int r = 0; r < REPS; r++) {
        make(a, 200 + (int)(rnd() % 200));
        make(b, 200 + (int)(rnd() % 200));
        sum = sum * 31 + (uint64_t)levenshtein(a, b);
        int l = lcs(a, b, out);
        for (int i = 0; i < l; i++)
            sum = sum * 131 + (unsigned char)out[i];
    }
    printf("levenshtein %llu\n", (unsigned long long)sum);
    return 0;
}
