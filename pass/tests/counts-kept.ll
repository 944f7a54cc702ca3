; A loop that is short enough by its count has no probe of its own, but may have one in a loop in it: then the count must be known with
; that probe in place, too.
; RUN: %probes -passes='caudal-probes<mode=flag;bound=100;verify>,verify' %s | FileCheck %s
; RUN: %probes -passes='caudal-probes<mode=budget;bound=100;verify>,verify' %s -o /dev/null
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
; CHECK: attributes #[[COMES_BACK]] = { nounwind willreturn }

!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.mustprogress"}
