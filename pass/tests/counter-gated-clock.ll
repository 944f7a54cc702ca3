; For comparison: the places and counts of instruction-counter.ll, and a cold path that looks at the clock before it is due.
; RUN: %probes -passes='caudal-probes<mode=counter-gated-clock>,verify' %s | FileCheck %s
; RUN: %probes -passes='caudal-probes<mode=counter-gated-clock>' < %s | sed 's/counter[-_]gated[-_]clock/X/' > %t.gated
; RUN: %probes -passes='caudal-probes<mode=instruction-counter>' < %s | sed 's/instruction[-_]counter/X/' > %t.counter
; RUN: diff %t.gated %t.counter
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define void @each(
; CHECK: asm sideeffect "subq {{.*}}, i64 3, ptr @caudal_probe_cold_counter_gated_clock)
; CHECK-NOT: readcyclecounter
; CHECK: ret void
define void @each(ptr %p) {
entry:
  br label %loop
loop:
  %at = phi ptr [ %p, %entry ], [ %next, %loop ]
  %next = load ptr, ptr %at
  %end = icmp eq ptr %next, null
  br i1 %end, label %out, label %loop
out:
  ret void
}
