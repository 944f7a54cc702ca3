; What grows by something of the thread's can be no request: the pass refuses it, in whatever way the option came to the compiler.
; RUN: sed 's/WHICH/safestack/' %s | not %probes -passes=caudal-probes 2>&1 | FileCheck %s --check-prefix=SAFE
; RUN: sed 's/WHICH/"split-stack"/' %s | not %probes -passes=caudal-probes 2>&1 | FileCheck %s --check-prefix=SPLIT
; RUN: sed 's/WHICH/safestack/' %s | %probes -passes='caudal-probes<off>' | FileCheck %s --check-prefix=OFF
target triple = "x86_64-pc-linux-gnu"

; SAFE: error: caudal-probes: f was compiled with -fsanitize=safe-stack: its second stack belongs to the thread
; SPLIT: error: caudal-probes: f was compiled with -fsplit-stack: what the stack grows by belongs to the thread
; OFF: define void @f()
define void @f() WHICH {
  ret void
}
