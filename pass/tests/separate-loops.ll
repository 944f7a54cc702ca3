; A loop that mostly passes over things: its short path back becomes a loop of its own, which is unrolled, with one probe for
; several rounds. The latch that it shares with the long path is copied.
; RUN: %probes -passes='caudal-probes<mode=flag;verify>,verify' %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define i64 @filter(
; CHECK: loop.outer:
; CHECK: loop:
; CHECK: br i1 %wanted, label %work{{.*}}, label %latch.short
; CHECK: latch.short:
; CHECK: loop.1:
; CHECK: br i1 %wanted.1, label %work{{.*}}, label %latch.short.1
; CHECK: call void asm sideeffect "{{.*}}@caudal_probe_{{cold_flag|look}}_v1)
; CHECK: latch:
; CHECK: br i1 {{.*}}, label %loop.outer
declare void @use(i64)
define i64 @filter(ptr %p, i64 %n, i64 %what) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %latch ]
  %sum = phi i64 [ 0, %entry ], [ %total, %latch ]
  %at = getelementptr i64, ptr %p, i64 %i
  %value = load i64, ptr %at
  %wanted = icmp eq i64 %value, %what
  br i1 %wanted, label %work, label %latch
work:
  call void @use(i64 %i)
  %more = add i64 %sum, %value
  br label %latch
latch:
  %total = phi i64 [ %sum, %loop ], [ %more, %work ]
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %exit, label %loop
exit:
  ret i64 %total
}

; A vector of pointers that is destroyed: the path past `drop` takes a null, which pointers are guessed to be seldom. It stays one loop.
; CHECK-LABEL: define void @destroy(
; CHECK-NOT: .outer
; CHECK: loop:
; CHECK-NOT: .short
; CHECK: ret void
declare void @drop(ptr)
define void @destroy(ptr %begin, ptr %end) {
entry:
  br label %loop
loop:
  %at = phi ptr [ %begin, %entry ], [ %next, %latch ]
  %held = load ptr, ptr %at
  %empty = icmp eq ptr %held, null
  br i1 %empty, label %latch, label %work
work:
  call void @drop(ptr %held)
  br label %latch
latch:
  %next = getelementptr ptr, ptr %at, i64 1
  %done = icmp eq ptr %next, %end
  br i1 %done, label %exit, label %loop
exit:
  ret void
}

; What is to be small stays one loop, too.
; CHECK-LABEL: define i64 @small(
; CHECK-NOT: .outer
; CHECK-NOT: .short
; CHECK: ret i64
define i64 @small(ptr %p, i64 %n, i64 %what) optsize {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %latch ]
  %sum = phi i64 [ 0, %entry ], [ %total, %latch ]
  %at = getelementptr i64, ptr %p, i64 %i
  %value = load i64, ptr %at
  %wanted = icmp eq i64 %value, %what
  br i1 %wanted, label %work, label %latch
work:
  call void @use(i64 %i)
  %more = add i64 %sum, %value
  br label %latch
latch:
  %total = phi i64 [ %sum, %loop ], [ %more, %work ]
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %exit, label %loop
exit:
  ret i64 %total
}
