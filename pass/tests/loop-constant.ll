; A constant count above the bound: a probe in each iteration, and none behind the loop, which is left just behind its last probe.
; RUN: %probes -passes='caudal-probes<mode=budget;verify>,verify' %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define void @thousands(
; CHECK: loop:
; CHECK: asm sideeffect "subq {{.*}}@caudal_probe_cold_{{budget|carried}}_v1)
; CHECK: icmp eq i32 %i.next{{.*}}, 4003
; CHECK-NOT: asm sideeffect
; CHECK: ret void
define void @thousands(ptr %p) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i.next, %loop ]
  %at = getelementptr i8, ptr %p, i32 %i
  store i8 0, ptr %at
  %i.next = add nuw nsw i32 %i, 1
  %done = icmp eq i32 %i.next, 4003
  br i1 %done, label %exit, label %loop
exit:
  ret void
}
