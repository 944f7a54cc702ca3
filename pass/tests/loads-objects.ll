; dlopen and its like run constructors and destructors, and another request would be given an object whose constructors have not come to
; their end: the calls are sections, also where an exception leaves them.
; RUN: %probes -passes='caudal-probes<mode=flag>,verify' %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

declare ptr @dlopen(ptr, i32)
declare ptr @dlmopen(i64, ptr, i32)
declare i32 @dlclose(ptr)

; CHECK-LABEL: define i32 @loads(
; CHECK: call void @caudal_section_enter_v1()
; CHECK: invoke ptr @dlopen(
; CHECK: call void @caudal_section_exit_v1()
; CHECK: call void @caudal_section_enter_v1()
; CHECK: invoke ptr @dlmopen(
; CHECK: call void @caudal_section_exit_v1()
; CHECK: call void @caudal_section_enter_v1()
; CHECK: invoke i32 @dlclose(
; CHECK: call void @caudal_section_exit_v1()
; CHECK: ret i32
; CHECK: landingpad
; CHECK-NEXT: cleanup
; CHECK: call void @caudal_section_exit_v1()
; CHECK: resume
define i32 @loads(ptr %name) {
  %object = call ptr @dlopen(ptr %name, i32 2)
  %other = call ptr @dlmopen(i64 -1, ptr %name, i32 2)
  %closed = call i32 @dlclose(ptr %object)
  ret i32 %closed
}

; A program's own function of that name is none of the loader's.
; CHECK-LABEL: define ptr @own(
; CHECK-NOT: caudal_section_enter_v1
; CHECK: ret ptr
define ptr @own(ptr %name) {
  %object = call ptr @dlopen.own(ptr %name)
  ret ptr %object
}
define ptr @dlopen.own(ptr %name) noinline {
  ret ptr %name
}
