; A baseline cuts a loop that ends by its own test by giving that test a nearer end: no instruction is added to its iterations.
; RUN: %probes -passes='caudal-probes<mode=instruction-counter>,verify' %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define i64 @up(
; A strip begins with its end, and a probe.
; CHECK: call i64 @llvm.umin.i64(i64 %{{.*}}, i64 {{[0-9]+}})
; CHECK: %caudal.end{{[0-9]*}} = add i64
; The strip's iterations are charged where it begins.
; CHECK: call void asm sideeffect "{{.*}}@caudal_probe_cold_instruction_counter)
; CHECK: loop:
; CHECK-NOT: icmp
; CHECK: icmp eq i64 %i.next, %caudal.end
; CHECK-NEXT: br i1
; Behind it, it is the loop's end or another strip begins.
; CHECK: icmp eq i64 %caudal.end{{[0-9]*}}, %n
; CHECK-NEXT: br i1 %{{.*}}, label %{{.*}}exit{{.*}}, label %loop.strip
define i64 @up(ptr %p, i64 %n) {
entry:
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %loop, label %exit
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %sum = phi i64 [ 0, %entry ], [ %sum.next, %loop ]
  %at = getelementptr i64, ptr %p, i64 %i
  %value = load i64, ptr %at
  %sum.next = add i64 %sum, %value
  %i.next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %i.next, %n
  br i1 %more, label %loop, label %exit
exit:
  %result = phi i64 [ 0, %entry ], [ %sum.next, %loop ]
  ret i64 %result
}

; Downwards, by steps of four: the nearer end is below.
; CHECK-LABEL: define void @down(
; CHECK: [[FAR:%.*]] = call i64 @llvm.umin.i64
; CHECK: [[ITERATIONS:%.*]] = add nuw i64 [[FAR]], 1
; CHECK: [[STEPS:%.*]] = shl i64 [[ITERATIONS]], 2
; CHECK: [[BELOW:%.*]] = sub i64 0, [[STEPS]]
; CHECK: %caudal.end{{[0-9]*}} = add i64 %{{.*}}, [[BELOW]]
; The strip's iterations are charged where it begins.
; CHECK: call void asm sideeffect "{{.*}}@caudal_probe_cold_instruction_counter)
; CHECK: loop:
; CHECK: icmp eq i64 %i.next, %caudal.end
define void @down(ptr %p, i64 %n) {
entry:
  %start = shl i64 %n, 2
  br label %loop
loop:
  %i = phi i64 [ %start, %entry ], [ %i.next, %loop ]
  %i.next = add nsw i64 %i, -4
  %at = getelementptr i32, ptr %p, i64 %i.next
  store i32 1, ptr %at
  %done = icmp eq i64 %i.next, 0
  br i1 %done, label %exit, label %loop
exit:
  ret void
}

; Pointers: the test is on a pointer, the distance a number.
; CHECK-LABEL: define void @pointer(
; CHECK: ptrtoint ptr
; CHECK: %caudal.end = getelementptr i8, ptr
; The strip's iterations are charged where it begins.
; CHECK: call void asm sideeffect "{{.*}}@caudal_probe_cold_instruction_counter)
; CHECK: icmp eq ptr %p.next, %caudal.end
define void @pointer(ptr %p, ptr %end) {
entry:
  br label %loop
loop:
  %q = phi ptr [ %p, %entry ], [ %p.next, %loop ]
  store i8 1, ptr %q
  %p.next = getelementptr inbounds i8, ptr %q, i64 1
  %done = icmp eq ptr %p.next, %end
  br i1 %done, label %exit, label %loop
exit:
  ret void
}
