; A loop without an induction variable that counts gets a counter of its own, if it is short, may be long
; and cannot be unrolled.
; RUN: %probes -passes='caudal-probes<mode=flag;verify>,verify' %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define i64 @flip(
; CHECK: %caudal.left = phi i32 [ [[LENGTH:[0-9]+]],
; CHECK: sub i32 %caudal.left, 1
; CHECK-NEXT: icmp eq i32 %{{.*}}, 0
; CHECK: call void asm sideeffect "call *caudal_probe_cold_flag_v1
declare i64 @llvm.fshl.i64(i64, i64, i64)
define i64 @flip(i64 %x) {
entry:
  br label %loop
loop:
  %y = phi i64 [ %x, %entry ], [ %z, %loop ]
  %z = call i64 @llvm.fshl.i64(i64 %y, i64 %x, i64 3)
  %done = icmp ult i64 %z, 3
  br i1 %done, label %exit, label %loop
exit:
  ret i64 %z
}
