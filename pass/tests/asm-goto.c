// A probe that somebody has written with `asm goto` comes back in more than one place: what is left stays in memory in the loops around it and
// in recursion. Other asm goto is in loops that have it in a register.
// RUN: %clang -O2 -S -o - %s %include %with -caudal-probes='mode=budget;verify' | FileCheck %s
// RUN: %clang -O2 -S -o /dev/null %s %include %with -caudal-probes='mode=clock;verify'

#define SELDOM(is) __builtin_expect_with_probability(is, 1, 0.00001)
#define OWN_PROBE(fine)                                                                                                        \
  __asm__ goto("subq $1, %%fs:caudal_probe_v1@tpoff+8\n jge %l[fine]\n call caudal_probe_cold_budget_v1"                       \
               :                                                                                                               \
               :                                                                                                               \
               : "memory", "r11", "cc"                                                                                         \
               : fine)

// CHECK-LABEL: within_loop:
// CHECK-NOT: caudal_probe_cold_carried_v1
// CHECK: .size within_loop
long within_loop(const long *p, long n) {
  long sum = 1;
  for (long j = 0; j != sum; ++j) {
    long c = p[sum];
    if (SELDOM(c == 12345)) OWN_PROBE(fine);
  fine:
    sum = (c ^ n) & 1023;
  }
  return sum;
}

// CHECK-LABEL: within_circle:
// CHECK-NOT: caudal_probe_cold_carried_v1
// CHECK: .size within_circle
__attribute__((noinline)) long within_circle(const long *p, long n) {
  if (n < 2) return p[n & 1];
  if (SELDOM(n == 12345)) OWN_PROBE(fine);
fine:
  return within_circle(p, n - 1) + within_circle(p, n - 2);
}

// CHECK-LABEL: others:
// CHECK: caudal_probe_cold_carried_v1
// CHECK: .size others
long others(const long *p, long n) {
  long sum = 1;
  for (long j = 0; j != sum; ++j) {
    long c = p[sum];
    __asm__ goto("testq %0, %0\n js %l[negative]" : : "r"(c) : "cc" : negative);
    sum = (c ^ n) & 1023;
    continue;
  negative:
    sum = c & 7;
  }
  return sum;
}
