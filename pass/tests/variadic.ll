; A variadic function's va_list is started and ended where it was; calls of variadic functions are ordinary calls.
; RUN: %probes -passes='caudal-probes<mode=flag;verify>,verify' %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

declare void @llvm.va_start.p0(ptr)
declare void @llvm.va_end.p0(ptr)
declare i32 @note(ptr, ...)
; CHECK-LABEL: define i32 @sum(
; CHECK: call void @llvm.va_start
; CHECK: call void asm sideeffect "{{.*}}@caudal_probe_{{cold_flag|look}}_v1)
; CHECK: call void @llvm.va_end
define i32 @sum(i32 %n, ...) {
entry:
  %list = alloca [24 x i8], align 16
  call void @llvm.va_start.p0(ptr %list)
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i.next, %loop ]
  %total = phi i32 [ 0, %entry ], [ %next, %loop ]
  %value = va_arg ptr %list, i32
  %next = add i32 %total, %value
  %call = call i32 (ptr, ...) @note(ptr %list, i32 %next, double 1.0)
  %i.next = add i32 %i, 1
  %done = icmp eq i32 %i.next, %n
  br i1 %done, label %exit, label %loop
exit:
  call void @llvm.va_end.p0(ptr %list)
  ret i32 %next
}
