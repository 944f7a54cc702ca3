; What is dear is charged: division, atomics, fences, memory intrinsics, mathematics, library calls, inline assembly.
; RUN: rm -f %t.report
; RUN: %probes -passes='caudal-probes<mode=flag;report=%t.report;bound=100;verify>,verify' %s | FileCheck %s
; RUN: FileCheck %s --check-prefix=REPORT < %t.report
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define void @atomics(
; CHECK-COUNT-2: call void asm sideeffect "{{.*}}@caudal_probe_{{cold_flag|look}}_v1)
; CHECK: ret void
define void @atomics(ptr %p) {
  %a = atomicrmw add ptr %p, i64 1 seq_cst
  %b = atomicrmw add ptr %p, i64 1 seq_cst
  %c = atomicrmw add ptr %p, i64 1 seq_cst
  %d = atomicrmw add ptr %p, i64 1 seq_cst
  fence seq_cst
  %e = cmpxchg ptr %p, i64 1, i64 2 seq_cst seq_cst
  %f = cmpxchg ptr %p, i64 1, i64 2 seq_cst seq_cst
  fence seq_cst
  %g = atomicrmw add ptr %p, i64 1 seq_cst
  %h = atomicrmw add ptr %p, i64 1 seq_cst
  %i = atomicrmw add ptr %p, i64 1 seq_cst
  %j = atomicrmw add ptr %p, i64 1 seq_cst
  ret void
}

; CHECK-LABEL: define void @memory(
; CHECK: call void @llvm.memcpy
; CHECK: call void asm sideeffect "{{.*}}@caudal_probe_{{cold_flag|look}}_v1)
; CHECK: ret void
define void @memory(ptr %p, ptr %q, i64 %n) {
  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 %n, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 %n, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 %n, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 %n, i1 false)
  ret void
}

; CHECK-LABEL: define i64 @assembly(
; CHECK-NOT: caudal
; CHECK: ret i64
; What is only assumed is listed.
; REPORT: "assumed_calls":["(inline assembly)"]
; REPORT-SAME: "function":"assembly"
define i64 @assembly(i64 %x) {
  %a = call i64 asm sideeffect "mov $1, $0", "=r,r"(i64 %x)
  ret i64 %a
}
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
