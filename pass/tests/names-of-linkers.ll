; The linker goes on seeing which functions the source calls, so that it takes them from where it would have taken them (an archive of the
; program's, --wrap); what a mock calls, __real_NAME, goes through a wrapper as well. A function of the module itself is no library's, and
; the library is told so. And the object says that the pass has seen it.
; RUN: %probes -passes='caudal-probes,verify' %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

; CHECK-DAG: module asm ".pushsection .note.caudal,\22a\22,@note"
; CHECK-DAG: module asm ".globl \22printf\22"
; CHECK-DAG: module asm ".weak \22pthread_mutex_lock\22"
; CHECK-DAG: module asm ".globl \22__real_pthread_mutex_unlock\22"
; CHECK-NOT: module asm ".globl \22puts\22"
; CHECK: @caudal_defines_puts = hidden alias i32 (ptr), ptr @puts
declare i32 @printf(ptr, ...)
declare extern_weak i32 @pthread_mutex_lock(ptr)
declare i32 @__real_pthread_mutex_unlock(ptr)

define i32 @puts(ptr %text) {
  ret i32 0
}

; A lock of the module's own is one all the same.
; CHECK: define i32 @own_lock(
; CHECK: call i32 @caudal_wrap_pthread_spin_lock_v1(
define i32 @pthread_spin_lock(ptr %lock) {
  ret i32 0
}

define i32 @own_lock(ptr %lock) {
  %a = call i32 @pthread_spin_lock(ptr %lock)
  ret i32 %a
}

; CHECK: define i32 @f(
; CHECK: call i32 @caudal_wrap_pthread_mutex_lock_v1(
; CHECK: call i32 (ptr, ...) @caudal_wrap_printf_v1(
; CHECK: call i32 @puts(
; CHECK: call i32 @caudal_real_pthread_mutex_unlock_v1(
define i32 @f(ptr %mutex, ptr %text) {
  %a = call i32 @pthread_mutex_lock(ptr %mutex)
  %b = call i32 (ptr, ...) @printf(ptr %text)
  %c = call i32 @puts(ptr %text)
  %d = call i32 @__real_pthread_mutex_unlock(ptr %mutex)
  ret i32 %d
}
