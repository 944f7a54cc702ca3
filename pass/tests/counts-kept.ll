; A loop that is short enough by its count has no probe of its own, but may have one in a loop in it: then the count must be known with
; that probe in place, too.
; RUN: %probes -passes='caudal-probes<mode=flag;bound=100;verify>,verify' %s | FileCheck %s
; RUN: %probes -passes='caudal-probes<mode=budget;bound=100;verify>,verify' %s -o /dev/null
; RUN: %probes -passes='caudal-probes<mode=budget;bound=200;verify>,verify' %s -o /dev/null
; RUN: %probes -passes='caudal-probes<mode=flag;bound=1000;verify>,verify' %s | FileCheck %s --check-prefix=LONG
target triple = "x86_64-pc-linux-gnu"

; Five times at most, for what is added does not wrap. That follows from the iteration's end being reached, behind a probe as well.
; CHECK-LABEL: define i32 @does_not_wrap(
; CHECK: inner
; CHECK: asm sideeffect "{{.*}}@caudal_probe_{{cold_flag|look}}_v1) #[[COMES_BACK:[0-9]+]]
; CHECK: next:
; CHECK-NOT: asm sideeffect
; CHECK: br i1
define i32 @does_not_wrap(i64 %end, i64 %x) {
entry:
  br label %outer
outer:
  %i = phi i64 [ 9223372036854775800, %entry ], [ %i2, %next ]
  br label %inner
inner:
  %found = icmp eq i64 %x, %i
  br i1 %found, label %next, label %inner
next:
  %i2 = add nsw i64 %i, 2
  %more = icmp slt i64 %i2, %end
  br i1 %more, label %outer, label %out
out:
  ret i32 0
}

; 64 times at most, if it ends, which C++ lets a compiler suppose as long as it does nothing: it has a probe of its own.
; LONG-LABEL: define i32 @ends_if_it_does_nothing(
; LONG: next:
; LONG: asm sideeffect "{{.*}}@caudal_probe_{{cold_flag|look}}_v1)
; LONG: br label %outer
define i32 @ends_if_it_does_nothing(i8 %end, i1 %x) {
entry:
  br label %outer
outer:
  %i = phi i8 [ 0, %entry ], [ %i2, %next ]
  %more = icmp ult i8 %i, %end
  br i1 %more, label %inner, label %out
inner:
  br i1 %x, label %inner, label %next
next:
  %i2 = add i8 %i, 4
  br label %outer, !llvm.loop !0
out:
  ret i32 0
}
; 66 times: a probe in each iteration, if it is too long without.
; CHECK-LABEL: define i32 @keeps_low_bits(
; CHECK-NOT: llvm.umin
; CHECK: ret
define i32 @keeps_low_bits() {
entry:
  br label %loop
loop:
  %i = phi i32 [ 25775, %entry ], [ %i2, %loop ]
  %x = tail call x86_fp80 @llvm.fmuladd.f80(x86_fp80 0xK0, x86_fp80 0xK0, x86_fp80 0xK0)
  %i2 = add i32 %i, 2
  %low = and i32 %i, 65535
  %last = icmp eq i32 %low, 25905
  br i1 %last, label %out, label %loop
out:
  ret i32 0
}

; What is left of the budget goes through the inner loop's probes, and takes longer than an iteration without it. That is no way
; between probes: the loop around has none.
; CHECK-LABEL: define i32 @carries_around(
define i32 @carries_around() {
entry:
  br label %again
again:
  br label %outer
outer:
  %p = phi ptr [ inttoptr (i64 2189 to ptr), %again ], [ %p2, %next ]
  br i1 false, label %before, label %next
before:
  br label %search
search:
  br i1 false, label %more, label %search
more:
  br i1 true, label %more, label %either
either:
  br i1 true, label %search, label %behind
behind:
  br label %next
next:
  %p2 = getelementptr i8, ptr %p, i64 -8
  %last = icmp eq ptr %p, inttoptr (i64 1933 to ptr)
  br i1 %last, label %again, label %outer
}
; CHECK: attributes #[[COMES_BACK]] = { nounwind willreturn }

!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.mustprogress"}
