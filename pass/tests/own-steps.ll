; What loops with probes count by has a name of its own when code generation sees it; all else stays.
; RUN: %probes -passes='caudal-probes<mode=budget;verify>,verify' %s | FileCheck %s
; RUN: %probes -passes='caudal-probes<mode=clock;verify>,verify' %s | FileCheck %s
; RUN: %probes -passes='caudal-probes<mode=flag;verify>,verify' %s | FileCheck %s
; For a comparison with others' probes, loops stay as they were.
; RUN: %probes -passes='caudal-probes<mode=instruction-counter>,verify' %s | FileCheck %s --check-prefix=OTHERS
; OTHERS-NOT: freeze
target triple = "x86_64-pc-linux-gnu"

declare i64 @other(i64)

; A probe in each iteration: both that it counts by, once each, though two share one; not the sum, which has no steps.
; CHECK-LABEL: define i64 @probed(
; CHECK: %i = phi i64 [ 0, %entry ], [ %i.next.own, %loop ]
; CHECK: %before = phi i64 [ -1, %entry ], [ %i, %loop ]
; CHECK: %p.at = phi ptr [ %p, %entry ], [ %p.next.own, %loop ]
; CHECK: %again = phi i64 [ 0, %entry ], [ %i.next.own, %loop ]
; CHECK-NOT: freeze i64 %sum
; CHECK: %i.next = add nuw nsw i64 %i, 1
; CHECK-NEXT: %i.next.own = freeze i64 %i.next
; CHECK-NEXT: %p.next = getelementptr i64, ptr %p.at, i64 3
; CHECK-NEXT: %p.next.own = freeze ptr %p.next
; CHECK: icmp slt i64 %i.next.own, %n
; CHECK-NOT: freeze
; CHECK: }
define i64 @probed(ptr %p, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %before = phi i64 [ -1, %entry ], [ %i, %loop ]
  %p.at = phi ptr [ %p, %entry ], [ %p.next, %loop ]
  %again = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %sum = phi i64 [ 0, %entry ], [ %sum.next, %loop ]
  %value = load i64, ptr %p.at
  %called = call i64 @other(i64 %value)
  %one = call i64 @other(i64 %before)
  %two = call i64 @other(i64 %again)
  %part = xor i64 %called, %one
  %whole = xor i64 %part, %two
  %mixed = xor i64 %whole, %sum
  %sum.next = mul i64 %mixed, 7
  %i.next = add nuw nsw i64 %i, 1
  %p.next = getelementptr i64, ptr %p.at, i64 3
  %more = icmp slt i64 %i.next, %n
  br i1 %more, label %loop, label %exit
exit:
  ret i64 %sum.next
}

; What addresses have for nothing: an index, times 8 here.
; CHECK-LABEL: define void @indexed(
; CHECK: asm sideeffect
; CHECK: %i.next.own = freeze i64 %i.next
; CHECK: }
define void @indexed(ptr %p, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %at = getelementptr i64, ptr %p, i64 %i
  %value = load i64, ptr %at
  %called = call i64 @other(i64 %value)
  %i.next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %i.next, %n
  br i1 %more, label %loop, label %exit
exit:
  ret void
}

; So has a sieve, whose steps are no constant, in two copies: what is between them is no arithmetic that could be spared.
; CHECK-LABEL: define void @sieve(
; CHECK: asm sideeffect
; CHECK: %j.next.own = freeze i64 %j.next
; CHECK: }
define void @sieve(ptr %p, i64 %step, i64 %n) {
entry:
  br label %loop
loop:
  %j = phi i64 [ 0, %entry ], [ %j.next, %second ]
  %at = getelementptr i64, ptr %p, i64 %j
  store i64 1, ptr %at
  %called = call i64 @other(i64 %j)
  %j.between = add nsw i64 %j, %step
  %enough = icmp sgt i64 %j.between, %n
  br i1 %enough, label %exit, label %second
second:
  %at.second = getelementptr i64, ptr %p, i64 %j.between
  store i64 1, ptr %at.second
  %j.next = add nsw i64 %j.between, %step
  %more = icmp sle i64 %j.next, %n
  br i1 %more, label %loop, label %exit
exit:
  ret void
}

; Strength reduction does better where a multiplication, or a shift for an address, would be in each iteration, an address has more
; than one index, or the loop's count is for nothing else: it counts down to that.
; CHECK-LABEL: define void @strided(
; CHECK-NOT: freeze
; CHECK: asm sideeffect
; CHECK-NOT: freeze
; CHECK: }
define void @strided(ptr %p, i64 %n, i64 %stride) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %offset = mul i64 %i, %stride
  %at = getelementptr i64, ptr %p, i64 %offset
  %value = load i64, ptr %at
  %called = call i64 @other(i64 %value)
  %i.next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %i.next, %n
  br i1 %more, label %loop, label %exit
exit:
  ret void
}

; CHECK-LABEL: define void @wide_elements(
; CHECK-NOT: freeze
; CHECK: asm sideeffect
; CHECK-NOT: freeze
; CHECK: }
define void @wide_elements(ptr %p, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %at = getelementptr [ 2 x i64 ], ptr %p, i64 %i
  %value = load i64, ptr %at
  %called = call i64 @other(i64 %value)
  %i.next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %i.next, %n
  br i1 %more, label %loop, label %exit
exit:
  ret void
}

; CHECK-LABEL: define void @two_indices(
; CHECK-NOT: freeze
; CHECK: asm sideeffect
; CHECK-NOT: freeze
; CHECK: }
define void @two_indices(ptr %p, i64 %row, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %offset = add i64 %i, %row
  %at = getelementptr i64, ptr %p, i64 %offset
  %value = load i64, ptr %at
  %called = call i64 @other(i64 %value)
  %i.next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %i.next, %n
  br i1 %more, label %loop, label %exit
exit:
  ret void
}

; CHECK-LABEL: define void @repeated(
; CHECK-NOT: freeze
; CHECK: asm sideeffect
; CHECK-NOT: freeze
; CHECK: }
define void @repeated(i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %value = phi i64 [ 0, %entry ], [ %called, %loop ]
  %called = call i64 @other(i64 %value)
  %i.next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %i.next, %n
  br i1 %more, label %loop, label %exit
exit:
  ret void
}

declare i64 @same(i64 returned)
declare i32 @personality(...)

; What an invoke returns has no place behind it in its block.
; CHECK-LABEL: define void @invoked(
; CHECK-NOT: freeze
; CHECK: asm sideeffect
; CHECK-NOT: freeze
; CHECK: }
define void @invoked(ptr %p, i64 %n) personality ptr @personality {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %back ]
  %at = getelementptr i64, ptr %p, i64 %i
  store i64 %n, ptr %at
  %added = add i64 %i, 1
  %next = invoke i64 @same(i64 %added) to label %back unwind label %pad
back:
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %exit
pad:
  %thrown = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %thrown
exit:
  ret void
}

; One piece of code, without a probe: nothing.
; CHECK-LABEL: define i64 @short(
; CHECK-NOT: freeze
; CHECK: ret i64
define i64 @short(ptr %p) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %sum = phi i64 [ 0, %entry ], [ %sum.next, %loop ]
  %at = getelementptr i64, ptr %p, i64 %i
  %value = load i64, ptr %at
  %sum.next = add i64 %sum, %value
  %i.next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %i.next, 8
  br i1 %more, label %loop, label %exit
exit:
  ret i64 %sum.next
}
