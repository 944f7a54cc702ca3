; An allocator's entry points stay functions of their own, for what is inlined from them is not seen to be an allocator's: where one
; module is compiled, behind thin LTO's import, and in full LTO. Those that only hand on to another allocator may be inlined.
; RUN: %probes -passes='default<O2>' %s | FileCheck %s
; RUN: %probes -passes='thinlto<O2>' %s | FileCheck %s
; RUN: %probes -passes='lto<O2>' %s | FileCheck %s
; RUN: rm -f %t.report
; RUN: %probes -passes='caudal-probes<verify;report=%t.report>,verify' %s | FileCheck %s --check-prefix=WITHIN
; RUN: FileCheck %s --check-prefix=REPORT < %t.report
target triple = "x86_64-pc-linux-gnu"

@free = internal thread_local global ptr null
@hook = global ptr null

declare ptr @malloc(i64)
declare void @more(i64)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @_Unwind_Backtrace(ptr, ptr)

; CHECK-LABEL: define {{.*}}@request(
; CHECK: call {{.*}}@"_ZN1a4Pool$u20$as$u20$core..alloc..global..GlobalAlloc$GT$5alloc"(
; CHECK: call {{.*}}@"_ZN58_$LT$a..Of$LT$std..alloc..System$GT$$u20$as$u20$core..alloc..global..GlobalAlloc$GT$5alloc"(
; CHECK: call {{.*}}@mi_malloc(
; CHECK: call {{.*}}@malloc(
; CHECK: call {{.*}}@malloc(
; CHECK: call {{.*}}@mi_ufree(
define ptr @request(i64 %size) {
  %a = call ptr @"_ZN1a4Pool$u20$as$u20$core..alloc..global..GlobalAlloc$GT$5alloc"(i64 %size)
  %b = call ptr @"_ZN58_$LT$a..Of$LT$std..alloc..System$GT$$u20$as$u20$core..alloc..global..GlobalAlloc$GT$5alloc"(i64 %size)
  %c = call ptr @mi_malloc(i64 %size) alwaysinline
  %d = call ptr @__rust_alloc(i64 %size)
  %e = call ptr @"_ZN63_$LT$std..alloc..System$u20$as$u20$core..alloc..global..GlobalAlloc$GT$5alloc"(i64 %size)
  store ptr %a, ptr %b
  store ptr %b, ptr %c
  store ptr %c, ptr %d
  store ptr %d, ptr %e
  call void @mi_ufree(ptr %d)
  ret ptr %e
}

define internal ptr @"_ZN1a4Pool$u20$as$u20$core..alloc..global..GlobalAlloc$GT$5alloc"(i64 %size) {
  %first = load ptr, ptr @free
  %next = load ptr, ptr %first
  store ptr %next, ptr @free
  ret ptr %first
}

define internal ptr @"_ZN58_$LT$a..Of$LT$std..alloc..System$GT$$u20$as$u20$core..alloc..global..GlobalAlloc$GT$5alloc"(i64 %size) {
  %first = load ptr, ptr @free
  %next = load ptr, ptr %first
  store ptr %next, ptr @free
  ret ptr %first
}

define internal void @mi_ufree(ptr %p) {
  call void @llvm.memmove.p0.p0.i64(ptr @free, ptr %p, i64 1, i1 false)
  call void @free_part(ptr %p)
  ret void
}

define internal void @free_part(ptr %p) {
  ret void
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

define internal ptr @"_ZN63_$LT$std..alloc..System$u20$as$u20$core..alloc..global..GlobalAlloc$GT$5alloc"(i64 %size) {
  %place = alloca ptr
  store ptr null, ptr %place
  %p = call ptr @malloc(i64 %size)
  ret ptr %p
}

; What it calls elsewhere does not yield; libc and other allocators need nothing. The copy of an inline function that the linker
; takes may be another module's, and whoever walks the stack calls what it is given.
; WITHIN-LABEL: define internal ptr @mi_malloc(
; WITHIN-NOT: caudal
; WITHIN: call i32 @pthread_mutex_lock(
; WITHIN-NEXT: [[DEPTH:%.*]] = call i32 @caudal_allocator_calls_v1()
; WITHIN-NEXT: call void @more(i64 %size)
; WITHIN-NEXT: call void @caudal_allocator_called_v1(i32 [[DEPTH]])
; WITHIN-NEXT: %hook = load ptr, ptr @hook
; WITHIN-NEXT: [[INNER:%.*]] = call i32 @caudal_allocator_calls_v1()
; WITHIN-NEXT: invoke void %hook(i64 %size)
; WITHIN: call void @caudal_allocator_called_v1(i32 [[INNER]])
; WITHIN: call i32 @caudal_allocator_calls_v1()
; WITHIN-NEXT: call void @shared()
; WITHIN-NEXT: call void @caudal_allocator_called_v1(
; WITHIN-NEXT: call void @part()
; WITHIN-NEXT: call i32 @caudal_allocator_calls_v1()
; WITHIN-NEXT: call i32 @_Unwind_Backtrace(
; WITHIN-NEXT: call void @caudal_allocator_called_v1(
; WITHIN-NEXT: call ptr @malloc(
; WITHIN-NOT: caudal_allocator_calls
; WITHIN: caudal.unwind:
; WITHIN: call void @caudal_allocator_called_v1(i32 [[INNER]])
; WITHIN-NEXT: resume
; REPORT-DAG: "(through a pointer)":1
; REPORT-DAG: "more":1
define internal ptr @mi_malloc(i64 %size) {
  call i32 @pthread_mutex_lock(ptr @free)
  call void @more(i64 %size) nounwind
  %hook = load ptr, ptr @hook
  call void %hook(i64 %size)
  call void @shared() nounwind
  call void @part()
  call i32 @_Unwind_Backtrace(ptr @more, ptr null) nounwind
  %p = call ptr @malloc(i64 %size)
  ret ptr %p
}

define linkonce_odr void @shared() nounwind {
  ret void
}

; REPORT-DAG: "function":"part"{{.*}}"why":"an allocator, or called by one"
define internal void @part() nounwind {
  ret void
}

; Under another name, too.
; REPORT-DAG: "function":"named"{{.*}}"why":"an allocator, or called by one"
@_Znwm = alias ptr (i64), ptr @named
define ptr @named(i64 %size) {
  %p = call ptr @malloc(i64 %size)
  ret ptr %p
}

; These only sound like it.
; REPORT-DAG: "event":"probed","function":"tc_newton_solve"
; REPORT-DAG: "event":"probed","function":"mi_collect_rows"
; REPORT-DAG: "event":"probed","function":"operator new(unsigned long, Arena&)"
define void @tc_newton_solve() {
entry:
  br label %loop
loop:
  call void @more(i64 0)
  br label %loop
}

define void @mi_collect_rows() {
entry:
  br label %loop
loop:
  call void @more(i64 0)
  br label %loop
}

define void @_ZnwmR5Arena() {
entry:
  br label %loop
loop:
  call void @more(i64 0)
  br label %loop
}
