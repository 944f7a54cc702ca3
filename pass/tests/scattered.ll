; Between stores to places that no loop counts up to, what is left is in a register even where probes are far apart: where
; the places miss the cache, a store to the budget for each would take half of the buffer in which they wait.
; RUN: %probes -passes='caudal-probes<mode=budget;verify>,verify' %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define void @scattered(
; CHECK: asm sideeffect "subq $2, $0
; CHECK-SAME: ={r11},{r11}
; CHECK: ret void
define void @scattered(ptr %from, ptr %to, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 1, %entry ], [ %next, %loop ]
  %at = getelementptr inbounds i64, ptr %from, i64 %i
  %value = load i64, ptr %at
  %a = udiv i64 %value, 3
  %c = udiv i64 %a, %n
  %d = udiv i64 %c, %i
  %b = urem i64 %d, %n
  %place = getelementptr inbounds i64, ptr %to, i64 %b
  store i64 %a, ptr %place
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %exit, label %loop
exit:
  ret void
}

; CHECK-LABEL: define void @inOrder(
; CHECK: asm sideeffect "subq $1, $0
; CHECK-NOT: r11},{r11}
; CHECK: ret void
define void @inOrder(ptr %from, ptr %to, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 1, %entry ], [ %next, %loop ]
  %at = getelementptr inbounds i64, ptr %from, i64 %i
  %value = load i64, ptr %at
  %a = udiv i64 %value, 3
  %c = udiv i64 %a, %n
  %d = udiv i64 %c, %i
  %b = urem i64 %d, %n
  %place = getelementptr inbounds i64, ptr %to, i64 %i
  store i64 %b, ptr %place
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %exit, label %loop
exit:
  ret void
}
