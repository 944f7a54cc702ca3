; An allocator's entry points stay functions of their own, for what is inlined from them is not seen to be an allocator's: where one
; module is compiled, behind thin LTO's import, and in full LTO. Those that only hand on to another allocator may be inlined.
; RUN: %probes -passes='default<O2>' %s | FileCheck %s
; RUN: %probes -passes='thinlto<O2>' %s | FileCheck %s
; RUN: %probes -passes='lto<O2>' %s | FileCheck %s
; RUN: %probes -passes='caudal-probes<verify>' %s | FileCheck %s --check-prefix=WITHIN
target triple = "x86_64-pc-linux-gnu"

@free = internal thread_local global ptr null
@hook = global ptr null

declare ptr @malloc(i64)
declare void @more(i64)
declare i32 @pthread_mutex_lock(ptr)

; CHECK-LABEL: define {{.*}}@request(
; CHECK: call {{.*}}@"_ZN1a4Pool$u20$as$u20$core..alloc..global..GlobalAlloc$GT$5alloc"(
; CHECK: call {{.*}}@mi_malloc(
; CHECK: call {{.*}}@malloc(
define ptr @request(i64 %size) {
  %a = call ptr @"_ZN1a4Pool$u20$as$u20$core..alloc..global..GlobalAlloc$GT$5alloc"(i64 %size)
  %b = call ptr @mi_malloc(i64 %size)
  %c = call ptr @__rust_alloc(i64 %size)
  store ptr %a, ptr %b
  store ptr %b, ptr %c
  ret ptr %c
}

define internal ptr @"_ZN1a4Pool$u20$as$u20$core..alloc..global..GlobalAlloc$GT$5alloc"(i64 %size) {
  %first = load ptr, ptr @free
  %next = load ptr, ptr %first
  store ptr %next, ptr @free
  ret ptr %first
}

; What it calls elsewhere does not yield; libc and other allocators need nothing.
; WITHIN-LABEL: define internal ptr @mi_malloc(
; WITHIN-NOT: caudal
; WITHIN: call i32 @pthread_mutex_lock(
; WITHIN-NEXT: call void @caudal_section_enter_v1()
; WITHIN-NEXT: call void @more(i64 %size)
; WITHIN-NEXT: call void @caudal_section_exit_later_v1()
; WITHIN-NEXT: %hook = load ptr, ptr @hook
; WITHIN-NEXT: call void @caudal_section_enter_v1()
; WITHIN-NEXT: invoke void %hook(i64 %size)
; WITHIN: call void @caudal_section_exit_later_v1()
; WITHIN: call ptr @malloc(
; WITHIN-NOT: caudal_section_enter
; WITHIN: caudal.unwind:
; WITHIN: call void @caudal_section_exit_later_v1()
; WITHIN-NEXT: resume
define internal ptr @mi_malloc(i64 %size) {
  call i32 @pthread_mutex_lock(ptr @free)
  call void @more(i64 %size) nounwind
  %hook = load ptr, ptr @hook
  call void %hook(i64 %size)
  %p = call ptr @malloc(i64 %size)
  ret ptr %p
}

define internal ptr @__rust_alloc(i64 %size) {
  %p = call ptr @__rdl_alloc(i64 %size)
  ret ptr %p
}

define internal ptr @__rdl_alloc(i64 %size) {
  %place = alloca ptr
  store ptr null, ptr %place
  %p = call ptr @malloc(i64 %size)
  ret ptr %p
}
