// However a loop with slack is left (by an exception that a call throws, by longjmp, also from recursion, by a call that comes back
// behind it), the budget is without its slack then, and what was spent is not forgotten: the budget falls with each round. So it is
// where there is no slack and the budget is in a register.
// RUN: %clangxx -O2 -c %s -o %t.budget.o %include %with -caudal-probes='mode=budget;verify'
// RUN: %clangxx %t.budget.o %every -o %t.budget && %t.budget
// RUN: %clangxx -O2 -DCREDIT -c %s -o %t.clock.o %include %with -caudal-probes='mode=clock;verify'
// RUN: %clangxx %t.clock.o %every -o %t.clock && %t.clock
// RUN: llvm-objdump -dr --no-show-raw-insn %t.budget.o | FileCheck %s
// CHECK-LABEL: <_ZL7unwindsv>:
// CHECK: caudal_probe_cold_carried_v1_r
// CHECK-LABEL: <_ZL13unwindsWithinv>:
// CHECK: caudal_probe_cold_carried_v1_r
// CHECK-LABEL: <_ZL14thrownBySimplev>:
// CHECK: caudal_probe_cold_carried_v1_r
// CHECK-LABEL: <_ZL10leavesNestv>:
// CHECK: {{subq \$-0x80|addq \$0x80}}
// CHECK-LABEL: <_ZL8jumpsOutPKc>:
// CHECK: caudal_probe_cold_carried_v1
#include <csetjmp>
#include <cstdio>
#include <cstdlib>

#include "caudal/probe.h"

enum { ROUNDS = 1000 };
static char text[] = "01234567,89c";
static volatile long sink;
static jmp_buf back;

// Has probes, and goes on as told: returns, throws or jumps.
enum class How { Returns, Throws, Jumps };
__attribute__((noinline)) static long spends(const char *at, How how, long times = 1) {
  long sum = 0;
  for (long i = 0; i < times; i++) sum += *at / (1 + (sum & 7));
  if (how == How::Throws) throw sum;
  if (how == How::Jumps) longjmp(back, 1);
  return sum;
}

// Has none.
__attribute__((noinline)) static long throws(long x) {
  if (x == -1) return 1;
  throw x;
}

static bool isDigit(char c) { return c >= '0' && c <= '9'; }
// Else what is left would stay in memory, for a call is frequent, or for the moves around it, the paths out and what unwinds are more code
// than what they spare in probes.
static bool seldom(bool is) { return __builtin_expect_with_probability(is, 0, 0.999); }
static inline const char *skip(const char *at) {
  for (; *at == '-'; at++) {}
  for (; *at == '+'; at++) {}
  for (; *at == '.'; at++) {}
  for (; *at == ' '; at++) {}
  for (; *at == '_'; at++) {}
  for (; *at == '/'; at++) {}
  for (; *at == '='; at++) {}
  return at;
}

// From within the inner loop, which the call leaves.
template <typename Call> __attribute__((always_inline)) static inline long scanWithin(const char *at, Call call) {
  long total = 0;
  for (; *at; at++) {
    long number = 0;
    at = skip(at);
    for (;; at++) {
      if (!isDigit(*at)) break;
      number = number * 10 + (*at - '0');
      if (seldom(*at == '7') && call(at) == 1) break;
    }
    total += number;
  }
  return total;
}

__attribute__((noinline)) static long jumpsOut(const char *at) {
  return scanWithin(at, [](const char *to) { return spends(to, How::Jumps); });
}
static void jumps() {
  if (setjmp(back) == 0) sink = jumpsOut(text);
}

__attribute__((noinline)) static void unwinds() {
  try {
    sink = scanWithin(text, [](const char *at) { return spends(at, How::Throws); });
  } catch (long) {
  }
}

// Caught in the loop around.
__attribute__((noinline)) static void unwindsWithin() {
  long total = 0;
  for (const char *at = text; *at; at++) {
    at = skip(at);
    try {
      for (; isDigit(*at); at++)
        if (seldom(*at == '7')) total += spends(at, How::Throws);
      at = skip(at);
    } catch (long x) {
      total += x;
    }
  }
  sink = total;
}

// By something without probes, for which nothing would have to be put back if it did not throw.
__attribute__((noinline)) static void thrownBySimple() {
  long total = 0;
  for (const char *at = text; *at; at++) {
    at = skip(at);
    try {
      for (; isDigit(*at); at++)
        if (seldom(*at == '7')) total += throws(total);
    } catch (long x) {
      total += x & 3;
    }
  }
  sink = total;
}

// A try that succeeds ends the inner loop.
__attribute__((noinline)) static void tries() {
  long total = 0;
  for (const char *at = text; *at; at++) {
    long number = 0;
    for (;;) {
      if (seldom(*at == '7')) {
        try {
          total += spends(at, How::Returns);
          break;
        } catch (long x) {
          total += x & 3;
        }
      }
      if (!isDigit(*at)) break;
      number = number * 10 + *at++;
    }
    total += number;
  }
  sink = total;
}

// A call that comes back behind all loops.
__attribute__((noinline)) static void leavesNest() {
  long total = 0;
  for (const char *at = text;; at++) {
    for (; isDigit(*at); at++) total = total * 3 + *at;
    if (seldom(*at == 'c')) {
      try {
        total += spends(at, How::Returns, 300);
        break;
      } catch (long x) {
        total += x;
      }
    }
  }
  sink = total;
}

// Walks a tree by recursion; what it calls at a leaf jumps away.
struct Node {
  Node *below, *next;
  long value;
};
static Node leaf = {nullptr, nullptr, 7}, tree[] = {{nullptr, nullptr, 1}, {&leaf, nullptr, 5}};
static Node *volatile top = tree;
static volatile long often = 4;
static volatile bool isToJump = true;
__attribute__((noinline)) static void jumpsAway() noexcept {
  if (isToJump) longjmp(back, 1);
}
__attribute__((noinline)) static long walk(const Node *node, long sum) noexcept {
  if (!node) return sum;
  long total = node->value ^ sum;
  for (; node; node = node->next) {
    if (seldom(node->value == 7)) jumpsAway();
    total = total * 3 + walk(node->below, total);
  }
  return total;
}
__attribute__((noinline)) static long walkAll(const Node *first, long times, long *found) {
  long sum = 0;
  for (long i = 0; i < times; i++) {
    sum += i;
    const Node *node = first + (found[i & 7] & 1);
    if (node->value > 3) do {
        sum = sum * 10 + walk(node->below, sum);
        node = node->next;
      } while (node);
    found[i & 7] = sum | 1;
    sum = sum / found[(i + 1) & 7];
  }
  return sum;
}
static void recurses() {
  long found[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  if (setjmp(back) == 0) sink = walkAll(top, often, found);
}

static long left() {
#if defined(CREDIT)
  return caudal_probe_v1.credit;
#else
  return caudal_probe_v1.budget;
#endif
}

static int check(const char *what, void (*run)(), long least) {
#if defined(CREDIT)
  caudal_probe_v1.credit = 0x3fffffff;
#endif
  long before = left();
  for (int i = 0; i < ROUNDS; i++) run();
  long spent = before - left();
  if (spent >= least * ROUNDS) return 0;
  std::printf("%s: %ld units spent in %d rounds, at least %ld in each expected\n", what, spent, ROUNDS, least);
  return 1;
}

int main() {
  caudal_probe_every_v1 = 0;
  caudal_probe_disarm_v1();
  const uint64_t visits = caudal_probe_cold_visits_v1();
  // One round of most is less than the slack; of the last but one, a call is nearly all.
  return check("jumps", jumps, 1) + check("unwinds", unwinds, 1) + check("unwindsWithin", unwindsWithin, 1) +
         check("thrownBySimple", thrownBySimple, 30) + check("tries", tries, 1) + check("leavesNest", leavesNest, 1000) + check("recurses", recurses, 1) +
         (caudal_probe_cold_visits_v1() != visits);
}
