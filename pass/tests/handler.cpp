// To throw and to unwind to a handler takes thousands of cycles, of which only the handler knows: it charges them where it begins,
// not on the paths where they are joined by others. What is cleaned up on the path charges nothing of it. At work it comes out the same,
// with a yield at every probe.
// RUN: %clangxx -O2 -S -emit-llvm %s -o - %with -caudal-probes='mode=budget;verify' | FileCheck %s
// RUN: %clangxx -O2 -S %s -o - %with -caudal-probes='mode=clock;verify' | FileCheck --check-prefix=CLOCK %s
// RUN: %clangxx -O2 %s -o %t.plain && %t.plain > %t.expected
// RUN: %clangxx -O2 -c %s -o %t.o %with -caudal-probes='mode=budget;verify' && %clangxx %t.o %every -o %t.every
// RUN: %t.every 2> %t.yields > %t.out && diff %t.expected %t.out
#include <cstdio>
#include <stdexcept>

static long cleaned;
struct Cleaned {
  ~Cleaned() { cleaned++; }
};

__attribute__((noinline)) static long may_throw(long n) {
  if (n % 3 == 0)
    throw n;
  if (n % 5 == 0)
    throw std::runtime_error("of five");
  return n;
}

// CHECK-LABEL: define {{.*}} @_Z6handlel(
// CHECK-NOT: i64 10{{[0-9][0-9][0-9]}},
// CHECK: call {{.*}}@__cxa_begin_catch(
// CHECK-NEXT: call {{.*}}@llvm.threadlocal.address
// CHECK: call void asm {{.*}}i64 10{{[0-9][0-9][0-9]}},
// CHECK-NOT: i64 10{{[0-9][0-9][0-9]}},
// CHECK: call {{.*}}@__cxa_begin_catch(
// CHECK-NEXT: call {{.*}}@llvm.threadlocal.address
// CHECK: call void asm {{.*}}i64 10{{[0-9][0-9][0-9]}},
// CHECK-NOT: i64 10{{[0-9][0-9][0-9]}},
// CHECK: {{^}}}
// CLOCK-LABEL: _Z6handlel:
// CLOCK: callq __cxa_begin_catch
// CLOCK: subl $10{{[0-9][0-9][0-9]}}, %fs:caudal_probe_v1
// CLOCK: callq __cxa_end_catch
__attribute__((noinline))
long handle(long n) {
  try {
    Cleaned here;
    return may_throw(n) + may_throw(n + 1);
  } catch (long value) {
    return -value;
  } catch (const std::exception &) {
    return 5;
  }
}

// What ends the program is no handler: a function that may not throw has no probe there, nor has a handler
// one of its own where code is to be small: the next one charges.
// CHECK-LABEL: define {{.*}} @__clang_call_terminate(
// CHECK-NOT: caudal_probe
// CHECK: {{^}}}
__attribute__((noinline)) long must_not(long n) noexcept { return may_throw(n); }

// CHECK-LABEL: define {{.*}} @_Z5smalll(
// CHECK: call {{.*}}@__cxa_begin_catch(
// CHECK-NEXT: call {{.*}}@__cxa_end_catch(
// CHECK: {{^}}}
__attribute__((noinline, minsize)) long small(long n) {
  try {
    return may_throw(n);
  } catch (...) {
    return 1;
  }
}

int main() {
  long sum = 0;
  for (long i = 0; i < 1000; i++)
    sum = sum * 7 + handle(i) + small(i) + must_not(15 * i + 1);
  printf("%ld %ld\n", sum, cleaned);
}
