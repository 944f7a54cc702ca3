; Edges of indirectbr and callbr cannot be split: probes stand in the blocks that they lead to.
; RUN: %probes -passes='caudal-probes<mode=flag;verify>,verify' %s | FileCheck %s
; RUN: %probes -passes='caudal-probes<mode=budget;bound=40>,verify' %s -o /dev/null
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define i64 @interpreter(
; CHECK: call void asm sideeffect "{{.*}}@caudal_probe_{{cold_flag|look}}_v1)
@to = constant [2 x ptr] [ptr blockaddress(@interpreter, %add), ptr blockaddress(@interpreter, %end)]
define i64 @interpreter(ptr %code, i64 %x) {
entry:
  br label %dispatch
dispatch:
  %at = phi ptr [ %code, %entry ], [ %next, %add ]
  %y = phi i64 [ %x, %entry ], [ %z, %add ]
  %op = load i8, ptr %at
  %next = getelementptr i8, ptr %at, i64 1
  %index = zext i8 %op to i64
  %place = getelementptr [2 x ptr], ptr @to, i64 0, i64 %index
  %target = load ptr, ptr %place
  indirectbr ptr %target, [ label %add, label %end ]
add:
  %z = add i64 %y, 3
  br label %dispatch
end:
  ret i64 %y
}

; Loops whose headers are the targets: no block can be put in front of them.
; CHECK-LABEL: define i64 @headers(
; CHECK: call void asm sideeffect "{{.*}}@caudal_probe_{{cold_flag|look}}_v1)
@headers.to = constant [2 x ptr] [ptr blockaddress(@headers, %a), ptr blockaddress(@headers, %b)]
define i64 @headers(ptr %where, i64 %x) {
entry:
  %target = load ptr, ptr %where
  indirectbr ptr %target, [ label %a, label %b, label %end ]
a:
  %p = phi i64 [ %x, %entry ], [ %p2, %a ], [ %q2, %b.out ]
  %p2 = mul i64 %p, 3
  %p.more = icmp ugt i64 %p2, 77
  br i1 %p.more, label %a, label %a.out
a.out:
  %target2 = load ptr, ptr %where
  indirectbr ptr %target2, [ label %b, label %end ]
b:
  %q = phi i64 [ %x, %entry ], [ %p2, %a.out ], [ %q2, %b ]
  %q2 = mul i64 %q, 5
  %q.more = icmp ugt i64 %q2, 79
  br i1 %q.more, label %b, label %b.out
b.out:
  %target3 = load ptr, ptr %where
  indirectbr ptr %target3, [ label %a, label %end ]
end:
  %r = phi i64 [ %x, %entry ], [ %p2, %a.out ], [ %q2, %b.out ]
  ret i64 %r
}

; CHECK-LABEL: define i64 @asm_goto(
; CHECK: callbr void asm sideeffect
; CHECK: latch:
; CHECK: call void asm sideeffect "{{.*}}@caudal_probe_{{cold_flag|look}}_v1)
define i64 @asm_goto(i64 %x) {
entry:
  br label %loop
loop:
  %y = phi i64 [ %x, %entry ], [ %z, %latch ]
  %z = udiv i64 %y, %x
  callbr void asm sideeffect "testq $0, $0; jz ${1:l}", "r,!i,~{flags}"(i64 %z) to label %latch [label %exit]
latch:
  br label %loop
exit:
  ret i64 %z
}
