// To throw and to unwind to a handler takes thousands of cycles, of which only the handler knows: it charges them where it begins,
// not on the ways where they are joined by others. What is cleaned up on the way charges nothing of it. At work it comes out the same,
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
// CHECK: call {{.*}}@__cxa_end_catch(
// CHECK: call {{.*}}@__cxa_begin_catch(
// CHECK-NEXT: call {{.*}}@llvm.threadlocal.address
// CHECK: call void asm {{.*}}i64 10{{[0-9][0-9][0-9]}},
// CHECK-NOT: i64 10{{[0-9][0-9][0-9]}},
// CLOCK-LABEL: _Z6handlel:
// CLOCK: callq __cxa_begin_catch
// CLOCK: subl $10{{[0-9][0-9][0-9]}}, %fs:caudal_probe_v1
// CLOCK: callq __cxa_end_catch
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

int main() {
  long sum = 0;
  for (long i = 0; i < 1000; i++)
    sum = sum * 7 + handle(i);
  printf("%ld %ld\n", sum, cleaned);
}
