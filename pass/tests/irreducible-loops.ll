; Cycles that are no natural loops, entered where an inner loop begins, in front of which there is no block of its own: jumps by an
; address lead there. Each is bounded, by a probe at the end of a block that leads to the loop.
; RUN: %probes -passes='caudal-probes<mode=flag;verify>,verify' %s | FileCheck %s
; RUN: %probes -passes='caudal-probes<mode=budget;verify>,verify' %s -o /dev/null
; RUN: %probes -passes='caudal-probes<mode=clock;bound=100;verify>,verify' %s -o /dev/null
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

; The way from the caller and the loop's own to its probe are too long together.
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
