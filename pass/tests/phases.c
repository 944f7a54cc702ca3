// Instrumented once, where no more optimisation follows: compilations, and links that optimise.
// RUN: %clang -O2 -S -emit-llvm %s -o - %with '-caudal-probes=mode=flag' | FileCheck %s
// RUN: %clang -O0 -S -emit-llvm %s -o - %with '-caudal-probes=mode=flag' | FileCheck %s
// CHECK: caudal_probe_cold_flag_v1
// At the link, once; by way of a file beside the plugin, for linkers hand on nothing.
// RUN: rm -rf %t.d && mkdir %t.d && cp %plugin %t.d/p.so
// RUN: echo 'mode=clock;verify' > %t.d/p.so.options
// RUN: %clang -O2 -fPIC -flto -c %s -o %t.full.o -fpass-plugin=%t.d/p.so
// RUN: %clang -flto %lld -shared -fPIC %t.full.o -Wl,--load-pass-plugin=%t.d/p.so -Wl,--save-temps -o %t.d/full.so
// RUN: %opt -S %t.d/full.so.0.5.precodegen.bc | FileCheck %s --check-prefix=ONCE
// RUN: %clang -O2 -fPIC -flto=thin -c %s -o %t.d/thin.o -fpass-plugin=%t.d/p.so
// RUN: %clang -flto=thin %lld -shared -fPIC %t.d/thin.o -Wl,--load-pass-plugin=%t.d/p.so -o %t.d/thin.so
// RUN: llvm-objdump -d %t.d/thin.so | FileCheck %s --check-prefix=CODE
// ONCE-COUNT-1: asm sideeffect "subl
// ONCE-NOT: asm sideeffect "subl
// CODE-COUNT-1: {{[[:space:]]jl[[:space:]]}}
// CODE-NOT: {{[[:space:]]jl[[:space:]]}}
unsigned f(unsigned x) {
  unsigned steps = 0;
  for (; x != 1; steps++) x = x & 1 ? x * 3 + 1 : x >> 1;
  return steps;
}
