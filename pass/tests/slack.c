// Where every probe is to yield, those of loops with slack do: as many yields as in flag mode, which has the same places and no slack.
// RUN: %clang -O2 -c %s -o %t.budget.o %with -caudal-probes='mode=budget;verify' && %clang %t.budget.o %every -o %t.budget
// RUN: %clang -O2 -c %s -o %t.clock.o %with -caudal-probes='mode=clock;verify' && %clang %t.clock.o %every -o %t.clock
// RUN: %clang -O2 -c %s -o %t.flag.o %with -caudal-probes='mode=flag;verify' && %clang %t.flag.o %every -o %t.flag
// RUN: llvm-objdump -d --no-show-raw-insn %t.budget.o | FileCheck %s
// RUN: %t.flag > %t.expected 2>&1
// RUN: %t.budget > %t.out 2>&1 && diff %t.expected %t.out
// RUN: %t.clock > %t.out 2>&1 && diff %t.expected %t.out
#include <stdio.h>

// CHECK-LABEL: <sum>:
// CHECK: {{subq \$-0x80|addq \$0x80}}, %r11
// CHECK: {{addq \$-0x80|subq \$0x80}}, %r11
__attribute__((noinline)) long sum(const char *at) {
  long total = 0;
  while (*at) {
    long number = 0;
    while (*at >= '0' && *at <= '9') number = number * 10 + (*at++ - '0');
    total += number;
    if (*at) at++;
  }
  return total;
}

// Counted by a pointer that moves.
// CHECK-LABEL: <counted>:
// CHECK-NOT: 0x80, %r11
// CHECK: retq
__attribute__((noinline)) long counted(const int *p, long n, long m) {
  long total = 0;
  for (long i = 0; i < n; i++) {
    for (const int *q = p; q != p + m; q++) total += *q / (total | 1);
    for (const int *q = p; q != p + m; q++) total ^= total << 1 ^ *q;
  }
  return total;
}

int main(void) {
  static char text[4000];
  for (unsigned i = 0; i + 1 < sizeof text; i++) text[i] = i * 2654435761u >> 29 == 0 ? ' ' : (char)('0' + i % 10);
  long all = 0;
  for (int i = 0; i < 20; i++) all ^= sum(text);
  static int numbers[100];
  printf("%ld %ld\n", all, counted(numbers, 20, 100));
}
