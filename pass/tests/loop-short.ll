; A loop whose constant count keeps it within the bound gets no probe, and costs its caller what it takes.
; RUN: %probes -passes='caudal-probes<mode=flag;verify>,verify' %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define i32 @eight(
; CHECK-NOT: caudal
; CHECK: ret i32
define i32 @eight(ptr %p) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %sum = phi i32 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr i32, ptr %p, i64 %i
  %value = load i32, ptr %at
  %next = add i32 %sum, %value
  %i.next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %i.next, 8
  br i1 %done, label %exit, label %loop
exit:
  ret i32 %next
}

; At most sixteen times, for the loop can be left earlier.
; CHECK-LABEL: define i32 @at_most(
; CHECK-NOT: caudal
; CHECK: ret i32
define i32 @at_most(ptr %p) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i.next, %latch ]
  %at = getelementptr i32, ptr %p, i32 %i
  %value = load i32, ptr %at
  %found = icmp eq i32 %value, 0
  br i1 %found, label %exit, label %latch
latch:
  %i.next = add nuw nsw i32 %i, 1
  %done = icmp eq i32 %i.next, 16
  br i1 %done, label %exit, label %loop
exit:
  ret i32 %i
}
