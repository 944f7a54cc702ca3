// What is over behind a loop of vectors, three iterations at most, has a probe for each rather than strips, whose beginning would take
// longer. Compiled and at work; what is none, in
// remainder.ll.
// RUN: rm -f %t.jsonl
// RUN: %clangxx -O2 -c %s -o %t.o %with '-caudal-probes=mode=budget;verify;report=%t.jsonl'
// RUN: FileCheck %s < %t.jsonl
// RUN: %clangxx -O2 %s -o %t.plain && %t.plain > %t.expected
// RUN: %clangxx %t.o %every -o %t.every && %t.every 2> %t.yields > %t.out && diff %t.expected %t.out
#include <cstdio>

// CHECK: "function":"fill","loops":[{{[^]]*}}"kind":"each"{{[^]]*}}"kind":"strips"
extern "C" __attribute__((noinline)) void fill(long *at, long n, long what) {
  for (long i = 0; i < n; i++)
    at[i] = what;
}

int main() {
  static long numbers[1000];
  long sum = 0;
  for (long n = 0; n < 600; n += 7) {
    fill(numbers, n, n);
    for (long i = 0; i < 1000; i++)
      sum = sum * 31 + numbers[i];
  }
  std::printf("%ld\n", sum);
}
