// A loop in steps that differ from one entry to the next is unrolled without a value for each copy that the loop around would have
// to keep: strength reduction does not see what it counts by.
// RUN: %clang -O2 -S -emit-llvm %s -o - %with -caudal-probes='mode=budget;verify' | FileCheck %s
// RUN: %clang -O2 %s -o %t.plain && %t.plain > %t.expected
// RUN: %clang -O2 -c %s -o %t.o %with -caudal-probes='mode=budget;verify' && %clang %t.o %every -o %t.every
// RUN: %t.every 2> %t.yields > %t.out && diff %t.expected %t.out
#include <stdio.h>

static unsigned char composite[20001];

// CHECK-LABEL: define {{.*}}@primes(
// CHECK-COUNT-2: store i8 1
// CHECK: %[[SUM:[0-9]+]] = add {{.*}}i64
// CHECK-NEXT: %[[NEXT:[0-9]+]] = freeze i64 %[[SUM]]
// CHECK: icmp sgt i64 %[[NEXT]]
// CHECK-NOT: store i8 1
// CHECK: ret i32
__attribute__((noinline)) int primes(long n) {
  int count = 0;
  for (long i = 2; i <= n; i++) {
    if (composite[i])
      continue;
    count++;
    for (long j = i * i; j <= n; j += i)
      composite[j] = 1;
  }
  return count;
}

int main(void) { printf("%d\n", primes(20000)); }
