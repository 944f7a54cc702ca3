; A nest: the inner loop is short and gets nothing; the outer one is charged with what it takes.
; RUN: %probes -passes='caudal-probes<mode=budget;verify>,verify' %s | FileCheck %s
; RUN: %probes -passes='caudal-probes<mode=budget;bound=64;verify>,verify' %s | FileCheck %s --check-prefix=SMALL
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define i32 @rows(
; CHECK: inner:
; CHECK-NOT: caudal
; CHECK: br i1 %inner.done
; CHECK: asm sideeffect "subq {{.*}}@caudal_probe_cold_{{budget|carried}}_v1)
; SMALL-LABEL: define i32 @rows(
; SMALL: call {{.*}} asm sideeffect "{{.*}}@caudal_probe_
define i32 @rows(ptr %p, i64 %n) {
entry:
  br label %outer
outer:
  %j = phi i64 [ 0, %entry ], [ %j.next, %latch ]
  %total = phi i32 [ 0, %entry ], [ %next, %latch ]
  br label %inner
inner:
  %i = phi i64 [ 0, %outer ], [ %i.next, %inner ]
  %sum = phi i32 [ %total, %outer ], [ %next, %inner ]
  %at = getelementptr i32, ptr %p, i64 %i
  %value = load i32, ptr %at
  %next = add i32 %sum, %value
  %i.next = add nuw nsw i64 %i, 1
  %inner.done = icmp eq i64 %i.next, 12
  br i1 %inner.done, label %latch, label %inner
latch:
  %j.next = add nuw nsw i64 %j, 1
  %done = icmp eq i64 %j.next, %n
  br i1 %done, label %exit, label %outer
exit:
  ret i32 %next
}
