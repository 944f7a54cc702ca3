; A short loop whose end is found as it goes is unrolled first: one probe for several iterations, each with its own exit.
; RUN: %probes -passes='caudal-probes<mode=flag;verify>,verify' %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define i64 @flip(
; CHECK: icmp ult i64 %z{{.*}}, 3
; CHECK: icmp ult i64 %z{{.*}}, 3
; CHECK: call void asm sideeffect "{{.*}}@caudal_probe_{{cold_flag|look}}_v1)
; CHECK-NOT: asm sideeffect "call
; CHECK: ret i64
define i64 @flip(i64 %x) {
entry:
  br label %loop
loop:
  %y = phi i64 [ %x, %entry ], [ %z, %loop ]
  %s = lshr i64 %y, 3
  %z = xor i64 %s, %y
  %done = icmp ult i64 %z, 3
  br i1 %done, label %exit, label %loop
exit:
  ret i64 %z
}
