; What is to be small gets no copies of loops, and calls of probes where they take a twentieth of its time at most; what is cold has
; calls of all: by an attribute, -Oz, or a profile. What a profile has found to be hot is as without one. So is a loop that may be hot
; after all, for a profile may say too little: one that is executed a little less often than what is hot, for counts are rounded, and
; one that would be hot with eight iterations for each entry, and with as many entries of each loop around it.
; RUN: %probes -passes='caudal-probes<mode=budget;verify>,verify' %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

declare i64 @another(i64)

; CHECK-LABEL: define i64 @quick(
; CHECK: icmp ult i64 %z{{.*}}, 3
; CHECK: asm sideeffect "sub
; CHECK: icmp ult i64 %z{{.*}}, 3
; CHECK: ret i64
define i64 @quick(i64 %x) {
entry:
  br label %loop
loop:
  %y = phi i64 [ %x, %entry ], [ %z, %loop ]
  %s = lshr i64 %y, 3
  %z = xor i64 %s, %y
  %done = icmp ult i64 %z, 3
  br i1 %done, label %exit, label %loop
exit:
  ret i64 %z
}

; CHECK-LABEL: define i64 @small(
; CHECK: loop:
; CHECK: asm sideeffect "sub
; CHECK: icmp ult i64 %z, 3
; CHECK-NOT: icmp ult
; CHECK: ret i64
define i64 @small(i64 %x) optsize {
entry:
  br label %loop
loop:
  %y = phi i64 [ %x, %entry ], [ %z, %loop ]
  %s = lshr i64 %y, 3
  %z = xor i64 %s, %y
  %done = icmp ult i64 %z, 3
  br i1 %done, label %exit, label %loop
exit:
  ret i64 %z
}

; A probe of a function that takes long is a call sooner.
; CHECK-LABEL: define i64 @long_as_ever(
; CHECK-NOT: caudal_probe_spend
; CHECK: ret i64
define i64 @long_as_ever(i64 %x) {
entry:
  %a = call i64 @another(i64 %x)
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %y = phi i64 [ %a, %entry ], [ %z, %loop ]
  %d = lshr i64 -1, %y
  %z = udiv i64 %d, 7
  %i.next = add i64 %i, 1
  %done = icmp eq i64 %i.next, 3
  br i1 %done, label %exit, label %loop
exit:
  %b = call i64 @another(i64 %z)
  ret i64 %b
}

; CHECK-LABEL: define i64 @long_and_small(
; CHECK: exit:
; CHECK-NEXT: asm sideeffect "call {{.*}}@caudal_probe_spend_{{[0-9]+}}_v1)
; CHECK-NEXT: %b = call
; CHECK-NEXT: asm sideeffect "call {{.*}}@caudal_probe_spend_{{[0-9]+}}_v1)
; CHECK: ret i64
define i64 @long_and_small(i64 %x) optsize {
entry:
  %a = call i64 @another(i64 %x)
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %y = phi i64 [ %a, %entry ], [ %z, %loop ]
  %d = lshr i64 -1, %y
  %z = udiv i64 %d, 7
  %i.next = add i64 %i, 1
  %done = icmp eq i64 %i.next, 3
  br i1 %done, label %exit, label %loop
exit:
  %b = call i64 @another(i64 %z)
  ret i64 %b
}

; CHECK-LABEL: define i64 @smallest(
; CHECK: loop:
; CHECK-NOT: asm sideeffect "sub
; CHECK: asm sideeffect "call {{.*}}@caudal_probe_spend_{{[0-9]+}}_v1)
; CHECK: icmp ult i64 %z, 3
; CHECK-NOT: icmp ult
; CHECK: ret i64
define i64 @smallest(i64 %x) optsize minsize {
entry:
  br label %loop
loop:
  %y = phi i64 [ %x, %entry ], [ %z, %loop ]
  %s = lshr i64 %y, 3
  %z = xor i64 %s, %y
  %done = icmp ult i64 %z, 3
  br i1 %done, label %exit, label %loop
exit:
  ret i64 %z
}

; CHECK-LABEL: define i64 @cold(
; CHECK: loop:
; CHECK-NOT: asm sideeffect "sub
; CHECK: asm sideeffect "call {{.*}}@caudal_probe_spend_{{[0-9]+}}_v1)
; CHECK: icmp ult i64 %z, 3
; CHECK-NOT: icmp ult
; CHECK: ret i64
define i64 @cold(i64 %x) cold {
entry:
  br label %loop
loop:
  %y = phi i64 [ %x, %entry ], [ %z, %loop ]
  %s = lshr i64 %y, 3
  %z = xor i64 %s, %y
  %done = icmp ult i64 %z, 3
  br i1 %done, label %exit, label %loop
exit:
  ret i64 %z
}

; CHECK-LABEL: define i64 @hot(
; CHECK: icmp ult i64 %z{{.*}}, 3
; CHECK: asm sideeffect "sub
; CHECK: icmp ult i64 %z{{.*}}, 3
; CHECK: ret i64
define i64 @hot(i64 %x) !prof !2 {
entry:
  br label %loop
loop:
  %y = phi i64 [ %x, %entry ], [ %z, %loop ]
  %s = lshr i64 %y, 3
  %z = xor i64 %s, %y
  %done = icmp ult i64 %z, 3
  br i1 %done, label %exit, label %loop, !prof !1
exit:
  ret i64 %z
}

; CHECK-LABEL: define i64 @peeled(
; CHECK: icmp ult i64 %z{{.*}}, 3
; CHECK: asm sideeffect "sub
; CHECK: icmp ult i64 %z{{.*}}, 3
; CHECK: ret i64
define i64 @peeled(i64 %x) !prof !18 {
entry:
  br label %loop
loop:
  %y = phi i64 [ %x, %entry ], [ %z, %loop ]
  %s = lshr i64 %y, 3
  %z = xor i64 %s, %y
  %done = icmp ult i64 %z, 3
  br i1 %done, label %exit, label %loop, !prof !17
exit:
  ret i64 %z
}

; CHECK-LABEL: define i64 @rounded(
; CHECK: icmp ult i64 %z{{.*}}, 3
; CHECK: asm sideeffect "sub
; CHECK: icmp ult i64 %z{{.*}}, 3
; CHECK: ret i64
define i64 @rounded(i64 %x) !prof !19 {
entry:
  br label %loop
loop:
  %y = phi i64 [ %x, %entry ], [ %z, %loop ]
  %s = lshr i64 %y, 3
  %z = xor i64 %s, %y
  %done = icmp ult i64 %z, 3
  br i1 %done, label %exit, label %loop, !prof !1
exit:
  ret i64 %z
}

; CHECK-LABEL: define i64 @seldom(
; CHECK: loop:
; CHECK-NOT: asm sideeffect "sub
; CHECK: asm sideeffect "call {{.*}}@caudal_probe_spend_{{[0-9]+}}_v1)
; CHECK: icmp ult i64 %z, 3
; CHECK-NOT: icmp ult
; CHECK: ret i64
define i64 @seldom(i64 %x) !prof !3 {
entry:
  br label %loop
loop:
  %y = phi i64 [ %x, %entry ], [ %z, %loop ]
  %s = lshr i64 %y, 3
  %z = xor i64 %s, %y
  %done = icmp ult i64 %z, 3
  br i1 %done, label %exit, label %loop, !prof !1
exit:
  ret i64 %z
}

; CHECK-LABEL: define i64 @peeled_nest(
; CHECK: icmp ult i64 %z{{.*}}, 3
; CHECK: icmp ult i64 %z{{.*}}, 3
; CHECK: ret i64
define i64 @peeled_nest(i64 %x) !prof !21 {
entry:
  br label %around
around:
  %v = phi i64 [ %x, %entry ], [ %w, %after ]
  br label %loop
loop:
  %y = phi i64 [ %v, %around ], [ %z, %loop ]
  %s = lshr i64 %y, 3
  %z = xor i64 %s, %y
  %done = icmp ult i64 %z, 3
  br i1 %done, label %after, label %loop, !prof !17
after:
  %w = mul i64 %v, %z
  %more = icmp ugt i64 %w, 5
  br i1 %more, label %around, label %exit, !prof !17
exit:
  ret i64 %w
}

; CHECK-LABEL: define i64 @peeled_and_seldom(
; CHECK: loop:
; CHECK-NOT: asm sideeffect "sub
; CHECK: asm sideeffect "call {{.*}}@caudal_probe_spend_{{[0-9]+}}_v1)
; CHECK: icmp ult i64 %z, 3
; CHECK-NOT: icmp ult
; CHECK: ret i64
define i64 @peeled_and_seldom(i64 %x) !prof !20 {
entry:
  br label %loop
loop:
  %y = phi i64 [ %x, %entry ], [ %z, %loop ]
  %s = lshr i64 %y, 3
  %z = xor i64 %s, %y
  %done = icmp ult i64 %z, 3
  br i1 %done, label %exit, label %loop, !prof !17
exit:
  ret i64 %z
}

!llvm.module.flags = !{!4}
!1 = !{!"branch_weights", i32 1, i32 100}
!2 = !{!"function_entry_count", i64 1000000}
!3 = !{!"function_entry_count", i64 1}
!4 = !{i32 1, !"ProfileSummary", !5}
!5 = !{!6, !7, !8, !9, !10, !11, !12, !13}
!6 = !{!"ProfileFormat", !"InstrProf"}
!7 = !{!"TotalCount", i64 102000102}
!8 = !{!"MaxCount", i64 101000000}
!9 = !{!"MaxInternalCount", i64 101000000}
!10 = !{!"MaxFunctionCount", i64 1000000}
!11 = !{!"NumCounts", i64 4}
!12 = !{!"NumFunctions", i64 2}
!13 = !{!"DetailedSummary", !14}
!14 = !{!15, !16}
!15 = !{i32 990000, i64 1000000, i32 2}
!16 = !{i32 999999, i64 101, i32 3}
!17 = !{!"branch_weights", i32 1, i32 1}
!18 = !{!"function_entry_count", i64 130000}
!19 = !{!"function_entry_count", i64 9000}
!20 = !{!"function_entry_count", i64 60000}
!21 = !{!"function_entry_count", i64 20000}
