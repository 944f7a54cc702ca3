; A loop that also remembers what it counted before has two values that become the same next: a baseline's strips end by the one that is counted by.
; The other may have begun anywhere. In both orders.
; RUN: %probes -passes='caudal-probes<mode=instruction-counter>,verify' %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define void @before(
; CHECK: %caudal.end = add i64 %i.strip,
; CHECK: ret void
define void @before(ptr %p, i64 %x, i64 %n) {
entry:
  br label %loop
loop:
  %prev = phi i64 [ %x, %entry ], [ %next, %loop ]
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr i64, ptr %p, i64 %i
  store i64 %prev, ptr %at
  %next = add nuw i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %exit, label %loop
exit:
  ret void
}

; CHECK-LABEL: define void @behind(
; CHECK: %caudal.end = add i64 %i.strip,
; CHECK: ret void
define void @behind(ptr %p, i64 %x, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %prev = phi i64 [ %x, %entry ], [ %next, %loop ]
  %at = getelementptr i64, ptr %p, i64 %i
  store i64 %prev, ptr %at
  %next = add nuw i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %exit, label %loop
exit:
  ret void
}
