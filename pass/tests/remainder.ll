; What is over behind a loop of vectors, a few iterations, has a probe for each: a strip's beginning would take longer. Where the same loop
; does all the work if pointers overlap, it is cut into strips like any other.
; RUN: %probes -passes='caudal-probes<mode=budget;verify>,verify' %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

declare void @four_at_a_time(ptr, i64)

; CHECK-LABEL: define void @behind(
; CHECK-NOT: caudal.end
; CHECK: ret void
define void @behind(ptr %p, i64 %n) {
entry:
  %few = icmp ult i64 %n, 4
  br i1 %few, label %rest, label %vectors
vectors:
  %whole = and i64 %n, -4
  call void @four_at_a_time(ptr %p, i64 %whole)
  %all = icmp eq i64 %whole, %n
  br i1 %all, label %exit, label %rest
rest:
  %from = phi i64 [ 0, %entry ], [ %whole, %vectors ]
  br label %loop
loop:
  %i = phi i64 [ %from, %rest ], [ %next, %loop ]
  %at = getelementptr inbounds i64, ptr %p, i64 %i
  store i64 7, ptr %at
  %next = add nuw i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %exit, label %loop, !llvm.loop !0
exit:
  ret void
}

; CHECK-LABEL: define void @behind_or_all(
; CHECK: %caudal.end
; CHECK: ret void
define void @behind_or_all(ptr %p, i64 %n, ptr %other) {
entry:
  %apart = icmp ult ptr %other, %p
  br i1 %apart, label %vectors, label %rest
vectors:
  %whole = and i64 %n, -4
  call void @four_at_a_time(ptr %p, i64 %whole)
  %all = icmp eq i64 %whole, %n
  br i1 %all, label %exit, label %rest
rest:
  %from = phi i64 [ 0, %entry ], [ %whole, %vectors ]
  br label %loop
loop:
  %i = phi i64 [ %from, %rest ], [ %next, %loop ]
  %at = getelementptr inbounds i64, ptr %p, i64 %i
  store i64 7, ptr %at
  %next = add nuw i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %exit, label %loop, !llvm.loop !0
exit:
  ret void
}

!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.isvectorized", i32 1}
