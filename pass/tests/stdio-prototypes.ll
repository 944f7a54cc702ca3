; stdio's functions are known by their parameters, too: a program's own getline, with others, stays what is called, and so does a weak
; one. Of functions without a wrapper the stream is locked that they are given.
; RUN: %probes -passes='caudal-probes<mode=flag>,verify' %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

declare i32 @getline(ptr, i32)
declare i32 @puts(...)
declare extern_weak i32 @fflush(ptr)
declare i64 @fwrite(ptr, i64, i64, ptr)
declare ptr @__fgets_chk(ptr, i64, i32, ptr)
declare i64 @__fread_chk(ptr, i64, i64, i64, ptr)
declare i32 @fscanf(ptr, ptr, ...)

; CHECK-LABEL: define void @calls(
; CHECK: call i32 @getline(
; CHECK: call i32 (...) @puts(
; CHECK: call i32 @fflush(
; CHECK: call i64 @caudal_wrap_fwrite_v1(
; CHECK: call void @caudal_stdio_enter_v1(ptr %file)
; CHECK: call ptr @__fgets_chk(
; CHECK: call void @caudal_stdio_exit_v1(ptr %file)
; CHECK: call void @caudal_stdio_enter_v1(ptr %file)
; CHECK: call i64 @__fread_chk(
; CHECK: call void @caudal_stdio_enter_v1(ptr %file)
; CHECK: call i32 (ptr, ptr, ...) @fscanf(
define void @calls(ptr %text, ptr %file) {
  %a = call i32 @getline(ptr %text, i32 80)
  %b = call i32 (...) @puts(ptr %text)
  %c = call i32 @fflush(ptr %file)
  %d = call i64 @fwrite(ptr %text, i64 1, i64 80, ptr %file)
  %e = call ptr @__fgets_chk(ptr %text, i64 80, i32 80, ptr %file)
  %f = call i64 @__fread_chk(ptr %text, i64 80, i64 1, i64 80, ptr %file)
  %g = call i32 (ptr, ptr, ...) @fscanf(ptr %file, ptr %text)
  ret void
}
