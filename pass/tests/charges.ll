; What budget mode charges: all of an iteration, whichever part of it the probe is in front of; loads on a walk along pointers
; as something between a hit and a miss, others as hits.
; RUN: rm -f %t.report
; RUN: %probes -passes='caudal-probes<report=%t.report;bound=100;verify>,verify' %s -o /dev/null
; RUN: FileCheck %s < %t.report
target triple = "x86_64-pc-linux-gnu"

; Two divisions behind the only probe, two in front: four are charged, 10 cycles each, and the call's 12.
; CHECK-DAG: "function":"behind",{{.*}}"sites":{{.}}{"at":"","expected_cycles":52,
declare void @leaf(i64)
define void @behind(i64 %n, i64 %by) {
entry:
  br label %loop
loop:
  %i = phi i64 [ %n, %entry ], [ %next, %loop ]
  %a = udiv i64 %i, %by
  call void @leaf(i64 %a)
  %b = udiv i64 %a, %by
  %c = udiv i64 %b, %by
  %next = udiv i64 %c, %by
  %more = icmp ugt i64 %next, 3
  br i1 %more, label %loop, label %exit
exit:
  ret void
}

; A list.
; CHECK-DAG: "function":"walk",{{.*}}"sites":{{.}}{"at":"","expected_cycles":{{2[0-9]}},
define void @walk(ptr %list) {
entry:
  br label %loop
loop:
  %node = phi ptr [ %list, %entry ], [ %next, %loop ]
  %next = load ptr, ptr %node
  %end = icmp eq ptr %next, null
  br i1 %end, label %exit, label %loop
exit:
  ret void
}

; A pseudo-random walk: the place is computed anew from what is loaded.
; CHECK-DAG: "function":"wander",{{.*}}"sites":{{.}}{"at":"","expected_cycles":{{2[0-9]}},
define i64 @wander(ptr %table, i64 %start) {
entry:
  br label %loop
loop:
  %x = phi i64 [ %start, %entry ], [ %next, %loop ]
  %slot = and i64 %x, 65535
  %at = getelementptr i64, ptr %table, i64 %slot
  %value = load i64, ptr %at
  %sum = add i64 %x, %value
  %next = mul i64 %sum, -7046029254386353131
  %end = icmp eq i64 %next, 0
  br i1 %end, label %exit, label %loop
exit:
  ret i64 %x
}

; A search that goes on by what it reads in a table.
; CHECK-DAG: "function":"skip",{{.*}}"sites":{{.}}{"at":"","expected_cycles":{{[0-9]}},
define i64 @skip(ptr %text, ptr %table, i8 %last) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr i8, ptr %text, i64 %i
  %byte = load i8, ptr %at
  %index = zext i8 %byte to i64
  %place = getelementptr i64, ptr %table, i64 %index
  %step = load i64, ptr %place
  %next = add i64 %i, %step
  %end = icmp eq i8 %byte, %last
  br i1 %end, label %exit, label %loop
exit:
  ret i64 %i
}

; A merge: what is loaded is compared, and decides which of two neighbours comes next.
; CHECK-DAG: "function":"merge",{{.*}}"sites":{{.}}{"at":"","expected_cycles":{{[0-9]}},
define void @merge(ptr %left, ptr %right, ptr %out, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %a = phi ptr [ %left, %entry ], [ %a.next, %loop ]
  %b = phi ptr [ %right, %entry ], [ %b.next, %loop ]
  %x = load i64, ptr %a
  %y = load i64, ptr %b
  %less = icmp ult i64 %x, %y
  %least = select i1 %less, i64 %x, i64 %y
  %place = getelementptr i64, ptr %out, i64 %i
  store i64 %least, ptr %place
  %one = zext i1 %less to i64
  %other = xor i64 %one, 1
  %a.next = getelementptr i64, ptr %a, i64 %one
  %b.next = getelementptr i64, ptr %b, i64 %other
  %i.next = add i64 %i, 1
  %end = icmp eq i64 %i.next, %n
  br i1 %end, label %exit, label %loop
exit:
  ret void
}
