; A search of which one element in 25 is expected to be the last. Unrolled, it has a probe for two of them, a few cycles from the next,
; which would wait for it in memory: what is left of the budget is in a register, though that takes more code. A search that divides has
; more between its probes, and one that goes on in two places as it ends has more to put back: both stay in memory.
; RUN: %probes -passes='caudal-probes<mode=budget;verify>,verify' %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define ptr @find(
; CHECK: loop:
; CHECK: asm sideeffect "subq $2, $0{{.*}}@caudal_probe_cold_carried_v1)
; CHECK: ret ptr
define ptr @find(ptr %p, ptr %end, i64 %what) {
entry:
  br label %loop
loop:
  %at = phi ptr [ %p, %entry ], [ %next, %latch ]
  %value = load i64, ptr %at
  %found = icmp eq i64 %value, %what
  br i1 %found, label %exit, label %latch, !prof !0
latch:
  %next = getelementptr i64, ptr %at, i64 1
  %done = icmp eq ptr %next, %end
  br i1 %done, label %exit, label %loop
exit:
  %answer = phi ptr [ %at, %loop ], [ null, %latch ]
  ret ptr %answer
}

; CHECK-LABEL: define ptr @find_or_count(
; CHECK: loop:
; CHECK: asm sideeffect "subq $1, $0{{.*}}@caudal_probe_cold_budget_v1)
; CHECK: ret ptr
define ptr @find_or_count(ptr %p, ptr %end, i64 %what, ptr %missed) {
entry:
  br label %loop
loop:
  %at = phi ptr [ %p, %entry ], [ %next, %latch ]
  %value = load i64, ptr %at
  %found = icmp eq i64 %value, %what
  br i1 %found, label %exit, label %latch, !prof !0
latch:
  %next = getelementptr i64, ptr %at, i64 1
  %done = icmp eq ptr %next, %end
  br i1 %done, label %none, label %loop
exit:
  ret ptr %at
none:
  store i64 %what, ptr %missed
  ret ptr null
}

; CHECK-LABEL: define ptr @find_by_remainder(
; CHECK: loop:
; CHECK: asm sideeffect "subq $1, $0{{.*}}@caudal_probe_cold_budget_v1)
; CHECK: ret ptr
define ptr @find_by_remainder(ptr %p, ptr %end, i64 %what) {
entry:
  br label %loop
loop:
  %at = phi ptr [ %p, %entry ], [ %next, %latch ]
  %value = load i64, ptr %at
  %rest = urem i64 %value, %what
  %found = icmp eq i64 %rest, 0
  br i1 %found, label %exit, label %latch, !prof !1
latch:
  %next = getelementptr i64, ptr %at, i64 1
  %done = icmp eq ptr %next, %end
  br i1 %done, label %exit, label %loop
exit:
  %answer = phi ptr [ %at, %loop ], [ null, %latch ]
  ret ptr %answer
}
!0 = !{!"branch_weights", i32 1, i32 24}
!1 = !{!"branch_weights", i32 1, i32 5}
