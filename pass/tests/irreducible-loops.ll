; Cycles that are no natural loops, entered where an inner loop begins, in front of which there is no block of its own: jumps by an
; address lead there. Each is bounded, by a probe at the end of a block that leads to the loop, or where it begins. What goes back to
; the middle of a cycle is as long as the planner says, which the bounds chosen here are just enough for.
; RUN: %probes -passes='caudal-probes<mode=flag;verify>,verify' %s | FileCheck %s
; RUN: %probes -passes='caudal-probes<mode=budget;verify>,verify' %s -o /dev/null
; RUN: %probes -passes='caudal-probes<mode=clock;bound=100;verify>,verify' %s -o /dev/null
; RUN: %probes -passes='caudal-probes<mode=flag;bound=64;verify>,verify' %s -o /dev/null
target triple = "x86_64-pc-linux-gnu"

declare void @ext(i64)

; The inner loop {first, again} has its probe in `again`, so that the cycle through `back` does not meet it.
; CHECK-LABEL: define i64 @back_to_a_loop(
; CHECK: back:
; CHECK: call void asm sideeffect "{{.*}}@caudal_probe_{{cold_flag|look}}_v1)
define i64 @back_to_a_loop(i64 %x, ptr %to) {
entry:
  switch i64 %x, label %first [ i64 1, label %self ]
again:
  switch i64 %x, label %out [
    i64 2, label %first
    i64 3, label %self
  ]
out:
  ret i64 0
first:
  indirectbr ptr %to, [label %again, label %back]
self:
  indirectbr ptr %to, [label %self, label %back]
back:
  indirectbr ptr %to, [label %first, label %first]
}

; The path from the caller and the loop's own to its probe are too long together.
; CHECK-LABEL: define i64 @called_in_a_loop(
; CHECK: entry:
; CHECK: call void asm sideeffect "{{.*}}@caudal_probe_{{cold_flag|look}}_v1)
; CHECK: loop:
define i64 @called_in_a_loop(ptr %to) {
entry:
  indirectbr ptr %to, [label %loop, label %out]
loop:
  call void @ext(i64 0)
  indirectbr ptr %to, [label %loop, label %out]
out:
  ret i64 0
}

; Two loops of a block each, and a tangle around them.
; CHECK-LABEL: define i64 @tangled(
define i64 @tangled(i64 %x, ptr %to) {
entry:
  switch i64 %x, label %light [ i64 1, label %in ]
in:
  br label %between
between:
  indirectbr ptr %to, [label %heavy]
light:
  indirectbr ptr %to, [label %light, label %heavy]
heavy:
  %y = udiv i64 77, %x
  call void @ext(i64 %y)
  indirectbr ptr %to, [label %light, label %heavy, label %between]
}

; From another loop, at whose end no probe can stand that would not be executed in each of its iterations.
; CHECK-LABEL: define i64 @from_another_loop(
; CHECK: calls:
; CHECK-NEXT: call {{.*}}threadlocal
; CHECK-NEXT: call void asm sideeffect "{{.*}}@caudal_probe_{{cold_flag|look}}_v1)
; CHECK-NEXT: call void @ext
define i64 @from_another_loop(ptr %to) {
entry:
  br label %chooses
goes_on:
  br label %chooses
chooses:
  indirectbr ptr %to, [label %goes_on, label %calls]
calls:
  call void @ext(i64 0)
  br label %calls
}

; The path into the loop and its longer half, to a probe that was placed before that half was followed.
; CHECK-LABEL: define i64 @two_halves(
define i64 @two_halves(i64 %x, ptr %m) {
entry:
  br label %either
either:
  switch i64 %x, label %longer [ i64 1, label %shorter ]
shorter:
  br label %meets
longer:
  %a = udiv i64 777777, %x
  %b = udiv i64 %a, %x
  %c = udiv i64 %b, %x
  store volatile i64 %c, ptr %m
  br label %meets
meets:
  switch i64 %x, label %shorter [
    i64 3, label %longer
    i64 1, label %either
  ]
}
