; A loop that a baseline cuts into strips ends with a value that an earlier loop has found, and a counter stands between them already: phis do
; not come behind it. `opt` verifies it.
; RUN: %probes -passes='caudal-probes<mode=instruction-counter>,verify' %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define i64 @behind(
; CHECK: caudal.end
; CHECK: ret i64
define i64 @behind(ptr %last, i64 %what) {
entry:
  br label %search
search:
  %found = phi ptr [ null, %entry ], [ %last, %search ]
  br i1 false, label %search, label %fill
fill:
  %to = phi ptr [ null, %search ], [ %to.next, %fill ]
  %to.next = getelementptr i8, ptr %to, i64 8
  %full = icmp eq ptr %to.next, %found
  br i1 %full, label %exit, label %fill
exit:
  ret i64 %what
}
