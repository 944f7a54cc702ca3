; An inner loop that nothing counts looks at the budget later than the loop around it: it gets slack where it is
; entered, and loses it where it goes on. One that is counted has none, nor has one around which there is no probe.
; RUN: %probes -passes='caudal-probes<mode=budget;verify>,verify' %s | FileCheck %s
; RUN: %probes -passes='caudal-probes<mode=clock;verify>,verify' %s | FileCheck %s --check-prefix=CLOCK
; RUN: %probes -passes='caudal-probes<mode=flag;verify>,verify' %s | FileCheck %s --check-prefix=FLAG
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define i64 @numbers(
; CHECK: line:
; CHECK: %[[AROUND:.*]] = phi i64
; CHECK: %[[RAISED:.*]] = add i64 %[[AROUND]], 128
; CHECK: digit:
; CHECK: phi i64 [ %[[RAISED]], %{{.*}} ]
; CHECK: asm sideeffect "subq $2, $0{{.*}}@caudal_probe_cold_carried_v1)
; CHECK: latch:
; CHECK: add i64 %{{.*}}, -128
; CHECK: asm sideeffect "subq $2, $0{{.*}}@caudal_probe_cold_carried_v1)
; CHECK-NOT: 128
; CHECK: ret i64
; CLOCK-LABEL: define i64 @numbers(
; CLOCK: add i32 %{{.*}}, 128
; CLOCK: add i32 %{{.*}}, -128
; FLAG-LABEL: define i64 @numbers(
; FLAG-NOT: 128
; FLAG: ret i64
define i64 @numbers(ptr %text, i64 %n) {
entry:
  br label %line
line:
  %j = phi i64 [ 0, %entry ], [ %j.next, %latch ]
  %at = phi ptr [ %text, %entry ], [ %next, %latch ]
  %total = phi i64 [ 0, %entry ], [ %sum.next, %latch ]
  br label %digit
digit:
  %place = phi ptr [ %at, %line ], [ %next, %digit ]
  %sum = phi i64 [ %total, %line ], [ %sum.next, %digit ]
  %c = load i8, ptr %place
  %wide = zext i8 %c to i64
  %tenfold = mul i64 %sum, 10
  %sum.next = add i64 %tenfold, %wide
  %next = getelementptr i8, ptr %place, i64 1
  %is.digit = icmp ult i8 %c, 58
  br i1 %is.digit, label %digit, label %latch
latch:
  %j.next = add nuw nsw i64 %j, 1
  %done = icmp eq i64 %j.next, %n
  br i1 %done, label %exit, label %line
exit:
  ret i64 %sum.next
}

; With a path out of both loops besides, it has no slack; the loop behind it has.
; CHECK-LABEL: define i64 @numbers_or_end(
; CHECK-NOT: 128
; CHECK: digit:
; CHECK: asm sideeffect "subq $2, $0{{.*}}@caudal_probe_cold_carried_v1)
; CHECK: add i64 %{{.*}}, 128
; CHECK: blank:
; CHECK: latch:
; CHECK: add i64 %{{.*}}, -128
; CHECK-NOT: 128
; CHECK: ret i64
define i64 @numbers_or_end(ptr %text, i64 %n) {
entry:
  br label %line
line:
  %j = phi i64 [ 0, %entry ], [ %j.next, %latch ]
  %at = phi ptr [ %text, %entry ], [ %after, %latch ]
  %total = phi i64 [ 0, %entry ], [ %sum.next, %latch ]
  br label %digit
digit:
  %place = phi ptr [ %at, %line ], [ %next, %more ]
  %sum = phi i64 [ %total, %line ], [ %sum.next, %more ]
  %c = load i8, ptr %place
  %end = icmp eq i8 %c, 0
  br i1 %end, label %exit, label %more
more:
  %wide = zext i8 %c to i64
  %tenfold = mul i64 %sum, 10
  %sum.next = add i64 %tenfold, %wide
  %next = getelementptr i8, ptr %place, i64 1
  %is.digit = icmp ult i8 %c, 58
  br i1 %is.digit, label %digit, label %blank
blank:
  %behind = phi ptr [ %next, %more ], [ %after, %blank ]
  %b = load i8, ptr %behind
  %after = getelementptr i8, ptr %behind, i64 1
  %is.blank = icmp eq i8 %b, 32
  br i1 %is.blank, label %blank, label %latch
latch:
  %j.next = add nuw nsw i64 %j, 1
  %done = icmp eq i64 %j.next, %n
  br i1 %done, label %exit, label %line
exit:
  %result = phi i64 [ %sum, %digit ], [ %sum.next, %latch ]
  ret i64 %result
}

; CHECK-LABEL: define i64 @counted(
; CHECK: asm sideeffect "subq $2, $0
; CHECK-NOT: 128
; CHECK: ret i64
define i64 @counted(ptr %p, i64 %n, i64 %m) {
entry:
  br label %outer
outer:
  %j = phi i64 [ 0, %entry ], [ %j.next, %latch ]
  %total = phi i64 [ 0, %entry ], [ %next, %latch ]
  br label %inner
inner:
  %i = phi i64 [ 0, %outer ], [ %i.next, %inner ]
  %sum = phi i64 [ %total, %outer ], [ %next, %inner ]
  %at = getelementptr i64, ptr %p, i64 %i
  %value = load i64, ptr %at
  %x = mul i64 %sum, %value
  %y = lshr i64 %x, 7
  %next = xor i64 %y, %x
  %i.next = add nuw nsw i64 %i, 1
  %inner.done = icmp eq i64 %i.next, %m
  br i1 %inner.done, label %latch, label %inner
latch:
  %j.next = add nuw nsw i64 %j, 1
  %done = icmp eq i64 %j.next, %n
  br i1 %done, label %exit, label %outer
exit:
  ret i64 %next
}

; A probe in each iteration of the inner loop, and none around it, which nothing due would be found by: it has no slack.
; CHECK-LABEL: define i64 @alone(
; CHECK: inner:
; CHECK: asm sideeffect "subq $2, $0
; CHECK-NOT: 128
; CHECK: ret i64
define i64 @alone(ptr %p, i64 %n) {
entry:
  br label %outer
outer:
  %j = phi i64 [ 0, %entry ], [ %j.next, %latch ]
  %total = phi i64 [ 0, %entry ], [ %next, %latch ]
  %row = getelementptr ptr, ptr %p, i64 %j
  %first = load ptr, ptr %row
  br label %inner
inner:
  %at = phi ptr [ %first, %outer ], [ %behind, %inner ]
  %sum = phi i64 [ %total, %outer ], [ %next, %inner ]
  %value = load i64, ptr %at
  %rest = mul i64 %sum, %value
  %next = add i64 %rest, %j
  %link = getelementptr i64, ptr %at, i64 1
  %behind = load ptr, ptr %link
  %inner.done = icmp eq ptr %behind, null
  br i1 %inner.done, label %latch, label %inner
latch:
  %j.next = add nuw nsw i64 %j, 1
  %done = icmp eq i64 %j.next, %n
  br i1 %done, label %exit, label %outer
exit:
  ret i64 %next
}

; Of three loops both within another have slack, one on top of the other: each takes back its own where it is left.
; CHECK-LABEL: define i64 @middle(
; CHECK: page:
; CHECK: add i64 %{{.*}}, 128
; CHECK: columns:
; CHECK: add i64 %{{.*}}, 128
; CHECK: row.latch:
; CHECK: add i64 %{{.*}}, -128
; CHECK: latch:
; CHECK: add i64 %{{.*}}, -128
; CHECK: ret i64
define i64 @middle(ptr %p, i64 %n) {
entry:
  br label %page
page:
  %j = phi i64 [ 0, %entry ], [ %j.next, %latch ]
  %before = phi i64 [ 0, %entry ], [ %page.sum, %latch ]
  %table = getelementptr ptr, ptr %p, i64 %j
  %top = load ptr, ptr %table
  br label %row
row:
  %at.row = phi ptr [ %top, %page ], [ %below, %row.latch ]
  %total = phi i64 [ %before, %page ], [ %next, %row.latch ]
  %is.none = icmp eq ptr %at.row, null
  br i1 %is.none, label %latch, label %columns
columns:
  %first = load ptr, ptr %at.row
  br label %inner
inner:
  %at = phi ptr [ %first, %columns ], [ %behind, %more ]
  %sum = phi i64 [ %total, %columns ], [ %next, %more ]
  %value = load i64, ptr %at
  %rest = udiv i64 %value, 7
  %next = add i64 %sum, %rest
  %link = getelementptr i64, ptr %at, i64 1
  %behind = load ptr, ptr %link
  %inner.done = icmp eq ptr %behind, null
  br i1 %inner.done, label %row.latch, label %more, !prof !0
more:
  br label %inner
row.latch:
  %row.link = getelementptr i64, ptr %at.row, i64 1
  %below = load ptr, ptr %row.link
  %row.done = icmp eq ptr %below, %p
  br i1 %row.done, label %latch, label %row
latch:
  %page.sum = phi i64 [ %total, %row ], [ %next, %row.latch ]
  %j.next = add nuw nsw i64 %j, 1
  %done = icmp eq i64 %j.next, %n
  br i1 %done, label %exit, label %page
exit:
  ret i64 %page.sum
}
!0 = !{!"branch_weights", i32 1, i32 1}
