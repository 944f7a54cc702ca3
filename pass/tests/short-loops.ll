; A row of a sparse matrix: the inner loop's count is known where it begins. As long as it is short it has no probe; for more there is a
; copy, cut into strips where its iterations are quick. A loop whose count nobody knows stays one loop.
; RUN: %probes -passes='caudal-probes<mode=budget;verify>,verify' %s | FileCheck %s
; RUN: %probes -passes='caudal-probes<mode=flag;verify>,verify' %s | FileCheck %s
; RUN: %probes -passes='caudal-probes<bound=1000;verify>,verify' %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define double @product(
; CHECK: %caudal.long = icmp ugt i64 %{{.*}}, {{[0-9]+$}}
; CHECK-NEXT: br i1 %caudal.long, label %{{.*}}.long, label %{{.*}}, !prof
; CHECK: {{^}}inner:
; CHECK-NOT: asm
; CHECK: %[[DONE:[0-9]+]] = icmp eq i64 %i.next, %end
; CHECK-NEXT: br i1 %[[DONE]], label %latch{{.*}}, label %inner, !prof
; CHECK: {{^}}inner.long.strip:
; CHECK: %caudal.end = add
; CHECK: asm sideeffect "{{.*}}@caudal_probe_
; CHECK: {{^}}inner.long:
; CHECK-NOT: asm
; CHECK: icmp eq i64 %i.next.long, %caudal.end
; CHECK: ret double
define double @product(ptr %starts, ptr %columns, ptr %values, ptr %in, ptr %out, i64 %rows) {
entry:
  br label %outer
outer:
  %row = phi i64 [ 0, %entry ], [ %row.next, %latch ]
  %start.at = getelementptr i64, ptr %starts, i64 %row
  %start = load i64, ptr %start.at
  %row.next = add nuw nsw i64 %row, 1
  %end.at = getelementptr i64, ptr %starts, i64 %row.next
  %end = load i64, ptr %end.at
  %none = icmp eq i64 %start, %end
  br i1 %none, label %latch, label %ahead
ahead:
  br label %inner
inner:
  %i = phi i64 [ %start, %ahead ], [ %i.next, %inner ]
  %sum = phi double [ 0.0, %ahead ], [ %next, %inner ]
  %column.at = getelementptr i64, ptr %columns, i64 %i
  %column = load i64, ptr %column.at
  %value.at = getelementptr double, ptr %values, i64 %i
  %value = load double, ptr %value.at
  %in.at = getelementptr double, ptr %in, i64 %column
  %factor = load double, ptr %in.at
  %part = fmul double %value, %factor
  %next = fadd double %sum, %part
  %i.next = add i64 %i, 1
  %inner.done = icmp eq i64 %i.next, %end
  br i1 %inner.done, label %latch, label %inner
latch:
  %result = phi double [ 0.0, %outer ], [ %next, %inner ]
  %out.at = getelementptr double, ptr %out, i64 %row
  store double %result, ptr %out.at
  %done = icmp eq i64 %row.next, %rows
  br i1 %done, label %exit, label %outer
exit:
  ret double %result
}

; CHECK-LABEL: define i64 @lists(
; CHECK-NOT: .long
; CHECK: ret i64
define i64 @lists(ptr %heads, i64 %n) {
entry:
  br label %outer
outer:
  %j = phi i64 [ 0, %entry ], [ %j.next, %latch ]
  %head.at = getelementptr ptr, ptr %heads, i64 %j
  %head = load ptr, ptr %head.at
  br label %inner
inner:
  %at = phi ptr [ %head, %outer ], [ %behind, %inner ]
  %sum = phi i64 [ 0, %outer ], [ %next, %inner ]
  %value = load i64, ptr %at
  %next = add i64 %sum, %value
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

; What is to be small has no second version.
; CHECK-LABEL: define double @small(
; CHECK-NOT: .long
; CHECK: ret double
define double @small(ptr %starts, ptr %columns, ptr %values, ptr %in, ptr %out, i64 %rows) optsize {
entry:
  br label %outer
outer:
  %row = phi i64 [ 0, %entry ], [ %row.next, %latch ]
  %start.at = getelementptr i64, ptr %starts, i64 %row
  %start = load i64, ptr %start.at
  %row.next = add nuw nsw i64 %row, 1
  %end.at = getelementptr i64, ptr %starts, i64 %row.next
  %end = load i64, ptr %end.at
  %none = icmp eq i64 %start, %end
  br i1 %none, label %latch, label %ahead
ahead:
  br label %inner
inner:
  %i = phi i64 [ %start, %ahead ], [ %i.next, %inner ]
  %sum = phi double [ 0.0, %ahead ], [ %next, %inner ]
  %column.at = getelementptr i64, ptr %columns, i64 %i
  %column = load i64, ptr %column.at
  %value.at = getelementptr double, ptr %values, i64 %i
  %value = load double, ptr %value.at
  %in.at = getelementptr double, ptr %in, i64 %column
  %factor = load double, ptr %in.at
  %part = fmul double %value, %factor
  %next = fadd double %sum, %part
  %i.next = add i64 %i, 1
  %inner.done = icmp eq i64 %i.next, %end
  br i1 %inner.done, label %latch, label %inner
latch:
  %result = phi double [ 0.0, %outer ], [ %next, %inner ]
  %out.at = getelementptr double, ptr %out, i64 %row
  store double %result, ptr %out.at
  %done = icmp eq i64 %row.next, %rows
  br i1 %done, label %exit, label %outer
exit:
  ret double %result
}

; Of a constant number it is known by now that it is long.
; CHECK-LABEL: define double @always_long(
; CHECK-NOT: .long
; CHECK: asm sideeffect "{{.*}}@caudal_probe_
; CHECK-NOT: .long
; CHECK: ret double
define double @always_long(ptr %values, i64 %rows) {
entry:
  br label %outer
outer:
  %row = phi i64 [ 0, %entry ], [ %row.next, %latch ]
  %row.at = getelementptr double, ptr %values, i64 %row
  br label %inner
inner:
  %i = phi i64 [ 0, %outer ], [ %i.next, %inner ]
  %sum = phi double [ 0.0, %outer ], [ %next, %inner ]
  %value.at = getelementptr double, ptr %row.at, i64 %i
  %value = load double, ptr %value.at
  %square = fmul double %value, %value
  %next = fadd double %sum, %square
  %i.next = add nuw nsw i64 %i, 1
  %inner.done = icmp eq i64 %i.next, 1000
  br i1 %inner.done, label %latch, label %inner
latch:
  store double %next, ptr %row.at
  %row.next = add nuw nsw i64 %row, 1
  %done = icmp eq i64 %row.next, %rows
  br i1 %done, label %exit, label %outer
exit:
  ret double %next
}

; Two entries an iteration: the additions take six cycles, one after the other, but what is around them goes on. In the copy such an
; iteration has a probe.
; CHECK-LABEL: define double @product_by_two(
; CHECK: %caudal.long = icmp ugt i64 %{{.*}}, {{[0-9]+$}}
; CHECK: {{^}}inner:
; CHECK-NOT: asm
; CHECK: icmp eq i64 %i.next, %end
; CHECK: {{^}}inner.long:
; CHECK: asm sideeffect "{{.*}}@caudal_probe_
; CHECK: ret double
define double @product_by_two(ptr %starts, ptr %columns, ptr %values, ptr %in, ptr %out, i64 %rows) {
entry:
  br label %outer
outer:
  %row = phi i64 [ 0, %entry ], [ %row.next, %latch ]
  %count.at = getelementptr i64, ptr %starts, i64 %row
  %count = load i64, ptr %count.at
  %end = shl nuw nsw i64 %count, 1
  %none = icmp eq i64 %end, 0
  br i1 %none, label %latch, label %ahead
ahead:
  br label %inner
inner:
  %i = phi i64 [ 0, %ahead ], [ %i.next, %inner ]
  %sum = phi double [ 0.0, %ahead ], [ %next, %inner ]
  %column.at = getelementptr i32, ptr %columns, i64 %i
  %column = load i32, ptr %column.at
  %column.wide = zext i32 %column to i64
  %value.at = getelementptr double, ptr %values, i64 %i
  %value = load double, ptr %value.at
  %in.at = getelementptr double, ptr %in, i64 %column.wide
  %factor = load double, ptr %in.at
  %part = fmul double %value, %factor
  %half = fadd double %sum, %part
  %j = or disjoint i64 %i, 1
  %other.column.at = getelementptr i32, ptr %columns, i64 %j
  %other.column = load i32, ptr %other.column.at
  %other.column.wide = zext i32 %other.column to i64
  %other.value.at = getelementptr double, ptr %values, i64 %j
  %other.value = load double, ptr %other.value.at
  %other.in.at = getelementptr double, ptr %in, i64 %other.column.wide
  %other.factor = load double, ptr %other.in.at
  %other.part = fmul double %other.value, %other.factor
  %next = fadd double %half, %other.part
  %i.next = add nuw nsw i64 %i, 2
  %inner.done = icmp eq i64 %i.next, %end
  br i1 %inner.done, label %latch, label %inner
latch:
  %result = phi double [ 0.0, %outer ], [ %next, %inner ]
  %out.at = getelementptr double, ptr %out, i64 %row
  store double %result, ptr %out.at
  %row.next = add nuw nsw i64 %row, 1
  %done = icmp eq i64 %row.next, %rows
  br i1 %done, label %exit, label %outer
exit:
  ret double %result
}

; One sum over all rows waits on from one row to the next.
; CHECK-LABEL: define double @over_all(
; CHECK-NOT: .long
; CHECK: ret double
define double @over_all(ptr %counts, ptr %values, i64 %rows) {
entry:
  br label %outer
outer:
  %row = phi i64 [ 0, %entry ], [ %row.next, %latch ]
  %before = phi double [ 0.0, %entry ], [ %result, %latch ]
  %count.at = getelementptr i64, ptr %counts, i64 %row
  %count = load i64, ptr %count.at
  %end = shl nuw nsw i64 %count, 1
  %none = icmp eq i64 %end, 0
  br i1 %none, label %latch, label %ahead
ahead:
  %halved = fmul double %before, 0.5
  br label %inner
inner:
  %i = phi i64 [ 0, %ahead ], [ %i.next, %inner ]
  %sum = phi double [ %halved, %ahead ], [ %next, %inner ]
  %value.at = getelementptr double, ptr %values, i64 %i
  %value = load double, ptr %value.at
  %half = fadd double %sum, %value
  %other.at = getelementptr double, ptr %value.at, i64 1
  %other = load double, ptr %other.at
  %next = fadd double %half, %other
  %i.next = add nuw nsw i64 %i, 2
  %inner.done = icmp eq i64 %i.next, %end
  br i1 %inner.done, label %latch, label %inner
latch:
  %result = phi double [ %before, %outer ], [ %next, %inner ]
  %row.next = add nuw nsw i64 %row, 1
  %done = icmp eq i64 %row.next, %rows
  br i1 %done, label %exit, label %outer
exit:
  ret double %result
}

; A walk along pointers waits for what it loads, and a probe beside that is little, also where it begins anew.
; CHECK-LABEL: define ptr @hops(
; CHECK-NOT: .long
; CHECK: ret ptr
define ptr @hops(ptr %heads, ptr %counts, i64 %rounds) {
entry:
  br label %outer
outer:
  %round = phi i64 [ 0, %entry ], [ %round.next, %latch ]
  %count.at = getelementptr i64, ptr %counts, i64 %round
  %count = load i64, ptr %count.at
  %from.at = getelementptr ptr, ptr %heads, i64 %round
  %from = load ptr, ptr %from.at
  %none = icmp eq i64 %count, 0
  br i1 %none, label %latch, label %ahead
ahead:
  br label %inner
inner:
  %i = phi i64 [ 0, %ahead ], [ %i.next, %inner ]
  %at = phi ptr [ %from, %ahead ], [ %behind, %inner ]
  %middle = load ptr, ptr %at
  %behind = load ptr, ptr %middle
  %i.next = add nuw nsw i64 %i, 1
  %inner.done = icmp eq i64 %i.next, %count
  br i1 %inner.done, label %latch, label %inner
latch:
  %reached = phi ptr [ %from, %outer ], [ %behind, %inner ]
  %round.next = add nuw nsw i64 %round, 1
  %done = icmp eq i64 %round.next, %rounds
  br i1 %done, label %exit, label %outer
exit:
  ret ptr %reached
}
