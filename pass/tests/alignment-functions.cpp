// Functions with probes that are longer than a line begin anywhere: most of their time is in loops, which are placed by themselves. Short
// ones begin where code generation has them, and others where the source or the language says: a pointer to a member has use for the
// lowest bit of an address.
// REQUIRES: llvm-22
// RUN: %clangxx -O2 -S %s -o - %with -caudal-probes=mode=budget | FileCheck %s
// RUN: %clangxx -O2 -S %s -o - | FileCheck %s --check-prefix=PLAIN
int other(int);

// PLAIN: .p2align 4
// PLAIN-NEXT: .type is_long,
// CHECK: .globl is_long
// CHECK-NEXT: .type is_long,
extern "C" int is_long(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++)
    sum += other(sum) * other(i) + other(sum ^ i) * other(i + 1);
  return sum;
}

// CHECK: .p2align 4
// CHECK-NEXT: .type is_short,
extern "C" int is_short(int n) { return other(n) + 1; }

// CHECK: .p2align 5
// CHECK-NEXT: .type is_asked_for,
extern "C" __attribute__((aligned(32))) int is_asked_for(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++)
    sum += other(sum) * other(i) + other(sum ^ i) * other(i + 1);
  return sum;
}

struct Sum {
  int value;
  void add(int n);
};

// CHECK: .p2align 1
// CHECK-NEXT: .type _ZN3Sum3addEi,
void Sum::add(int n) {
  for (int i = 0; i < n; i++)
    value += other(value) * other(i) + other(value ^ i) * other(i + 1);
}

// One that may be patched while it runs: its first bytes are written at once.
// RUN: %clangxx -O2 -fms-hotpatch -S %s -o - %with -caudal-probes=mode=budget | FileCheck %s --check-prefix=PATCHED
// PATCHED: .p2align 4
// PATCHED-NEXT: .type is_long,
