; Nothing stands in front of a landing pad's instruction; a probe in front of an invoke is in front of both its paths.
; RUN: %probes -passes='caudal-probes<mode=flag;verify>,verify' %s | FileCheck %s
; RUN: %probes -passes='caudal-probes<mode=budget;bound=40>,verify' %s -o /dev/null
target triple = "x86_64-pc-linux-gnu"

declare i32 @personality(...)
declare i64 @act(i64)
declare void @clean()

; CHECK-LABEL: define i64 @guarded(
; CHECK: call void asm sideeffect "{{.*}}@caudal_probe_{{cold_flag|look}}_v1)
; CHECK: invoke i64 @act(
; CHECK-NEXT: unwind label %pad
; CHECK: pad:
; CHECK-NEXT: landingpad
; CHECK-NEXT: cleanup
define i64 @guarded(i64 %x) personality ptr @personality {
entry:
  br label %loop
loop:
  %y = phi i64 [ %x, %entry ], [ %b, %next ]
  %a = invoke i64 @act(i64 %y) to label %next unwind label %pad
next:
  %b = invoke i64 @act(i64 %a) to label %loop unwind label %pad
pad:
  %caught = landingpad { ptr, i32 } cleanup
  call void @clean()
  resume { ptr, i32 } %caught
}

; A loop whose header is a landing pad.
; CHECK-LABEL: define void @again(
; CHECK: pad:
; CHECK-NEXT: landingpad
define void @again(i64 %x) personality ptr @personality {
entry:
  invoke void @clean() to label %done unwind label %pad
pad:
  %caught = landingpad { ptr, i32 } catch ptr null
  invoke void @clean() to label %done unwind label %pad
done:
  ret void
}
