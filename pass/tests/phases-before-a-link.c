// Not instrumented in front of a link that optimises again. LLVM 19 tells no pass that it will: there the driver leaves the
// pass out of such a compilation.
// UNSUPPORTED: llvm-19
// RUN: %clang -O2 -flto -S -emit-llvm %s -o - %with '-caudal-probes=mode=flag' | FileCheck %s --check-prefix=NONE
// RUN: %clang -O2 -flto=thin -S -emit-llvm %s -o - %with '-caudal-probes=mode=flag' | FileCheck %s --check-prefix=NONE
// RUN: %clang -O0 -flto -S -emit-llvm %s -o - %with '-caudal-probes=mode=flag' | FileCheck %s --check-prefix=NONE
// RUN: %clang -O0 -flto=thin -S -emit-llvm %s -o - %with '-caudal-probes=mode=flag' | FileCheck %s --check-prefix=NONE
// Fat objects: the machine code in them is instrumented, the bitcode is not.
// RUN: %clang -O2 -flto=thin -ffat-lto-objects -c %s -o %t.fat.o %with '-caudal-probes=mode=flag'
// RUN: llvm-objdump -dr %t.fat.o | FileCheck %s --check-prefix=MACHINE
// RUN: llvm-objcopy --dump-section=.llvm.lto=%t.fat.bc %t.fat.o /dev/null
// RUN: %opt -S %t.fat.bc | FileCheck %s --check-prefix=NONE
// NONE-NOT: {{caudal_|caudal-probed}}
// NONE: "caudal-told"="mode=flag"
// NONE-NOT: {{caudal_|caudal-probed}}
// MACHINE: caudal_probe_cold_flag_v1
unsigned f(unsigned x) {
  unsigned steps = 0;
  for (; x != 1; steps++) x = x & 1 ? x * 3 + 1 : x >> 1;
  return steps;
}
