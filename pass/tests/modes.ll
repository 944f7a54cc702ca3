; The same places in all modes; what a probe looks at, and the cold entry that it calls, differ.
; RUN: %probes -passes='caudal-probes<mode=clock;verify>,verify' %s | FileCheck %s --check-prefixes=CHECK,CLOCK
; RUN: %probes -passes='caudal-probes<mode=budget;verify>,verify' %s | FileCheck %s --check-prefixes=CHECK,BUDGET
; RUN: %probes -passes='caudal-probes<verify>,verify' %s | FileCheck %s --check-prefixes=CHECK,BUDGET
; RUN: %probes -passes='caudal-probes<mode=flag;verify>,verify' %s | FileCheck %s --check-prefixes=CHECK,FLAG
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define i64 @f(
; BUDGET: [[LINE:%.*]] = call align 64 ptr @llvm.threadlocal.address.p0(ptr align 64 @caudal_probe_v1)
; BUDGET: [[PLACE:%.*]] = getelementptr inbounds i8, ptr [[LINE]], i64 8
; BUDGET: asm sideeffect "subq $1, $0\0A\09jl 90417f\0A\09.byte 0x0f, 0x1f, 0x84\0A90417:\09call ${2:P}", "=*m,i,i,~{r11},~{memory}{{.*}}"(ptr elementtype(i64) [[PLACE]], i64 {{[0-9]+}}, ptr @caudal_probe_cold_budget_v1)
; CLOCK: [[LINE:%.*]] = call align 64 ptr @llvm.threadlocal.address.p0(ptr align 64 @caudal_probe_v1)
; CLOCK: [[PLACE:%.*]] = getelementptr inbounds i8, ptr [[LINE]], i64 52
; CLOCK: asm sideeffect "subl $1, $0\0A\09jl {{.*}}(ptr elementtype(i32) [[PLACE]], i32 {{[0-9]+}}, ptr @caudal_probe_cold_credit_v1)
; FLAG: [[LINE:%.*]] = call align 64 ptr @llvm.threadlocal.address.p0(ptr align 64 @caudal_flag_v1)
; FLAG: asm sideeffect "cmpb $$0, $0\0A\09jne {{.*}}(ptr elementtype(i8) [[LINE]], ptr @caudal_probe_cold_flag_v1)
; CHECK: call i64 @another
; CHECK: call i64 @another
; A call that the compiler does not see needs the stack below it.
; CHECK: attributes #0 = { {{.*}}noredzone
declare i64 @another(i64)
define i64 @f(i64 %x) {
  %a = call i64 @another(i64 %x)
  %b = call i64 @another(i64 %a)
  %c = call i64 @another(i64 %b)
  ret i64 %c
}
