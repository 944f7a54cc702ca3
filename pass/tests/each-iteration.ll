; A loop whose iterations are long gets a probe in each, in front of the comparison that its latch jumps by.
; RUN: %probes -passes='caudal-probes<mode=flag;verify>,verify' %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define double @divide(
; CHECK: loop:
; CHECK: call void asm sideeffect "{{.*}}@caudal_probe_{{cold_flag|look}}_v1)
; CHECK: [[MORE:%.*]] = fcmp ogt double %y, 1.0
; CHECK-NEXT: br i1 [[MORE]], label %loop, label %exit
define double @divide(double %x, double %by) {
entry:
  br label %loop
loop:
  %z = phi double [ %x, %entry ], [ %y, %loop ]
  %a = frem double %z, %by
  %b = frem double %a, 3.0
  %c = frem double %b, 5.0
  %y = fadd double %c, 1.0
  %more = fcmp ogt double %y, 1.0
  br i1 %more, label %loop, label %exit
exit:
  ret double %y
}

; Two latches: the probe is at the header.
; CHECK-LABEL: define void @two_latches(
; CHECK: loop:
; CHECK-NOT: frem
; CHECK: call void asm sideeffect "{{.*}}@caudal_probe_{{cold_flag|look}}_v1)
; CHECK: frem
define void @two_latches(ptr %p) {
entry:
  br label %loop
loop:
  %a = load volatile double, ptr %p
  %b = frem double %a, 3.0
  %c = frem double %b, 5.0
  %d = fptosi double %c to i32
  switch i32 %d, label %one [ i32 1, label %loop
                              i32 2, label %exit ]
one:
  br label %loop
exit:
  ret void
}
