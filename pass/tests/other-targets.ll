; Where probes cannot be written, the pass says so, and what for they are.
; RUN: not %probes -mtriple=aarch64-unknown-linux-gnu -passes='caudal-probes' %s 2>&1 | FileCheck %s -DTARGET=aarch64-unknown-linux-gnu
; RUN: not %probes -mtriple=x86_64-unknown-linux-gnux32 -passes='caudal-probes' %s 2>&1 | FileCheck %s -DTARGET=x86_64-unknown-linux-gnux32
; CHECK: error: caudal-probes: probes are for x86-64 Linux with 64-bit pointers; this is [[TARGET]]
define i64 @f(i64 %x) {
  ret i64 %x
}
