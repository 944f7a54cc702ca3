; A loop whose count is a constant, with iterations of 3 to 5 cycles, is unrolled: one copy has an exit,
; the last, or where their number does not divide the count the one in which it ends. Loops that wait for their own results, and
; loops whose count is no constant, stay as they are, and so do those of which more than a third loads and stores: there is room for a
; probe beside these. Short ones have no probe at all.
; RUN: %probes -passes='caudal-probes<mode=flag;verify>,verify' %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

; 375 iterations, three copies.
; CHECK-LABEL: define void @divided(
; CHECK-COUNT-6: fmul <4 x float>
; CHECK-NOT: fmul
; CHECK: call void asm sideeffect "{{.*}}@caudal_probe_{{cold_flag|look}}_v1)
; CHECK: [[DONE:%.*]] = icmp eq i64 %{{.*}}, 3000
; CHECK-NEXT: br i1 [[DONE]], label %exit, label %loop
; CHECK-NOT: br
; CHECK: ret void
define void @divided(ptr noalias %x, ptr noalias %y, <4 x float> %a) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %xp = getelementptr float, ptr %x, i64 %i
  %xq = getelementptr i8, ptr %xp, i64 16
  %yp = getelementptr float, ptr %y, i64 %i
  %yq = getelementptr i8, ptr %yp, i64 16
  %x1 = load <4 x float>, ptr %xp
  %x2 = load <4 x float>, ptr %xq
  %y1 = load <4 x float>, ptr %yp
  %y2 = load <4 x float>, ptr %yq
  %m1 = fmul <4 x float> %x1, %a
  %m2 = fmul <4 x float> %x2, %a
  %s1 = fadd <4 x float> %m1, %y1
  %s2 = fadd <4 x float> %m2, %y2
  store <4 x float> %s1, ptr %yp
  store <4 x float> %s2, ptr %yq
  %next = add nuw nsw i64 %i, 8
  %done = icmp eq i64 %next, 3000
  br i1 %done, label %exit, label %loop
exit:
  ret void
}

; Seven of nineteen instructions load or store.
; CHECK-LABEL: define void @bound_by_memory(
; CHECK-COUNT-4: store i64
; CHECK-NOT: store
; CHECK: ret void
define void @bound_by_memory(ptr noalias %x, ptr noalias %y, ptr noalias %z, ptr noalias %w) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %xp = getelementptr i64, ptr %x, i64 %i
  %yp = getelementptr i64, ptr %y, i64 %i
  %zp = getelementptr i64, ptr %z, i64 %i
  %a = load i64, ptr %xp
  %b = load i64, ptr %yp
  %c = load i64, ptr %zp
  %d = xor i64 %a, %b
  %e = add i64 %d, %c
  store i64 %e, ptr %xp
  %f = sub i64 %c, %b
  %g = xor i64 %f, %a
  store i64 %g, ptr %yp
  %k = add i64 %a, %c
  store i64 %k, ptr %zp
  %wp = getelementptr i64, ptr %w, i64 %i
  store i64 %d, ptr %wp
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, 3000
  br i1 %done, label %exit, label %loop
exit:
  ret void
}

; 377 iterations: the exit is that of the second copy.
; CHECK-LABEL: define void @left_over(
; CHECK-COUNT-4: fmul <4 x float>
; CHECK: [[DONE:%.*]] = icmp eq i64 %{{.*}}, 3016
; CHECK-NEXT: br i1 [[DONE]], label %exit, label %[[THIRD:.*]]
; CHECK: [[THIRD]]:
; CHECK-COUNT-2: fmul <4 x float>
; CHECK-NOT: fmul
; CHECK: call void asm sideeffect "{{.*}}@caudal_probe_{{cold_flag|look}}_v1)
; CHECK-NEXT: br label %loop
; CHECK: ret void
define void @left_over(ptr noalias %x, ptr noalias %y, <4 x float> %a) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %xp = getelementptr float, ptr %x, i64 %i
  %xq = getelementptr i8, ptr %xp, i64 16
  %yp = getelementptr float, ptr %y, i64 %i
  %yq = getelementptr i8, ptr %yp, i64 16
  %x1 = load <4 x float>, ptr %xp
  %x2 = load <4 x float>, ptr %xq
  %y1 = load <4 x float>, ptr %yp
  %y2 = load <4 x float>, ptr %yq
  %m1 = fmul <4 x float> %x1, %a
  %m2 = fmul <4 x float> %x2, %a
  %s1 = fadd <4 x float> %m1, %y1
  %s2 = fadd <4 x float> %m2, %y2
  store <4 x float> %s1, ptr %yp
  store <4 x float> %s2, ptr %yq
  %next = add nuw nsw i64 %i, 8
  %done = icmp eq i64 %next, 3016
  br i1 %done, label %exit, label %loop
exit:
  ret void
}

; 8 iterations: one piece of code.
; CHECK-LABEL: define void @few(
; CHECK-NOT: asm
; CHECK: ret void
define void @few(ptr noalias %x, ptr noalias %y, <4 x float> %a) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %xp = getelementptr float, ptr %x, i64 %i
  %yp = getelementptr float, ptr %y, i64 %i
  %x1 = load <4 x float>, ptr %xp
  %y1 = load <4 x float>, ptr %yp
  %m1 = fmul <4 x float> %x1, %a
  %s1 = fadd <4 x float> %m1, %y1
  store <4 x float> %s1, ptr %yp
  %next = add nuw nsw i64 %i, 4
  %done = icmp eq i64 %next, 32
  br i1 %done, label %exit, label %loop
exit:
  ret void
}

; Each sum waits for the one before.
; CHECK-LABEL: define double @waiting(
; CHECK-COUNT-1: fadd double
; CHECK-NOT: fadd
; CHECK: ret double
define double @waiting(ptr %x) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi double [ 0.0, %entry ], [ %more, %loop ]
  %xp = getelementptr double, ptr %x, i64 %i
  %x1 = load double, ptr %xp
  %more = fadd double %sum, %x1
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, 3000
  br i1 %done, label %exit, label %loop
exit:
  ret double %more
}

; CHECK-LABEL: define void @unknown(
; CHECK-COUNT-2: fmul <4 x float>
; CHECK-NOT: fmul
; CHECK: ret void
define void @unknown(ptr noalias %x, ptr noalias %y, <4 x float> %a, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %xp = getelementptr float, ptr %x, i64 %i
  %xq = getelementptr i8, ptr %xp, i64 16
  %yp = getelementptr float, ptr %y, i64 %i
  %yq = getelementptr i8, ptr %yp, i64 16
  %x1 = load <4 x float>, ptr %xp
  %x2 = load <4 x float>, ptr %xq
  %y1 = load <4 x float>, ptr %yp
  %y2 = load <4 x float>, ptr %yq
  %m1 = fmul <4 x float> %x1, %a
  %m2 = fmul <4 x float> %x2, %a
  %s1 = fadd <4 x float> %m1, %y1
  %s2 = fadd <4 x float> %m2, %y2
  store <4 x float> %s1, ptr %yp
  store <4 x float> %s2, ptr %yq
  %next = add nuw nsw i64 %i, 8
  %done = icmp eq i64 %next, %n
  br i1 %done, label %exit, label %loop
exit:
  ret void
}
