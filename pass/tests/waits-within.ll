; Around a call of a small function that waits for a lock, has a probe by hand or jumps elsewhere, what is left goes back to memory, as
; around what it calls: others may have run there, and a new quantum may have begun. A function that only computes is passed with what is
; left in the register.
; RUN: %probes -passes='caudal-probes<mode=budget;verify>,verify' %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

@mutex = external global [40 x i8], align 16
@place = external global [5 x ptr]
@shared = external global i64
declare i32 @pthread_mutex_lock(ptr) nounwind
declare i32 @pthread_mutex_unlock(ptr) nounwind

define internal void @wait(i64 %by) noinline nounwind {
  %l = call i32 @pthread_mutex_lock(ptr @mutex)
  store i64 %by, ptr @shared
  %u = call i32 @pthread_mutex_unlock(ptr @mutex)
  ret void
}

define internal void @further(i64 %by) noinline nounwind {
  call void @wait(i64 %by)
  ret void
}

define internal void @by_hand(i64 %by) noinline nounwind {
  call void asm sideeffect "subq $$1, %fs:caudal_probe_v1@tpoff+8; jge 1f; call caudal_probe_cold_budget_v1; 1:", "~{r11},~{memory},~{flags}"()
  ret void
}

define internal void @elsewhere(i64 %by) noinline nounwind {
  %is = icmp eq i64 %by, 0
  br i1 %is, label %leave, label %stay
leave:
  call void @llvm.eh.sjlj.longjmp(ptr @place)
  unreachable
stay:
  ret void
}

define internal void @compute(i64 %by) noinline nounwind {
  store i64 %by, ptr @shared
  ret void
}
declare void @llvm.eh.sjlj.longjmp(ptr) noreturn nounwind


; CHECK-LABEL: define void @nest_further(
; CHECK: outer:
; CHECK: [[PLACE:%.*]] = getelementptr
; CHECK-NEXT: load i64, ptr [[PLACE]]
; CHECK: latch:
; CHECK: store i64
; CHECK-NEXT: call void @further(
define void @nest_further(i64 %n, ptr %p) {
entry:
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %i.next, %latch ]
  %first = load i64, ptr %p
  br label %inner
inner:
  %x = phi i64 [ %first, %outer ], [ %x.next, %inner ]
  %s = lshr i64 %x, 3
  %x.next = xor i64 %s, %x
  %done = icmp ult i64 %x.next, 3
  br i1 %done, label %latch, label %inner
latch:
  call void @further(i64 %x)
  %i.next = add i64 %i, 1
  %d = load i64, ptr %p
  %end = icmp eq i64 %i.next, %d
  br i1 %end, label %exit, label %outer
exit:
  ret void
}

; CHECK-LABEL: define void @nest_by_hand(
; CHECK: outer:
; CHECK: [[PLACE:%.*]] = getelementptr
; CHECK-NEXT: load i64, ptr [[PLACE]]
; CHECK: latch:
; CHECK: store i64
; CHECK-NEXT: call void @by_hand(
define void @nest_by_hand(i64 %n, ptr %p) {
entry:
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %i.next, %latch ]
  %first = load i64, ptr %p
  br label %inner
inner:
  %x = phi i64 [ %first, %outer ], [ %x.next, %inner ]
  %s = lshr i64 %x, 3
  %x.next = xor i64 %s, %x
  %done = icmp ult i64 %x.next, 3
  br i1 %done, label %latch, label %inner
latch:
  call void @by_hand(i64 %x)
  %i.next = add i64 %i, 1
  %d = load i64, ptr %p
  %end = icmp eq i64 %i.next, %d
  br i1 %end, label %exit, label %outer
exit:
  ret void
}

; CHECK-LABEL: define void @nest_elsewhere(
; CHECK: outer:
; CHECK: [[PLACE:%.*]] = getelementptr
; CHECK-NEXT: load i64, ptr [[PLACE]]
; CHECK: latch:
; CHECK: store i64
; CHECK-NEXT: call void @elsewhere(
define void @nest_elsewhere(i64 %n, ptr %p) {
entry:
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %i.next, %latch ]
  %first = load i64, ptr %p
  br label %inner
inner:
  %x = phi i64 [ %first, %outer ], [ %x.next, %inner ]
  %s = lshr i64 %x, 3
  %x.next = xor i64 %s, %x
  %done = icmp ult i64 %x.next, 3
  br i1 %done, label %latch, label %inner
latch:
  call void @elsewhere(i64 %x)
  %i.next = add i64 %i, 1
  %d = load i64, ptr %p
  %end = icmp eq i64 %i.next, %d
  br i1 %end, label %exit, label %outer
exit:
  ret void
}

; CHECK-LABEL: define void @nest_compute(
; CHECK: entry:
; CHECK: [[PLACE:%.*]] = getelementptr
; CHECK-NEXT: load i64, ptr [[PLACE]]
; CHECK: latch:
; CHECK-NOT: store i64
; CHECK: exit:
; CHECK: store i64
define void @nest_compute(i64 %n, ptr %p) {
entry:
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %i.next, %latch ]
  %first = load i64, ptr %p
  br label %inner
inner:
  %x = phi i64 [ %first, %outer ], [ %x.next, %inner ]
  %s = lshr i64 %x, 3
  %x.next = xor i64 %s, %x
  %done = icmp ult i64 %x.next, 3
  br i1 %done, label %latch, label %inner
latch:
  call void @compute(i64 %x)
  %i.next = add i64 %i, 1
  %d = load i64, ptr %p
  %end = icmp eq i64 %i.next, %d
  br i1 %end, label %exit, label %outer
exit:
  ret void
}
