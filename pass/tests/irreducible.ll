; Cycles that are no natural loops, with and without loops in them, are bounded too; code that nothing reaches is no harm.
; RUN: %probes -passes='caudal-probes<mode=flag;verify>,verify' %s | FileCheck %s
; RUN: %probes -passes='caudal-probes<mode=budget;bound=64;verify>,verify' %s -o /dev/null
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

; Without a way out, and with nothing in it.
; CHECK-LABEL: define void @forever(
; CHECK: call void asm sideeffect "{{.*}}@caudal_probe_{{cold_flag|look}}_v1)
define void @forever() {
  br label %loop
loop:
  br label %loop
}
