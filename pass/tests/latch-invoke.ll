; A loop whose iterations end with an invoke has no probe in front of it: what it calls would lie behind the probe, and the path on
; from there be longer than planned.
; RUN: %probes -passes='caudal-probes<mode=budget;verify>,verify' %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

declare i32 @personality(...)
declare ptr @next(ptr)
declare ptr @act(ptr, i64, i64, ptr, i32)

; CHECK-LABEL: define { ptr, i32 } @calls(
; CHECK: around:
; CHECK: asm sideeffect "sub{{.*}}@caudal_probe_cold_budget_v1)
; CHECK: call ptr @next(
; CHECK: last:
; CHECK-NOT: asm
; CHECK: invoke ptr @next(
define { ptr, i32 } @calls(ptr %x) personality ptr @personality {
  br label %around

around:
  %a = call ptr @next(ptr %x)
  br i1 false, label %left, label %body

body:
  br i1 false, label %one, label %last

one:
  %b = invoke ptr @act(ptr %x, i64 0, i64 0, ptr null, i32 0)
          to label %joined unwind label %pad

joined:
  br label %last

other:
  %caught = landingpad { ptr, i32 } cleanup
  ret { ptr, i32 } %caught

pad:
  %cleaned = landingpad { ptr, i32 } cleanup
  ret { ptr, i32 } zeroinitializer

last:
  %c = invoke ptr @next(ptr %x)
          to label %around unwind label %other

left:
  %d = call ptr @act(ptr %x, i64 0, i64 0, ptr null, i32 0)
  %e = call ptr @act(ptr %x, i64 0, i64 0, ptr null, i32 0)
  %f = call ptr @act(ptr %x, i64 0, i64 0, ptr null, i32 0)
  ret { ptr, i32 } zeroinitializer
}
