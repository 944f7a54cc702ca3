; A constant count above the bound: strips, and no charge at the loop's end, for what is left there is known.
; RUN: %probes -passes='caudal-probes<mode=budget;verify>,verify' %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define void @thousands(
; CHECK: call i32 @llvm.umin.i32
; One subtraction, the probe's own.
; CHECK: asm sideeffect "subq {{.*}}@caudal_probe_cold_{{budget|carried}}_v1)
; CHECK: icmp eq i32 %i{{.*}}, %caudal.end
; CHECK-NOT: asm sideeffect
; CHECK: exit:
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
