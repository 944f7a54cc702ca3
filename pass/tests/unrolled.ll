; A short loop whose end is found as it goes is unrolled first: one probe for several iterations, each with its own exit.
; RUN: %probes -passes='caudal-probes<mode=flag;verify>,verify' %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define i64 @flip(
; CHECK: icmp ult i64 %z{{.*}}, 3
; CHECK: call void asm sideeffect "{{.*}}@caudal_probe_{{cold_flag|look}}_v1)
; CHECK: icmp ult i64 %z{{.*}}, 3
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

; So is one that has a known most of iterations, but too many of them for one piece of code.
; CHECK-LABEL: define void @strides(
; CHECK: store i8 0
; CHECK: store i8 0
; CHECK: call void asm sideeffect "{{.*}}@caudal_probe_{{cold_flag|look}}_v1)
; CHECK-NOT: asm sideeffect "call
; CHECK: ret void
define void @strides(ptr %flags, i8 %by) {
entry:
  %wide = zext i8 %by to i64
  %step = add nuw nsw i64 %wide, 2
  br label %loop
loop:
  %k = phi i64 [ %step, %entry ], [ %next, %loop ]
  %at = getelementptr inbounds i8, ptr %flags, i64 %k
  store i8 0, ptr %at
  %next = add nuw nsw i64 %k, %step
  %more = icmp ult i64 %next, 8193
  br i1 %more, label %loop, label %exit
exit:
  ret void
}
