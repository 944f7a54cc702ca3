// Functions that call themselves and each other, deep and wide, directly, through pointers and as tail calls.
// RUN: %same %s
#include <stdio.h>
#include <stdlib.h>

struct tree { struct tree *left, *right; long value; };

static struct tree *build(int depth, long value) {
  struct tree *tree = malloc(sizeof *tree);
  *tree = (struct tree){depth ? build(depth - 1, value * 2) : 0, depth ? build(depth - 1, value * 2 + 1) : 0, value};
  return tree;
}
static long total(const struct tree *tree) { return tree ? total(tree->left) * 3 + total(tree->right) + tree->value : 1; }
static unsigned ackermann(unsigned m, unsigned n) {
  return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
static int odd(unsigned n);
__attribute__((noinline)) static int even(unsigned n) { return n == 0 ? 1 : odd(n - 1); }
__attribute__((noinline)) static int odd(unsigned n) { return n == 0 ? 0 : even(n - 1); }
typedef unsigned step(unsigned, unsigned, void *);
__attribute__((noinline)) static unsigned by_pointer(unsigned n, unsigned x, void *again) {
  return n == 0 ? x : ((step *)again)(n - 1, x * 33 + n, again) ^ (x >> 3);
}
static void permute(int *a, int n, int k, long *sum) {
  if (k == n) {
    for (int i = 0; i < n; i++) *sum = *sum * 5 + a[i];
    return;
  }
  for (int i = k; i < n; i++) {
    int t = a[k]; a[k] = a[i]; a[i] = t;
    permute(a, n, k + 1, sum);
    t = a[k]; a[k] = a[i]; a[i] = t;
  }
}

int main(void) {
  int a[6] = {1, 2, 3, 4, 5, 6};
  long sum = 0;
  permute(a, 6, 0, &sum);
  printf("%ld %u %d %d %u %ld\n", total(build(9, 1)), ackermann(2, 30), even(1001), odd(777),
         by_pointer(500, 7, (void *)by_pointer), sum);
  return 0;
}
