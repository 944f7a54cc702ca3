; A probe that its function executes seldom is a call of a whole one. One that each iteration of a loop executes is in place,
; however much deeper loops there are; so is one on a function's only path, where calls take more than a small part of it.
; RUN: %probes -passes='caudal-probes<mode=flag;verify>,verify' %s | FileCheck %s --check-prefixes=CHECK,FLAG
; RUN: %probes -passes='caudal-probes<mode=budget;verify>,verify' %s | FileCheck %s --check-prefixes=CHECK,BUDGET
; RUN: %probes -passes='caudal-probes<mode=budget;tls=initial-exec;verify>,verify' %s | FileCheck %s --check-prefix=SHARED
; RUN: %probes -passes='caudal-probes<mode=clock;verify>,verify' %s | FileCheck %s --check-prefix=CLOCK
target triple = "x86_64-pc-linux-gnu"

declare i64 @another(i64)

; CHECK-LABEL: define i64 @unlikely(
; CHECK: seldom:
; FLAG: asm sideeffect "call ${0:P}", "i,~{r11},{{.*}}(ptr @caudal_probe_look_v1)
; BUDGET: asm sideeffect "call ${0:P}", "i,~{r11},{{.*}}(ptr @caudal_probe_spend_{{[0-9]+}}_v1)
; CHECK: ret i64
; Clock mode has none, and shared objects do not call the library directly.
; CLOCK-NOT: caudal_probe_spend
; SHARED: asm sideeffect "call ${0:P}", "i,~{r11},{{.*}}(ptr @caudal_probe_spend_[[UNITS:[0-9]+]]_v1.own)
define i64 @unlikely(i64 %x) {
entry:
  %is = icmp eq i64 %x, 7
  br i1 %is, label %seldom, label %often, !prof !0
seldom:
  %a = call i64 @another(i64 %x)
  %b = call i64 @another(i64 %a)
  %c = call i64 @another(i64 %b)
  br label %often
often:
  %y = phi i64 [ %x, %entry ], [ %c, %seldom ]
  ret i64 %y
}

; CHECK-LABEL: define i64 @each(
; CHECK-NOT: caudal_probe_{{look|spend}}
; CHECK: ret i64
define i64 @each(i64 %x) {
entry:
  br label %first
first:
  %y = phi i64 [ %x, %entry ], [ %y.next, %first ]
  %half = lshr i64 %y, 1
  %y.next = xor i64 %half, 5
  %more = icmp ugt i64 %y.next, 9
  br i1 %more, label %first, label %outer
outer:
  %i = phi i64 [ 0, %first ], [ %i.next, %latch ]
  br label %inner
inner:
  %z = phi i64 [ %i, %outer ], [ %z.next, %inner ]
  %third = udiv i64 %z, 3
  %z.next = xor i64 %third, 5
  %on = icmp ugt i64 %z.next, 9
  br i1 %on, label %inner, label %latch
latch:
  %i.next = add i64 %i, %z.next
  %again = icmp ult i64 %i.next, %x
  br i1 %again, label %outer, label %out
out:
  ret i64 %i.next
}

; CHECK-LABEL: define i64 @only(
; CHECK-NOT: caudal_probe_{{look|spend}}
; CHECK: ret i64
define i64 @only(i64 %x) {
  %a = call i64 @another(i64 %x)
  %b = call i64 @another(i64 %a)
  %c = call i64 @another(i64 %b)
  ret i64 %c
}

; SHARED: define internal void @caudal_probe_spend_[[UNITS]]_v1.own()
; SHARED-NEXT: asm sideeffect "jmp *caudal_probe_spend_[[UNITS]]_v1@GOTPCREL(%rip)"
!0 = !{!"branch_weights", i32 1, i32 4000}
