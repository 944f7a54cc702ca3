; Recursion is bounded: a function that calls itself, or another in a ring, meets a probe in each round.
; RUN: %probes -passes='caudal-probes<mode=flag;verify>,verify' %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define i64 @fibonacci(
; CHECK: call void asm sideeffect "{{.*}}@caudal_probe_{{cold_flag|look}}_v1)
define i64 @fibonacci(i64 %n) {
entry:
  %small = icmp ult i64 %n, 2
  br i1 %small, label %done, label %more
more:
  %one = sub i64 %n, 1
  %a = call i64 @fibonacci(i64 %one)
  %two = sub i64 %n, 2
  %b = call i64 @fibonacci(i64 %two)
  %sum = add i64 %a, %b
  ret i64 %sum
done:
  ret i64 %n
}

; A ring of two, with one call each: one of them has a probe on its path to the other.
; CHECK: define i64 @even(
; CHECK: call void asm sideeffect "{{.*}}@caudal_probe_{{cold_flag|look}}_v1)
define i64 @even(i64 %n) {
entry:
  %end = icmp eq i64 %n, 0
  br i1 %end, label %done, label %more
more:
  %less = sub i64 %n, 1
  %r = call i64 @odd(i64 %less)
  %s = add i64 %r, 1
  ret i64 %s
done:
  ret i64 1
}
define i64 @odd(i64 %n) {
entry:
  %end = icmp eq i64 %n, 0
  br i1 %end, label %done, label %more
more:
  %less = sub i64 %n, 1
  %r = call i64 @even(i64 %less)
  %s = mul i64 %r, 3
  ret i64 %s
done:
  ret i64 0
}
