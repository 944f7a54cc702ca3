// Lines stay what they were: each probe has the line of the instruction that it stands in front of, none is dropped.
// RUN: %clang -O2 -g -S -emit-llvm %s -o %t.plain.ll
// RUN: %probes -passes='caudal-probes<mode=flag;verify>,verify' %t.plain.ll | FileCheck %s
// RUN: %clang -O2 -g -c %s -o %t.o %with '-caudal-probes=verify'
// RUN: %clang -O0 -g -c %s -o %t.o %with '-caudal-probes=verify'
// CHECK-LABEL: define {{.*}}@f(
// CHECK: asm sideeffect "{{.*}}@caudal_probe_{{cold_flag|look}}_v1){{.*}}!dbg ![[LINE:[0-9]+]]
// CHECK-NEXT: !dbg ![[LINE]]
// CHECK: ![[LINE]] = !DILocation(line: {{[1-9]}}
long other(long);
long f(long x) {
  long y = other(x);
  long z = other(y);
  return z + y;
}
