; Code without loops gets a probe in front of the instruction that would take a path above the bound; each arm its own.
; RUN: %probes -passes='caudal-probes<mode=flag;bound=100;verify>,verify' %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define i64 @short(
; CHECK-NOT: caudal
; CHECK: ret i64
define i64 @short(i64 %x) {
  %y = mul i64 %x, 3
  ret i64 %y
}

; CHECK-LABEL: define i64 @long(
; CHECK-COUNT-2: call void asm sideeffect "{{.*}}@caudal_probe_{{cold_flag|look}}_v1)
; CHECK: ret i64
define i64 @long(i64 %x, i64 %y) {
  %a = udiv i64 %x, %y
  %b = udiv i64 %a, %x
  %c = udiv i64 %b, %a
  %d = udiv i64 %c, %b
  %e = udiv i64 %d, %c
  %f = udiv i64 %e, %d
  %g = udiv i64 %f, %e
  %h = udiv i64 %g, %f
  %i = udiv i64 %h, %g
  %j = udiv i64 %i, %h
  %k = udiv i64 %j, %i
  ret i64 %k
}

; One arm of a switch is long, the other is not; both meet.
; CHECK-LABEL: define i64 @arms(
; CHECK: short:
; CHECK-NOT: caudal
; CHECK: long:
; CHECK: call void asm sideeffect "{{.*}}@caudal_probe_{{cold_flag|look}}_v1)
; CHECK: meet:
define i64 @arms(i64 %x, i64 %y) {
entry:
  switch i64 %x, label %meet [ i64 1, label %short
                               i64 2, label %long ]
short:
  %s = add i64 %y, 5
  br label %meet
long:
  %a = udiv i64 %x, %y
  %b = udiv i64 %a, %x
  %c = udiv i64 %b, %a
  %d = udiv i64 %c, %b
  %e = udiv i64 %d, %c
  %f = udiv i64 %e, %d
  %g = udiv i64 %f, %e
  br label %meet
meet:
  %r = phi i64 [ %y, %entry ], [ %s, %short ], [ %g, %long ]
  ret i64 %r
}
