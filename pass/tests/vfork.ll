; The child of vfork runs in its parent's memory and thread: the library's own vfork keeps others out, and still returns twice. So does a
; section around clone.
; RUN: %probes -passes='caudal-probes<mode=flag>,verify' %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

declare i32 @vfork() returns_twice
declare i32 @clone(ptr, ptr, i32, ptr, ...)
declare void @_exit(i32) noreturn

; CHECK-LABEL: define i32 @spawn(
; CHECK: call i32 @caudal_wrap_vfork_v1()
define i32 @spawn() {
  %child = call i32 @vfork()
  %is.child = icmp eq i32 %child, 0
  br i1 %is.child, label %in.child, label %in.parent
in.child:
  call void @_exit(i32 1)
  unreachable
in.parent:
  ret i32 %child
}

; CHECK-LABEL: define i32 @start(
; CHECK: call void @caudal_section_enter_v1()
; CHECK: {{.*}}@clone(
; CHECK: call void @caudal_section_exit_v1()
define i32 @start(ptr %run, ptr %stack) {
  %child = call i32 (ptr, ptr, i32, ptr, ...) @clone(ptr %run, ptr %stack, i32 16640, ptr null)
  ret i32 %child
}

; CHECK: declare i32 @caudal_wrap_vfork_v1() [[TWICE:#[0-9]+]]
; CHECK: attributes [[TWICE]] = { returns_twice
