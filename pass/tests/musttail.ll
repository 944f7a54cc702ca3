; Nothing stands between a musttail call and its return, whatever the bound.
; RUN: %probes -passes='caudal-probes<mode=flag;bound=16>,verify' %s | FileCheck %s
; RUN: %probes -passes='caudal-probes<mode=flag;bound=17>,verify' %s | FileCheck %s
; RUN: %probes -passes='caudal-probes<mode=clock;bound=19>,verify' %s | FileCheck %s
; RUN: %probes -passes='caudal-probes<mode=budget;bound=40>,verify' %s | FileCheck %s
; RUN: %probes -passes='caudal-probes<verify>,verify' %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

declare i64 @g(i64)
; CHECK-LABEL: define i64 @f(
; CHECK: musttail call i64 @g(
; CHECK-NEXT: ret i64
define i64 @f(i64 %x) {
  %a = mul i64 %x, 3
  %b = mul i64 %a, 3
  %c = mul i64 %b, 5
  %r = musttail call i64 @g(i64 %c)
  ret i64 %r
}
; CHECK-LABEL: define i64 @h(
; CHECK: musttail call i64 @f(
; CHECK-NEXT: ret i64
define i64 @h(i64 %x) {
  %a = call i64 @f(i64 %x)
  %b = call i64 @f(i64 %a)
  %r = musttail call i64 @f(i64 %b)
  ret i64 %r
}

; The callee's path without a probe is the last part of the caller's: another one ends what is in front of it.
; CHECK-LABEL: define i64 @late(
; CHECK: call i64 @g(
; CHECK: asm sideeffect "{{.*}}@caudal{{[._]}}{{probe_cold|probe_look|probe_spend|clock}}
; CHECK: musttail call i64 @g(
; CHECK-NEXT: ret i64
define i64 @late(i64 %x) {
  %a = call i64 @g(i64 %x)
  %b = mul i64 %a, 3
  %r = musttail call i64 @g(i64 %b)
  ret i64 %r
}
