// How the thread's line is reached: in one instruction in executables, through the GOT in what may be a shared object;
// by no function call anywhere.
// RUN: %clang -O2 -S -fPIE %s -o - %with '-caudal-probes=mode=flag;verify' | FileCheck %s --check-prefix=LOCAL
// RUN: %clang -O2 -S -fno-pic %s -o - %with '-caudal-probes=mode=flag;verify' | FileCheck %s --check-prefix=LOCAL
// RUN: %clang -O2 -S -fPIC %s -o - %with '-caudal-probes=mode=flag;verify' | FileCheck %s --check-prefix=INITIAL
// RUN: %clang -O2 -S -fPIE %s -o - %with '-caudal-probes=mode=budget;tls=initial-exec' | FileCheck %s --check-prefix=INITIAL
// RUN: %clang -O2 -S -fPIC %s -o - %with '-caudal-probes=mode=clock;tls=local-exec' | FileCheck %s --check-prefix=LOCAL
// RUN: %clang -O0 -S -fPIC %s -o - %with '-caudal-probes=mode=flag' | FileCheck %s --check-prefix=INITIAL
// RUN: %clang -O2 -S -mno-tls-direct-seg-refs %s -o - %with '-caudal-probes=mode=flag;verify' | FileCheck %s --check-prefix=LOCAL
// LOCAL: %fs:caudal_{{flag|probe}}_v1@TPOFF
// LOCAL-NOT: __tls_get_addr
// INITIAL: caudal_{{flag|probe}}_v1@GOTTPOFF(%rip)
// INITIAL-NOT: __tls_get_addr
unsigned f(unsigned x) {
  unsigned steps = 0;
  for (; x != 1; steps++) x = x & 1 ? x * 3 + 1 : x >> 1;
  return steps;
}
