; A loop with an induction variable whose count nobody knows is cut by the variable's low bits, without a counter;
; what it calls keeps it from being unrolled.
; RUN: %probes -passes='caudal-probes<mode=flag;verify>,verify' %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define i64 @find(
; CHECK: latch:
; CHECK: [[BITS:%.*]] = and i64 %i.next, {{[0-9]+}}
; CHECK-NEXT: icmp eq i64 [[BITS]], 0
; CHECK: call void asm sideeffect "call *caudal_probe_cold_flag_v1
; CHECK-NOT: caudal.left
define i64 @find(ptr %p, i8 %what, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %latch ]
  %at = getelementptr i8, ptr %p, i64 %i
  %value = load i8, ptr %at
  %found = icmp eq i8 %value, %what
  br i1 %found, label %exit, label %latch
latch:
  %i.next = add nuw i64 %i, 1
  %bits = call i64 @llvm.ctpop.i64(i64 %i)
  %done = icmp eq i64 %i.next, %n
  br i1 %done, label %exit, label %loop
exit:
  ret i64 %i
}

; Steps of eight: the bits above the lowest three count.
; CHECK-LABEL: define i64 @eights(
; CHECK: and i64 %i.next{{.*}}, {{[0-9]*[02468]$}}
define i64 @eights(ptr %p, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ %n, %entry ], [ %i.next, %latch ]
  %at = getelementptr i8, ptr %p, i64 %i
  %value = load i8, ptr %at
  %found = icmp eq i8 %value, 0
  br i1 %found, label %exit, label %latch
latch:
  %i.next = add i64 %i, 8
  %bits = call i64 @llvm.ctpop.i64(i64 %i)
  %again = load volatile i8, ptr %p
  %done = icmp eq i8 %again, 3
  br i1 %done, label %exit, label %loop
exit:
  ret i64 %i
}
