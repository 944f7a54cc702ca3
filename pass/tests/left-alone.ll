; Functions in which no probe may stand are left alone, and the report says why.
; RUN: rm -f %t.report
; RUN: %probes -passes='caudal-probes<mode=flag;report=%t.report;verify>,verify' %s | FileCheck %s
; RUN: FileCheck %s --check-prefix=REPORT < %t.report
target triple = "x86_64-pc-linux-gnu"

declare void @act()
declare i32 @_setjmp(ptr) returns_twice
declare i32 @personality(...)

; CHECK-LABEL: define void @bare(
; CHECK-NOT: caudal
; CHECK: }
; REPORT-DAG: "event":"left-alone","function":"bare"{{.*}}"why":"naked"
define void @bare() naked {
  call void asm sideeffect "ret", ""()
  unreachable
}

; CHECK-LABEL: define i32 @builtin_setjmp_caller(
; CHECK-NOT: caudal
; CHECK: }
; REPORT-DAG: "function":"builtin_setjmp_caller"{{.*}}"why":"calls a function that returns twice"
define i32 @builtin_setjmp_caller(ptr %place) {
  %a = call i32 @llvm.eh.sjlj.setjmp(ptr %place)
  call void @act()
  ret i32 %a
}
declare i32 @llvm.eh.sjlj.setjmp(ptr)

; CHECK-LABEL: define i32 @returns_twice_caller(
; CHECK-NOT: caudal
; CHECK: }
; REPORT-DAG: "function":"returns_twice_caller"{{.*}}"why":"calls a function that returns twice"
define i32 @returns_twice_caller(ptr %place) {
entry:
  %a = call i32 @_setjmp(ptr %place) returns_twice
  br label %loop
loop:
  call void @act()
  br label %loop
}

; CHECK-LABEL: define void @coroutine(
; CHECK-NOT: caudal
; CHECK: }
; REPORT-DAG: "function":"coroutine"{{.*}}"why":"a coroutine that is not yet split"
define void @coroutine() presplitcoroutine {
entry:
  br label %loop
loop:
  call void @act()
  br label %loop
}

; CHECK-LABEL: define available_externally void @elsewhere(
; CHECK-NOT: caudal
; CHECK: }
; REPORT-DAG: "function":"elsewhere"{{.*}}"why":"another module's"
define available_externally void @elsewhere() {
entry:
  br label %loop
loop:
  call void @act()
  br label %loop
}

; What picks an ifunc's implementation runs while the program is being relocated, before thread-local storage is there.
; CHECK-LABEL: define internal ptr @resolver(
; CHECK-NOT: caudal
; CHECK: }
; REPORT-DAG: "event":"left-alone","function":"resolver"
@picked = ifunc void (), ptr @resolver
define internal ptr @resolver() {
entry:
  br label %loop
loop:
  call void @act()
  br i1 poison, label %loop, label %exit
exit:
  ret ptr @act
}

; So does what a resolver calls, also by another function.
; CHECK-LABEL: define internal i32 @asked_by_a_resolver(
; CHECK-NOT: caudal
; CHECK: }
; REPORT-DAG: "event":"left-alone","function":"asked_by_a_resolver"
@picked.too = ifunc void (), ptr @resolver.too
define internal ptr @resolver.too() {
  %level = call i32 @asks()
  ret ptr @act
}
define internal i32 @asks() {
  %level = call i32 @asked_by_a_resolver()
  ret i32 %level
}
define internal i32 @asked_by_a_resolver() {
entry:
  br label %loop
loop:
  call void @act()
  br i1 poison, label %loop, label %exit
exit:
  ret i32 0
}

declare i32 @__CxxFrameHandler3(...)

; CHECK-LABEL: define void @unwinds_by_funclets(
; CHECK-NOT: caudal
; CHECK: }
; REPORT-DAG: "function":"unwinds_by_funclets"{{.*}}"why":"unwinds by funclets, as on Windows"
define void @unwinds_by_funclets() personality ptr @__CxxFrameHandler3 {
entry:
  br label %loop
loop:
  invoke void @act() to label %loop unwind label %dispatch
dispatch:
  %switch = catchswitch within none [label %catch] unwind to caller
catch:
  %pad = catchpad within %switch [ptr null, i32 64, ptr null]
  catchret from %pad to label %loop
}
