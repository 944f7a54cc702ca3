// Each probe of these functions is deleted in turn: what execution by brute force shows to break the bound, the verifier
// reports. All kinds of loops, calls that keep to the contract, known callees, arms of different length.
// RUN: %clang -O1 -S -emit-llvm -fno-unroll-loops %s -o %t.1.ll
// RUN: %clang -O2 -S -emit-llvm -fno-vectorize -fno-slp-vectorize %s -o %t.2.ll
// RUN: %clang -O0 -S -emit-llvm %s -o %t.0.ll
// RUN: %mutate %t.1.ll -options='mode=flag' | FileCheck %s
// RUN: %if long %{ %mutate %t.1.ll -options='mode=budget;bound=100' | FileCheck %s %}
// RUN: %if long %{ %mutate %t.2.ll -options='mode=flag;bound=150' | FileCheck %s %}
// RUN: %mutate %t.2.ll -options='mode=budget' | FileCheck %s
// RUN: %if long %{ %mutate %t.0.ll -options='mode=flag' | FileCheck %s %}
// CHECK: {{[0-9]+}} deletions, {{[1-9][0-9]*}} break the bound, 0 of them missed
#include <stdint.h>
#define SMALL __attribute__((noinline)) static

long other(long);
extern volatile long any;

SMALL long leaf(long x) { return x * 31 + (x >> 5); }
SMALL long leaf_loop(long x) {
  for (int i = 0; i < 20; i++) x = x * 5 + (x >> 3);
  return x;
}
long known(long x) { return leaf(x) + leaf(x + 1) + leaf_loop(x) + leaf_loop(x + 3) + leaf_loop(x + 4); }
long contract(long x) { return other(other(other(x))); }
long pointer(long (*f)(long), long x) { return f(f(f(f(x)))); }
void up(uint32_t *p, uint64_t n) {
  for (uint64_t i = 0; i < n; i++) p[i] += 3;
}
void down(uint32_t *p, uint32_t n) {
  while (n-- > 0) p[n] ^= n;
}
void by_four(uint32_t *p, uint32_t n) {
  for (uint32_t i = 0; i < n; i += 4) p[i] = i;
}
void pointers(uint32_t *p, uint32_t *end) {
  for (; p != end; p++) *p = 7;
}
uint16_t narrow(uint16_t from, uint16_t to, volatile uint16_t *out) {
  uint16_t sum = 0;
  for (uint16_t i = from; i != to; i++) *out = sum += i;
  return sum;
}
long find(const char *p, long n) {
  for (long i = 0; i < n; i++)
    if (p[i] == 'x') return i;
  return -1;
}
unsigned long flip(unsigned long x) {
  do x ^= x >> 3, x *= 5;
  while (any > (long)x);
  return x;
}
struct node { struct node *next; long value; };
long list(const struct node *node) {
  long sum = 0;
  for (; node; node = node->next) sum += node->value;
  return sum;
}
long short_loop(const long *p) {
  long sum = 0;
  for (int i = 0; i < 16; i++) sum = sum * 3 + p[i];
  return sum;
}
long constant(const long *p) {
  long sum = 0;
  for (int i = 0; i < 1000; i++) sum = sum * 3 + p[i & 7];
  return sum;
}
long nest(const long *p, int n) {
  long sum = 0;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < 10; i++) sum = sum * 3 + p[i + j];
  return sum;
}
long nest_of_two(const long *p, int n, int m) {
  long sum = 0;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++) sum += p[i] ^ p[j];
  return sum;
}
double triangle(const double *p, int n) {
  double all = 0;
  for (int j = 0; j < n; j++) {
    double sum = 0;
    for (int i = 0; i < j; i++) sum += p[i] * p[p[i] < 1];
    all += sum;
  }
  return all;
}
long lists(struct node *const *heads, int n) {
  long sum = 0;
  for (int j = 0; j < n; j++)
    for (const struct node *node = heads[j]; node; node = node->next) sum = sum * 3 + node->value / 7;
  return sum;
}
long divide(long x, long y) {
  for (int i = 0; i < 100; i++) x = x / (y | 1) + any / (x | 1) + other(y) / 3;
  return x;
}
long arms(long x, long y) {
  switch (any) {
  case 0: return x;
  case 1: x = other(x); break;
  case 2: for (int i = 0; i < 9; i++) x = x / (y | 1) + i; break;
  case 3: x = leaf_loop(x) + leaf_loop(y); break;
  }
  return x * 3 + leaf_loop(y);
}
long inner_exit(const long *p, int n) {
  long sum = 0;
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++) {
      if (p[i] == j) goto out;
      sum += p[i];
    }
    if (sum == 77) break;
  }
out:
  return sum;
}
long forever(void) {
  for (;;) any++;
}
long straight(long x) {
#define STEP x = (x ^ 0x1234567) * 0x9e3779b9 + (x >> 7); x = x / (any | 1);
#define STEPS STEP STEP STEP STEP STEP
  STEPS STEPS
  return x;
}
