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
; CHECK-COUNT-2: icmp eq i8
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

; The count is in memory that the loop may change, and is loaded anew each time: no search.
; CHECK-LABEL: define void @up_to_a_size(
; CHECK-COUNT-2: icmp slt i64
; CHECK: ret void
define void @up_to_a_size(ptr %size, ptr %out) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %place = getelementptr i64, ptr %out, i64 %i
  store i64 %i, ptr %place
  %next = add nsw i64 %i, 1
  %n = load i64, ptr %size
  %again = icmp slt i64 %next, %n
  br i1 %again, label %loop, label %exit
exit:
  ret void
}

; A count and what is loaded, in one jump.
; CHECK-LABEL: define i64 @either(
; CHECK-COUNT-2: icmp eq i32
; CHECK: ret i64
define i64 @either(ptr %first, i64 %n, i32 %what) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr i32, ptr %first, i64 %i
  %key = load i32, ptr %at
  %found = icmp eq i32 %key, %what
  %next = add i64 %i, 1
  %over = icmp uge i64 %next, %n
  %end = select i1 %found, i1 true, i1 %over
  br i1 %end, label %exit, label %loop
exit:
  ret i64 %i
}

; A table that wraps around: what is loaded ends the search, however the place is found.
; CHECK-LABEL: define i64 @in_a_table(
; CHECK-COUNT-1: icmp eq i64
; CHECK-NOT: icmp eq i64
; CHECK: ret i64
define i64 @in_a_table(ptr %table, i64 %hash, i64 %mask, i64 %what) {
entry:
  br label %loop
loop:
  %i = phi i64 [ %hash, %entry ], [ %wrapped, %loop ]
  %at = getelementptr i64, ptr %table, i64 %i
  %key = load i64, ptr %at
  %next = add i64 %i, 1
  %wrapped = and i64 %next, %mask
  %found = icmp eq i64 %key, %what
  br i1 %found, label %exit, label %loop
exit:
  ret i64 %i
}
