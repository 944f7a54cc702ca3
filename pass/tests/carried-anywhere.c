// What is left of the budget outlives calls in a register that they keep, and a due probe says which: no moves to r11 and back.
// Without calls it is r11, in a shared object as well, which cannot name the entry. At work it comes out the same, with a yield at
// every probe.
// RUN: %clang -O2 -S %s -o - %with -caudal-probes='mode=budget;verify' | FileCheck %s
// RUN: %clang -O2 -fPIC -S %s -o - %with -caudal-probes='mode=budget;verify' | FileCheck --check-prefix=SHARED %s
// RUN: %clang -O2 %s -o %t.plain && %t.plain > %t.expected
// RUN: %clang -O2 -c %s -o %t.o %with -caudal-probes='mode=budget;verify' && %clang %t.o %every -o %t.every
// RUN: %t.every 2> %t.yields > %t.out && diff %t.expected %t.out
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// CHECK-LABEL: across:
// CHECK: subq ${{[0-9]+}}, %[[KEPT:rbx|rbp|r12|r13|r14|r15]]
// CHECK-NEXT: jl
// CHECK-NOT: caudal_probe_cold_carried_v1{{$}}
// CHECK: callq caudal_probe_cold_carried_v1_[[KEPT]]{{$}}
// CHECK-LABEL: alone:
// CHECK: subq ${{[0-9]+}}, %r11
// CHECK: callq caudal_probe_cold_carried_v1{{$}}
// SHARED-LABEL: across:
// SHARED-NOT: caudal_probe_cold_carried_v1_
__attribute__((noinline)) long across(long n, unsigned char *bytes) {
  long sum = 0;
  for (long i = 0; i < n; i++) {
    memset(bytes, (int)i, (size_t)n);
    for (unsigned x = (unsigned)i + 1; x != 1; x = x % 2 ? 3 * x + 1 : x / 2)
      sum += x ^ bytes[x & 255];
  }
  return sum;
}

__attribute__((noinline)) long alone(unsigned n) {
  long sum = 0;
  for (unsigned i = 1; i < n; i++)
    for (unsigned x = i; x != 1; x = x % 2 ? 3 * x + 1 : x / 2)
      sum += x;
  return sum;
}

int main(void) {
  unsigned char *bytes = malloc(300);
  printf("%ld %ld\n", across(300, bytes), alone(300));
  free(bytes);
}
