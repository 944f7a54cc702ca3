; Small leaves get no probe and are charged where they are called; unknown functions, and calls through pointers, keep to
; the contract, so that a row of them needs probes in between: the first may have come far, and each may be half a function's
; part long without a probe.
; RUN: %probes -passes='caudal-probes<mode=budget;verify>,verify' %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define i64 @leaf(
; CHECK-NOT: caudal
; CHECK: ret i64
define i64 @leaf(i64 %x) noinline {
  %y = mul i64 %x, 31
  %z = xor i64 %y, %x
  ret i64 %z
}

; CHECK-LABEL: define i64 @leaves(
; CHECK-NOT: caudal
; CHECK: ret i64
define i64 @leaves(i64 %x) {
  %a = call i64 @leaf(i64 %x)
  %b = call i64 @leaf(i64 %a)
  %c = call i64 @leaf(i64 %b)
  ret i64 %c
}

declare i64 @another(i64)
; CHECK-LABEL: define i64 @others(
; CHECK: %a = call
; CHECK: call void asm sideeffect "{{.*}}@caudal_probe_{{cold_budget|spend_[0-9]+}}_v1)
; CHECK-NOT: asm
; CHECK: %f = call
; CHECK: call void asm sideeffect "{{.*}}@caudal_probe_{{cold_budget|spend_[0-9]+}}_v1)
; CHECK-NEXT: ret
define i64 @others(i64 %x) {
  %a = call i64 @another(i64 %x)
  %b = call i64 @another(i64 %a)
  %c = call i64 @another(i64 %b)
  %d = call i64 @another(i64 %c)
  %e = call i64 @another(i64 %d)
  %f = call i64 @another(i64 %e)
  ret i64 %f
}

; CHECK-LABEL: define i64 @pointers(
; CHECK: %a = call
; CHECK: call void asm sideeffect "{{.*}}@caudal_probe_{{cold_budget|spend_[0-9]+}}_v1)
; CHECK-NOT: asm
; CHECK: %f = call
; CHECK: call void asm sideeffect "{{.*}}@caudal_probe_{{cold_budget|spend_[0-9]+}}_v1)
; CHECK-NEXT: ret
define i64 @pointers(ptr %function, i64 %x) {
  %a = call i64 %function(i64 %x)
  %b = call i64 %function(i64 %a)
  %c = call i64 %function(i64 %b)
  %d = call i64 %function(i64 %c)
  %e = call i64 %function(i64 %d)
  %f = call i64 %function(i64 %e)
  ret i64 %f
}

; A definition that the linker may replace tells nothing of what will run: it is as unknown as a declaration.
define weak i64 @replaceable(i64 %x) {
  ret i64 %x
}
; CHECK-LABEL: define i64 @replaceable_calls(
; CHECK: %a = call
; CHECK: call void asm sideeffect "{{.*}}@caudal_probe_{{cold_budget|spend_[0-9]+}}_v1)
; CHECK-NOT: asm
; CHECK: %f = call
; CHECK: call void asm sideeffect "{{.*}}@caudal_probe_{{cold_budget|spend_[0-9]+}}_v1)
; CHECK-NEXT: ret
define i64 @replaceable_calls(i64 %x) {
  %a = call i64 @replaceable(i64 %x)
  %b = call i64 @replaceable(i64 %a)
  %c = call i64 @replaceable(i64 %b)
  %d = call i64 @replaceable(i64 %c)
  %e = call i64 @replaceable(i64 %d)
  %f = call i64 @replaceable(i64 %e)
  ret i64 %f
}
