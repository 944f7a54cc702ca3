; Cycles that are no natural loops, with and without loops in them, are bounded too; code that nothing reaches is no harm.
; RUN: %probes -passes='caudal-probes<mode=flag;verify>,verify' %s | FileCheck %s
; RUN: %probes -passes='caudal-probes<mode=budget;bound=64;verify>,verify' %s -o /dev/null
; RUN: %probes -passes='caudal-probes<mode=budget;verify>,verify' %s | FileCheck %s --check-prefix=CHARGE
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define i64 @two_entries(
; CHECK: call void asm sideeffect "{{.*}}@caudal_probe_{{cold_flag|look}}_v1)
define i64 @two_entries(i64 %x, i1 %c, i1 %d) {
entry:
  br i1 %c, label %a, label %b
a:
  %p = phi i64 [ %x, %entry ], [ %q2, %b ]
  %p2 = mul i64 %p, 3
  br label %b
b:
  %q = phi i64 [ %x, %entry ], [ %p2, %a ]
  %q2 = mul i64 %q, 5
  %more = icmp ugt i64 %q2, 77
  br i1 %more, label %a, label %out
out:
  ret i64 %q2
}

; The entry that the walk comes back to is an inner loop's header.
; CHECK-LABEL: define i64 @with_loop(
; CHECK: call void asm sideeffect "{{.*}}@caudal_probe_{{cold_flag|look}}_v1)
define i64 @with_loop(i64 %x, i1 %c) {
entry:
  br i1 %c, label %a, label %b
a:
  %p = phi i64 [ %x, %entry ], [ %q2, %b.out ]
  %p2 = mul i64 %p, 3
  br label %b
b:
  %q = phi i64 [ %x, %entry ], [ %p2, %a ], [ %q2, %b ]
  %i = phi i32 [ 0, %entry ], [ 0, %a ], [ %i2, %b ]
  %q2 = mul i64 %q, 5
  %i2 = add i32 %i, 1
  %t = icmp eq i32 %i2, 3
  br i1 %t, label %b.out, label %b
b.out:
  %u = icmp eq i64 %q2, 79
  br i1 %u, label %out, label %a
out:
  ret i64 %q2
}

; CHECK-LABEL: define void @unreachable_loop(
define void @unreachable_loop() {
  ret void
dead:
  %x = phi i32 [ 0, %dead ], [ 1, %dead2 ]
  br i1 true, label %dead, label %dead2
dead2:
  br label %dead
}

; Without a path out, and with nothing in it.
; CHECK-LABEL: define void @forever(
; CHECK: call void asm sideeffect "{{.*}}@caudal_probe_{{cold_flag|look}}_v1)
define void @forever() {
  br label %loop
loop:
  br label %loop
}

; An interpreter that is entered by a switch and goes on by a table: the cycle through its operations is no natural loop, but an
; operation's own is, and has a probe in front of the jump that all paths take. So there is no other.
; CHECK-LABEL: define void @dispatched(
; CHECK: switch
; CHECK-NOT: asm sideeffect
; CHECK: op1:
; CHECK-NOT: asm sideeffect
; CHECK: store volatile i64
; CHECK: call void asm sideeffect "{{.*}}@caudal_probe_{{cold_flag|look}}_v1)
; CHECK-NEXT: indirectbr
; CHECK-NOT: asm sideeffect
; CHECK: ret void
define void @dispatched(ptr %code, i32 %first, ptr %table) {
entry:
  switch i32 %first, label %out [
    i32 1, label %op1.entry
    i32 2, label %op2
    i32 3, label %op3
  ]
op1.entry:
  %from = phi ptr [ %code, %entry ], [ %p2, %op2 ], [ %p3, %op3 ]
  br label %op1
op1:
  %p = phi ptr [ %from, %op1.entry ], [ %next, %op1 ]
  %done = load i64, ptr %p
  store volatile i64 %done, ptr %table
  %next = getelementptr i8, ptr %p, i64 8
  %to = load ptr, ptr %p
  indirectbr ptr %to, [label %out, label %op1, label %op2, label %op3]
op2:
  %p2 = phi ptr [ %code, %entry ], [ %next, %op1 ]
  br label %op1.entry
op3:
  %p3 = phi ptr [ %code, %entry ], [ %next, %op1 ]
  br label %op1.entry
out:
  ret void
}

; The same in a loop, whose probe the operation's is as well: for what is in front of it (divisions, some 3 cycles for each operation
; that follows) it charges once, though its paths are followed twice.
; CHARGE-LABEL: define void @again_and_again(
; CHARGE: op1:
; CHARGE: asm sideeffect "subq $2, $0{{.*}}(i64 %{{.*}}, i64 5, ptr @caudal_probe_cold_carried_v1)
define void @again_and_again(ptr %code, ptr %firsts, ptr %table) {
entry:
  br label %round
round:
  %first = load volatile i32, ptr %firsts
  switch i32 %first, label %over [
    i32 1, label %op1.entry
    i32 2, label %op2
    i32 3, label %op3
  ]
op1.entry:
  %from = phi ptr [ %code, %round ], [ %p2, %op2 ], [ %p3, %op3 ]
  %w = ptrtoint ptr %from to i64
  %w2 = udiv i64 77777777777, %w
  %w3 = udiv i64 77777777777, %w2
  store volatile i64 %w3, ptr %firsts
  br label %op1
op1:
  %p = phi ptr [ %from, %op1.entry ], [ %next, %op1 ]
  %done = load i64, ptr %p
  store volatile i64 %done, ptr %table
  %next = getelementptr i8, ptr %p, i64 8
  %to = load ptr, ptr %p
  indirectbr ptr %to, [label %round, label %op1, label %op2, label %op3]
op2:
  %p2 = phi ptr [ %code, %round ], [ %next, %op1 ]
  br label %op1.entry
op3:
  %p3 = phi ptr [ %code, %round ], [ %next, %op1 ]
  br label %op1.entry
over:
  ret void
}
