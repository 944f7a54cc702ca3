; For comparison: instructions are counted as Compiler Interrupts does, at the ends of containers; the count says what is due.
; RUN: %probes -passes='caudal-probes<mode=instruction-counter>,verify' %s | FileCheck %s
; RUN: not %probes -passes='caudal-probes<mode=instruction-counter;verify>' %s 2>&1 | FileCheck %s --check-prefix=REFUSED
; REFUSED: verify: mode=instruction-counter promises no bound
target triple = "x86_64-pc-linux-gnu"

declare void @elsewhere()

; All of it is counted where it is called: the mean of both arms, 2, and 3 around them.
; CHECK-LABEL: define internal i64 @branch(
; CHECK-NOT: caudal
; CHECK: ret i64
define internal i64 @branch(i64 %x, i1 %c) {
entry:
  br i1 %c, label %left, label %right
left:
  %l = mul i64 %x, 3
  br label %join
right:
  %r = add i64 %x, 3
  br label %join
join:
  %y = phi i64 [ %l, %left ], [ %r, %right ]
  %z = add i64 %y, 1
  ret i64 %z
}

; A loop of 8 iterations goes on to what is behind it.
; CHECK-LABEL: define internal i64 @short_loop(
; CHECK-NOT: caudal
; CHECK: ret i64
define internal i64 @short_loop(i64 %x) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %s = phi i64 [ %x, %entry ], [ %s.next, %loop ]
  %s.next = mul i64 %s, 3
  %i.next = add i64 %i, 1
  %more = icmp ult i64 %i.next, 8
  br i1 %more, label %loop, label %end
end:
  ret i64 %s.next
}

; A loop that cannot be counted in advance: 4 instructions in each iteration, 1 + 5 and 1 + 34 for the calls, of what the
; functions left, and 1 + 100 for the one that is not in the module.
; CHECK-LABEL: define void @each(
; CHECK: loop:
; CHECK: asm sideeffect "subq {{.*}}, i64 146, ptr @caudal_probe_cold_instruction_counter)
; CHECK-NOT: caudal
; CHECK: ret void
define void @each(ptr %p, i1 %c) {
entry:
  br label %loop
loop:
  %at = phi ptr [ %p, %entry ], [ %next, %loop ]
  %x = load i64, ptr %at
  %b = call i64 @branch(i64 %x, i1 %c)
  %l = call i64 @short_loop(i64 %b)
  call void @elsewhere()
  %next = load ptr, ptr %at
  %end = icmp eq ptr %next, null
  br i1 %end, label %out, label %loop
out:
  ret void
}

; Blocks that are of no container: each counts for itself.
; CHECK-LABEL: define i64 @apart(
; CHECK: again:
; CHECK: call void asm sideeffect "{{.*}}@caudal_probe_cold_instruction_counter)
; CHECK: other:
; CHECK: call void asm sideeffect "{{.*}}@caudal_probe_cold_instruction_counter)
; CHECK: ret i64
define i64 @apart(i64 %x) {
entry:
  br label %again
again:
  %i = phi i64 [ %x, %entry ], [ %j, %other ], [ %k, %again ]
  %k = mul i64 %i, 7
  %c = icmp ult i64 %k, 100
  br i1 %c, label %again, label %other
other:
  %j = sub i64 %k, 3
  %d = icmp ult i64 %j, 200
  br i1 %d, label %again, label %end
end:
  ret i64 %j
}

; A counted loop is cut: 1000 / 5 iterations a strip, each counted where it begins.
; CHECK-LABEL: define i64 @strips(
; CHECK: loop.strip:
; CHECK: call i64 @llvm.umin.i64(i64 {{%.*}}, i64 199)
; CHECK: mul i64 {{%.*}}, 5
; CHECK: call void asm sideeffect "{{.*}}@caudal_probe_cold_instruction_counter)
; CHECK: ret i64
define i64 @strips(ptr %p, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %s = phi i64 [ 0, %entry ], [ %s.next, %loop ]
  %at = getelementptr i64, ptr %p, i64 %i
  %x = load i64, ptr %at
  %s.next = add i64 %s, %x
  %i.next = add nuw i64 %i, 1
  %end = icmp eq i64 %i.next, %n
  br i1 %end, label %out, label %loop
out:
  ret i64 %s.next
}

; Conditions that share an arm get a join of their own, so that all of them are one container.
; CHECK-LABEL: define internal i64 @shared(
; CHECK-NOT: caudal
; CHECK: ret i64
define internal i64 @shared(i64 %x, i1 %c, i1 %d) {
entry:
  br i1 %c, label %second, label %end
second:
  br i1 %d, label %arm, label %end
arm:
  %y = mul i64 %x, 3
  br label %end
end:
  %z = phi i64 [ %x, %entry ], [ %x, %second ], [ %y, %arm ]
  ret i64 %z
}

; What functions that call each other count, they count themselves.
; CHECK-LABEL: define i64 @recursive(
; CHECK: asm sideeffect "subq {{.*}}, i64 2, ptr @caudal_probe_cold_instruction_counter)
; CHECK: ret i64
define i64 @recursive(i64 %n) {
  %r = call i64 @recursive(i64 %n)
  ret i64 %r
}
