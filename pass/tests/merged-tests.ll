; A nest whose probes are carried: the outer loop's probe and its end share a jump, and a block aside looks which of them it was. With
; the inner loop's, which is mostly left soon, nothing is done.
; RUN: %probes -passes='caudal-probes<mode=budget;verify>,verify' %s | FileCheck %s
; RUN: %probes -passes='caudal-probes<mode=clock;verify>,verify' %s | FileCheck %s --check-prefix=CLOCK
; RUN: %probes -passes='caudal-probes<mode=flag;verify>,verify' %s | FileCheck %s --check-prefix=FLAG
; RUN: %probes -passes='caudal-probes<mode=budget;verify>,verify' %s | llc -O2 | FileCheck %s --check-prefix=CODE
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define i64 @rows(
; CHECK: inner.1:
; CHECK: asm sideeffect "subq $2, $0{{.*}}@caudal_probe_cold_carried_v1)
; CHECK-NEXT: %inner.done.1 =
; CHECK-NEXT: br i1 %inner.done.1
; CHECK: latch:
; CHECK: %[[LEFT:[0-9]+]] = call i64 asm sideeffect "subq $2, $0 # looked at elsewhere"
; CHECK-NEXT: %done = icmp eq
; CHECK-NEXT: %[[CHOSEN:.*]] = select i1 %done, i64 -1, i64 %[[LEFT]], !unpredictable
; CHECK-NEXT: %[[DUE:.*]] = icmp slt i64 %[[CHOSEN]], 0
; CHECK-NEXT: br i1 %[[DUE]], label %latch.look, label %outer
; CHECK: latch.look:
; CHECK-NEXT: %[[LOOKED:.*]] = call i64 asm sideeffect "testq $0, $0{{.*}}(i64 %[[LEFT]], ptr @caudal_probe_cold_carried_v1)
; CHECK-NEXT: %[[END:.*]] = icmp eq i64 %j.next, %n
; CHECK-NEXT: br i1 %[[END]], label %exit, label %outer
; CHECK: exit:
; CHECK: store i64 %[[LOOKED]]
; CLOCK-LABEL: define i64 @rows(
; CLOCK: asm sideeffect "subl $2, ${0:k} # looked at elsewhere"
; CLOCK: select i1 %done, i32 -1
; CLOCK: asm sideeffect "testl ${0:k}, ${0:k}
; FLAG-LABEL: define i64 @rows(
; FLAG-NOT: looked at elsewhere
; FLAG: ret i64

; One jump for both: what is carried is not made two.
; CODE-LABEL: rows:
; CODE: looked at elsewhere
; CODE-NOT: {{^[[:space:]]j}}
; CODE: cmov
; CODE-NOT: {{^[[:space:]]j}}
; CODE: testq
; CODE-NEXT: {{js|jns}}
define i64 @rows(ptr %p, i64 %n) {
entry:
  br label %outer
outer:
  %j = phi i64 [ 0, %entry ], [ %j.next, %latch ]
  %total = phi i64 [ 0, %entry ], [ %next, %latch ]
  %row = getelementptr i64, ptr %p, i64 %j
  %first = load ptr, ptr %row
  br label %inner
inner:
  %at = phi ptr [ %first, %outer ], [ %behind, %inner ]
  %sum = phi i64 [ %total, %outer ], [ %next, %inner ]
  %value = load i64, ptr %at
  %rest = udiv i64 %value, 7
  %next = add i64 %sum, %rest
  %link = getelementptr i64, ptr %at, i64 1
  %behind = load ptr, ptr %link
  %inner.done = icmp eq ptr %behind, null
  br i1 %inner.done, label %latch, label %inner, !prof !0
latch:
  %j.next = add nuw nsw i64 %j, 1
  %done = icmp eq i64 %j.next, %n
  br i1 %done, label %exit, label %outer
exit:
  ret i64 %next
}

; A loop elsewhere in the function that is short because of what a number is made of does not prevent it.
; CHECK-LABEL: define i64 @ranged(
; CHECK: looked at elsewhere
; CHECK: ret i64
define i64 @ranged(ptr %p, i64 %n, ptr %q, i64 %any) {
entry:
  br label %outer
outer:
  %j = phi i64 [ 0, %entry ], [ %j.next, %latch ]
  %total = phi i64 [ 0, %entry ], [ %next, %latch ]
  %row = getelementptr i64, ptr %p, i64 %j
  %first = load ptr, ptr %row
  br label %inner
inner:
  %at = phi ptr [ %first, %outer ], [ %behind, %inner ]
  %sum = phi i64 [ %total, %outer ], [ %next, %inner ]
  %value = load i64, ptr %at
  %rest = udiv i64 %value, 7
  %next = add i64 %sum, %rest
  %link = getelementptr i64, ptr %at, i64 1
  %behind = load ptr, ptr %link
  %inner.done = icmp eq ptr %behind, null
  br i1 %inner.done, label %latch, label %inner, !prof !0
latch:
  %j.next = add nuw nsw i64 %j, 1
  %done = icmp eq i64 %j.next, %n
  br i1 %done, label %exit, label %outer
exit:
  br label %second
second:
  %some = lshr i64 %any, 61
  %few = add nuw nsw i64 %some, 1
  br label %around
around:
  %k = phi i64 [ 0, %second ], [ %k.next, %behind.little ]
  %k.some = add nuw nsw i64 %k, 1
  br label %little
little:
  %l = phi i64 [ 0, %around ], [ %l.next, %little ]
  %to = getelementptr i64, ptr %q, i64 %l
  store volatile i64 %k, ptr %to
  %l.next = add nuw nsw i64 %l, 1
  %little.done = icmp eq i64 %l.next, %few
  br i1 %little.done, label %behind.little, label %little
behind.little:
  %k.next = add nuw nsw i64 %k, 1
  %around.done = icmp eq i64 %k.next, 40
  br i1 %around.done, label %end, label %around
end:
  ret i64 %next
}

; One does that is short because the loop around it goes around 40 times.
; CHECK-LABEL: define i64 @leaning(
; CHECK-NOT: looked at elsewhere
; CHECK: ret i64
define i64 @leaning(ptr %p, i64 %n, ptr %q, i64 %any) {
entry:
  br label %outer
outer:
  %j = phi i64 [ 0, %entry ], [ %j.next, %latch ]
  %total = phi i64 [ 0, %entry ], [ %next, %latch ]
  %row = getelementptr i64, ptr %p, i64 %j
  %first = load ptr, ptr %row
  br label %inner
inner:
  %at = phi ptr [ %first, %outer ], [ %behind, %inner ]
  %sum = phi i64 [ %total, %outer ], [ %next, %inner ]
  %value = load i64, ptr %at
  %rest = udiv i64 %value, 7
  %next = add i64 %sum, %rest
  %link = getelementptr i64, ptr %at, i64 1
  %behind = load ptr, ptr %link
  %inner.done = icmp eq ptr %behind, null
  br i1 %inner.done, label %latch, label %inner, !prof !0
latch:
  %j.next = add nuw nsw i64 %j, 1
  %done = icmp eq i64 %j.next, %n
  br i1 %done, label %exit, label %outer
exit:
  br label %second
second:
  br label %around
around:
  %k = phi i64 [ 0, %second ], [ %k.next, %behind.little ]
  %k.some = add nuw nsw i64 %k, 1
  br label %little
little:
  %l = phi i64 [ 0, %around ], [ %l.next, %little ]
  %to = getelementptr i64, ptr %q, i64 %l
  store volatile i64 %k, ptr %to
  %l.next = add nuw nsw i64 %l, 1
  %little.done = icmp eq i64 %l.next, %k.some
  br i1 %little.done, label %behind.little, label %little
behind.little:
  %k.next = add nuw nsw i64 %k, 1
  %around.done = icmp eq i64 %k.next, 40
  br i1 %around.done, label %end, label %around
end:
  ret i64 %next
}
; Of three loops, both within another borrow (lend.ll): what is due is found around the one in the middle, and its tests stay apart.
; CHECK-LABEL: define i64 @middle(
; CHECK: add i64 %{{.*}}, 128
; CHECK: row.latch:
; CHECK-NOT: looked at elsewhere
; CHECK: br i1 %row.done
; CHECK: latch:
; CHECK: looked at elsewhere
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
  %at = phi ptr [ %first, %columns ], [ %behind, %inner ]
  %sum = phi i64 [ %total, %columns ], [ %next, %inner ]
  %value = load i64, ptr %at
  %rest = udiv i64 %value, 7
  %next = add i64 %sum, %rest
  %link = getelementptr i64, ptr %at, i64 1
  %behind = load ptr, ptr %link
  %inner.done = icmp eq ptr %behind, null
  br i1 %inner.done, label %row.latch, label %inner, !prof !0
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
