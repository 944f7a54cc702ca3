// Paths are as long as they may be and no longer: what insertion adds to them is planned for where it is added.
// RUN: %clang -O2 -fno-unroll-loops -fno-vectorize -fexceptions -S -emit-llvm %s -o %t.ll
// RUN: %probes -passes='caudal-probes<mode=budget;bound=64;verify>,verify' %t.ll -o /dev/null
// RUN: %probes -passes='caudal-probes<mode=flag;bound=64;verify>,verify' %t.ll -o /dev/null
// RUN: %probes -passes='caudal-probes<mode=budget;bound=80;verify>,verify' %t.ll -o /dev/null
// RUN: %probes -passes='caudal-probes<mode=budget;bound=100;verify>,verify' %t.ll -o /dev/null
// RUN: %probes -passes='caudal-probes<mode=clock;bound=100;verify>,verify' %t.ll -o /dev/null
// RUN: %probes -passes='caudal-probes<mode=flag;bound=100;verify>,verify' %t.ll -o /dev/null
// RUN: %probes -passes='caudal-probes<mode=budget;verify>,verify' %t.ll -o /dev/null
// RUN: %probes -passes='caudal-probes<mode=clock;verify>,verify' %t.ll -o /dev/null
// RUN: %probes -passes='caudal-probes<mode=budget;bound=1000;verify>,verify' %t.ll -o /dev/null
#include <stdint.h>
#define APART __attribute__((noinline)) static

// Recursion: what a function may take that is called before it is planned is what it does take, with its probes.
APART uint64_t ways_to_pay(int amount, const int *coins, int kinds) {
  if (amount == 0) return 1;
  if (amount < 0 || kinds == 0) return 0;
  return ways_to_pay(amount - coins[0], coins, kinds) + ways_to_pay(amount, coins + 1, kinds - 1);
}
uint64_t pay(int amount) {
  static const int coins[] = {50, 20, 10, 5, 2};
  return ways_to_pay(amount, coins, 5);
}

// Twice, and each iteration takes as long as the chain from one to the next, not as its instructions.
#define FOUR(x) x = x * 5 ^ y, x = x * 9 ^ y, x = x * 3 ^ y, x = x * 7 ^ y
uint64_t chained(uint64_t x, const volatile uint64_t *p) {
  for (int i = 0; i < 2; i++) {
    uint64_t y = p[i];
    FOUR(x), FOUR(x), FOUR(x), FOUR(x), FOUR(x), FOUR(x), FOUR(x), FOUR(x);
  }
  return x;
}

// What the paths of an interpreter share behind them is long: it has a probe of its own at its end.
uint64_t dispatch(const uint8_t *code, uint64_t x, uint64_t y) {
  for (;;) {
    switch (*code++) {
    case 0: x += y; break;
    case 1: x ^= y; break;
    case 2: x *= y; break;
    case 3: x -= y; break;
    case 4: x = x >> 3 | y; break;
    default: return x;
    }
    x = x / (y | 1) + x / (x | 3), y = y / (x | 5), x = x / (y | 7);
    x = x / (y | 1) + x / (x | 3), y = y / (x | 5), x = x / (y | 7);
    x = x / (y | 1) + x / (x | 3), y = y / (x | 5), x = x / (y | 7);
    x = x / (y | 1) + x / (x | 3), y = y / (x | 5), x = x / (y | 7);
    x = x / (y | 1) + x / (x | 3), y = y / (x | 5), x = x / (y | 7);
    x = x / (y | 1) + x / (x | 3), y = y / (x | 5), x = x / (y | 7);
  }
}

// What a loop counts to is computed in front of it, behind the last probe there.
uint64_t far(uint8_t *p, uint64_t from, uint64_t to, uint64_t x) {
  for (unsigned i = 0; i < 2; i++) x = x / (from | 1) + 1;
  for (uint64_t i = from * 4 + 1; i < to; i += 8) p[i] ^= 5;
  return x;
}

// Who is unwound to has come the longest path that every function may take, however short the function's own part is.
void may_throw(void), cleanup(long *);
APART long unwound(long n, const long *p) {
  long held __attribute__((cleanup(cleanup))) = n;
  if (n == 0) return 0;
  may_throw();
  return unwound(n - 1, p + held) + p[n] / (p[1] | 1) / (p[2] | 1) / (p[3] | 1);
}
long unwinds(long n, const long *p) { return unwound(n, p); }
