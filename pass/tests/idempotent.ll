; A second run of the pass changes nothing, in another mode neither.
; RUN: %probes -passes='caudal-probes<mode=flag;verify>' %s -o %t.once
; RUN: %probes -passes='caudal-probes<mode=flag;verify>,caudal-probes<mode=flag;verify>' %s -o %t.twice
; RUN: diff %t.once %t.twice
; RUN: rm -f %t.report
; RUN: %probes -passes='caudal-probes<mode=flag>,caudal-probes<mode=clock;report=%t.report>' %s | FileCheck %s
; RUN: FileCheck %s --check-prefix=REPORT < %t.report
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define i64 @f(
; CHECK: caudal_probe_cold_flag_v1
; CHECK-NOT: caudal_probe_cold_clock
; CHECK: attributes #0 = { {{.*}}"caudal-probed"="flag"
; REPORT: "event":"left-alone","function":"f"{{.*}}"why":"probed before"
define i64 @f(i64 %x) {
entry:
  br label %loop
loop:
  %y = phi i64 [ %x, %entry ], [ %z, %loop ]
  %s = lshr i64 %y, 3
  %z = xor i64 %s, %y
  %done = icmp ult i64 %z, 3
  br i1 %done, label %exit, label %loop
exit:
  ret i64 %z
}
