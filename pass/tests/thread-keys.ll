; What a thread keeps behind a key is the worker's, for all of its requests: the report names who touches it, with probes.
; RUN: rm -f %t.report
; RUN: %probes -passes='caudal-probes<mode=flag;report=%t.report>,verify' %s | FileCheck %s
; RUN: FileCheck %s --check-prefix=REPORT < %t.report
target triple = "x86_64-pc-linux-gnu"

declare ptr @pthread_getspecific(i32)

; Looking it up takes a few cycles: no probe.
; CHECK-LABEL: define ptr @last_error(
; CHECK-NOT: asm
; CHECK: ret ptr
; REPORT: "event":"thread-local"
; REPORT-SAME: "function":"last_error"
; REPORT-SAME: "what":"pthread_getspecific"
define ptr @last_error(i32 %key) {
  %error = call ptr @pthread_getspecific(i32 %key)
  ret ptr %error
}
