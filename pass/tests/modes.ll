; The same places in all modes; what a probe looks at, and the cold entry that it calls, differ.
; RUN: %probes -passes='caudal-probes<mode=clock;verify>,verify' %s | FileCheck %s --check-prefixes=CHECK,CLOCK
; RUN: %probes -passes='caudal-probes<mode=budget;verify>,verify' %s | FileCheck %s --check-prefixes=CHECK,BUDGET
; RUN: %probes -passes='caudal-probes<verify>,verify' %s | FileCheck %s --check-prefixes=CHECK,BUDGET
; RUN: %probes -passes='caudal-probes<mode=flag;verify>,verify' %s | FileCheck %s --check-prefixes=CHECK,FLAG
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define i64 @f(
; BUDGET: [[LINE:%.*]] = call align 64 ptr @llvm.threadlocal.address
; CLOCK: [[CREDIT:%caudal.left[0-9]*]] = sub i32
; CLOCK: icmp slt i32 [[CREDIT]], 0
; CLOCK: store i32 250, ptr
; CLOCK: [[NOW:%.*]] = call i64 @llvm.readcyclecounter()
; CLOCK: load i64, ptr %{{.*}}, align 8
; CLOCK: icmp uge i64 [[NOW]],
; CLOCK: asm sideeffect "call *caudal_probe_cold_clock_v1@GOTPCREL(%rip)"
; BUDGET: [[PLACE:%.*]] = getelementptr inbounds i8, ptr [[LINE]], i64 8
; BUDGET: [[OLD:%.*]] = load i64, ptr [[PLACE]], align 8
; BUDGET: [[LEFT:%caudal.left[0-9]*]] = sub i64 [[OLD]], {{[0-9]+}}
; BUDGET: store i64 [[LEFT]], ptr [[PLACE]], align 8
; BUDGET: icmp slt i64 [[LEFT]], 0
; BUDGET: asm sideeffect "call *caudal_probe_cold_budget_v1@GOTPCREL(%rip)"
; FLAG: [[LINE:%.*]] = call align 64 ptr @llvm.threadlocal.address.p0(ptr align 64 @caudal_flag_v1)
; FLAG: load volatile i8, ptr [[LINE]], align 1
; FLAG: icmp ne i8
; FLAG: asm sideeffect "call *caudal_probe_cold_flag_v1@GOTPCREL(%rip)", "~{r11},~{memory}
; CHECK: call i64 @another
; CHECK: call i64 @another
; A call that the compiler does not see needs the stack below it.
; CHECK: attributes #0 = { {{.*}}noredzone
declare i64 @another(i64)
define i64 @f(i64 %x) {
  %a = call i64 @another(i64 %x)
  %b = call i64 @another(i64 %a)
  ret i64 %b
}
