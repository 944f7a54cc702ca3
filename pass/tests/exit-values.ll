; A loop with a probe that ends where its count has, or where it finds something, hands on what it counts by on both paths: not what the
; count ends at, though that is the same then.
; RUN: %probes -passes='caudal-probes<mode=budget;verify>,verify' %s | FileCheck %s
; RUN: %probes -passes='caudal-probes<mode=clock;verify>,verify' %s | FileCheck %s
; RUN: %probes -passes='caudal-probes<mode=flag;verify>,verify' %s | FileCheck %s
; For a comparison with others' probes, loops stay as they were.
; RUN: %probes -passes='caudal-probes<mode=instruction-counter>,verify' %s | FileCheck %s --check-prefix=OTHERS
target triple = "x86_64-pc-linux-gnu"

; What is looked for is found by a division, for shorter loops would be unrolled. As wide as the counter, and narrower.
; CHECK-LABEL: define i64 @as_wide(
; CHECK: %i.next.own = freeze i64 %i.next
; CHECK: = phi i64 {{.*}}[ %i.next.own, %latch ]
; OTHERS-LABEL: define i64 @as_wide(
; OTHERS: = phi i64 {{.*}}[ %n, %latch ]
define i64 @as_wide(ptr %p, i64 %n) {
entry:
  %any = icmp ne i64 %n, 0
  br i1 %any, label %loop, label %exit
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %latch ]
  %at = getelementptr i8, ptr %p, i64 %i
  %word = load i64, ptr %at
  %value = udiv i64 1000, %word
  %is.end = icmp eq i64 %value, 0
  br i1 %is.end, label %exit, label %latch
latch:
  %i.next = add nuw i64 %i, 1
  %done = icmp eq i64 %i.next, %n
  br i1 %done, label %exit, label %loop
exit:
  %found = phi i64 [ 0, %entry ], [ %i, %loop ], [ %n, %latch ]
  ret i64 %found
}

; CHECK-LABEL: define i32 @narrower(
; CHECK: %i.next.part = trunc i64 %i.next.own to i32
; CHECK: %found = phi i32 [ 0, %entry ], [ %i.part, %some ], [ %i.next.part, %{{.*}} ]
define i32 @narrower(ptr %p, i32 %n) {
entry:
  %any = icmp sgt i32 %n, 0
  %wide = zext i32 %n to i64
  br i1 %any, label %loop, label %exit
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %latch ]
  %at = getelementptr i8, ptr %p, i64 %i
  %word = load i64, ptr %at
  %value = udiv i64 1000, %word
  %is.end = icmp eq i64 %value, 0
  br i1 %is.end, label %some, label %latch
some:
  %i.part = trunc i64 %i to i32
  br label %exit
latch:
  %i.next = add nuw nsw i64 %i, 1
  %more = icmp ne i64 %i.next, %wide
  br i1 %more, label %loop, label %exit
exit:
  %found = phi i32 [ 0, %entry ], [ %i.part, %some ], [ %n, %latch ]
  ret i32 %found
}

; The end of the count is wider than what is handed on, by its sign.
; CHECK-LABEL: define i32 @signed(
; CHECK: %i.next.part = trunc i64 %i.next.own to i32
; CHECK: = phi i32 {{.*}}[ %i.next.part, %
define i32 @signed(ptr %p, i32 %n) {
entry:
  %wide = sext i32 %n to i64
  br label %loop
loop:
  %i = phi i64 [ -1000, %entry ], [ %i.next, %latch ]
  %at = getelementptr i8, ptr %p, i64 %i
  %word = load i64, ptr %at
  %value = udiv i64 1000, %word
  %is.end = icmp eq i64 %value, 0
  br i1 %is.end, label %some, label %latch
some:
  %i.part = trunc i64 %i to i32
  br label %exit
latch:
  %i.next = add nsw i64 %i, 1
  %more = icmp ne i64 %i.next, %wide
  br i1 %more, label %loop, label %exit
exit:
  %found = phi i32 [ %i.part, %some ], [ %n, %latch ]
  ret i32 %found
}

; Two copies that count to the same end: a phi has what each has counted.
; CHECK-LABEL: define i32 @copies(
; CHECK: none:
; CHECK-NEXT: %[[END:.*]] = phi i64 [ %i.next, %latch ], [ %i.second.own, %latch.second ]
; CHECK: %[[PART:.*]] = trunc i64 %[[END]] to i32
; CHECK: %found = phi i32 [ %[[PART]], %none ], [ %i.part, %some ]
define i32 @copies(ptr %p, i32 %n) {
entry:
  %wide = zext i32 %n to i64
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.second, %latch.second ]
  %at = getelementptr i8, ptr %p, i64 %i
  %word = load i64, ptr %at
  %value = udiv i64 1000, %word
  %is.end = icmp eq i64 %value, 0
  br i1 %is.end, label %some, label %latch
latch:
  %i.next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %i.next, %wide
  br i1 %done, label %none, label %second
second:
  %at.second = getelementptr i8, ptr %p, i64 %i.next
  %word.second = load i64, ptr %at.second
  %value.second = udiv i64 1000, %word.second
  %is.end.second = icmp eq i64 %value.second, 0
  br i1 %is.end.second, label %some, label %latch.second
latch.second:
  %i.second = add nuw nsw i64 %i.next, 1
  %done.second = icmp eq i64 %i.second, %wide
  br i1 %done.second, label %none, label %loop
some:
  %i.found = phi i64 [ %i, %loop ], [ %i.next, %second ]
  %i.part = trunc i64 %i.found to i32
  br label %exit
none:
  br label %exit
exit:
  %found = phi i32 [ %n, %none ], [ %i.part, %some ]
  ret i32 %found
}

; What is nowhere the counter stays: it would have to be copied. So does what something else counts elsewhere, so do pointers, which may be
; of different objects though they are equal, and what is handed on where the two are not equal.
; CHECK-LABEL: define i64 @nowhere(
; CHECK: = phi i64 {{.*}}[ %n, %latch ]
define i64 @nowhere(ptr %p, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %latch ]
  %at = getelementptr i8, ptr %p, i64 %i
  %word = load i64, ptr %at
  %value = udiv i64 1000, %word
  %is.end = icmp eq i64 %value, 0
  br i1 %is.end, label %exit, label %latch
latch:
  %i.next = add nuw i64 %i, 1
  %done = icmp eq i64 %i.next, %n
  br i1 %done, label %exit, label %loop
exit:
  %found = phi i64 [ %value, %loop ], [ %n, %latch ]
  ret i64 %found
}

; CHECK-LABEL: define i64 @other_steps(
; CHECK: = phi i64 {{.*}}[ %n, %latch ]
define i64 @other_steps(ptr %p, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %latch ]
  %j = phi i64 [ 0, %entry ], [ %j.next, %latch ]
  %at = getelementptr i8, ptr %p, i64 %j
  %word = load i64, ptr %at
  %value = udiv i64 1000, %word
  %is.end = icmp eq i64 %value, 0
  br i1 %is.end, label %exit, label %latch
latch:
  %i.next = add nuw i64 %i, 1
  %j.next = add nuw i64 %j, 24
  %done = icmp eq i64 %i.next, %n
  br i1 %done, label %exit, label %loop
exit:
  %found = phi i64 [ %j, %loop ], [ %n, %latch ]
  ret i64 %found
}

; CHECK-LABEL: define ptr @pointers(
; CHECK: = phi ptr {{.*}}[ %end, %latch ]
define ptr @pointers(ptr %p, ptr %end) {
entry:
  br label %loop
loop:
  %at = phi ptr [ %p, %entry ], [ %next, %latch ]
  %word = load i64, ptr %at
  %value = udiv i64 1000, %word
  %is.end = icmp eq i64 %value, 0
  br i1 %is.end, label %exit, label %latch
latch:
  %next = getelementptr i8, ptr %at, i64 1
  %done = icmp eq ptr %next, %end
  br i1 %done, label %exit, label %loop
exit:
  %found = phi ptr [ %at, %loop ], [ %end, %latch ]
  ret ptr %found
}

; CHECK-LABEL: define i64 @unequal(
; CHECK: = phi i64 {{.*}}[ %n, %latch ]
define i64 @unequal(ptr %p, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %latch ]
  %at = getelementptr i8, ptr %p, i64 %i
  %word = load i64, ptr %at
  %value = udiv i64 1000, %word
  %is.end = icmp eq i64 %value, 0
  br i1 %is.end, label %exit, label %latch
latch:
  %i.next = add nuw i64 %i, 1
  %go.on = icmp eq i64 %i.next, %n
  br i1 %go.on, label %loop, label %exit
exit:
  %found = phi i64 [ %i, %loop ], [ %n, %latch ]
  ret i64 %found
}
