; A short loop that only what it loads ends, a search, has no copies: it mostly ends soon. What is looked for in a string is farther
; away, and so is what a count ends as well: both are unrolled.
; RUN: %probes -passes='caudal-probes<mode=flag;verify>,verify' %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define ptr @along_a_list(
; CHECK-COUNT-1: icmp eq i64 %key, %what
; CHECK-NOT: icmp eq i64
; CHECK: ret ptr
define ptr @along_a_list(ptr %first, i64 %what) {
entry:
  br label %loop
loop:
  %at = phi ptr [ %first, %entry ], [ %next, %more ]
  %key = load i64, ptr %at
  %found = icmp eq i64 %key, %what
  br i1 %found, label %exit, label %more
more:
  %link = getelementptr i8, ptr %at, i64 8
  %next = load ptr, ptr %link
  br label %loop
exit:
  ret ptr %at
}

; CHECK-LABEL: define ptr @up_to_a_pivot(
; CHECK-COUNT-1: icmp slt i32
; CHECK-NOT: icmp slt i32
; CHECK: ret ptr
define ptr @up_to_a_pivot(ptr %first, i32 %pivot) {
entry:
  br label %loop
loop:
  %at = phi ptr [ %first, %entry ], [ %next, %loop ]
  %key = load i32, ptr %at
  %next = getelementptr i8, ptr %at, i64 4
  %less = icmp slt i32 %key, %pivot
  br i1 %less, label %loop, label %exit
exit:
  ret ptr %at
}

; CHECK-LABEL: define ptr @in_a_string(
; CHECK-COUNT-4: icmp eq i8
; CHECK-NOT: icmp eq i8
; CHECK: ret ptr
define ptr @in_a_string(ptr %first, i8 %what) {
entry:
  br label %loop
loop:
  %at = phi ptr [ %first, %entry ], [ %next, %loop ]
  %key = load i8, ptr %at
  %next = getelementptr i8, ptr %at, i64 1
  %found = icmp eq i8 %key, %what
  br i1 %found, label %exit, label %loop
exit:
  ret ptr %at
}

; CHECK-LABEL: define ptr @in_so_many(
; CHECK-COUNT-2: icmp eq i32
; CHECK: ret ptr
define ptr @in_so_many(ptr %first, ptr %end, i32 %what) {
entry:
  br label %loop
loop:
  %at = phi ptr [ %first, %entry ], [ %next, %more ]
  %key = load i32, ptr %at
  %found = icmp eq i32 %key, %what
  br i1 %found, label %exit, label %more
more:
  %next = getelementptr i8, ptr %at, i64 4
  %over = icmp eq ptr %next, %end
  br i1 %over, label %exit, label %loop
exit:
  %answer = phi ptr [ %at, %loop ], [ null, %more ]
  ret ptr %answer
}
