; The lines of a list mean what they say when the memory that it was read into is something else's: the list is too long for the
; allocator's caches, whose memory stays as it was, and all else is overwritten when it is given back.
; RUN: printf '# of a store %%04000d\nnopreempt store::get(*\nleave store::scan*\n' 0 > %t.list
; RUN: rm -f %t.jsonl
; RUN: env MALLOC_PERTURB_=90 %probes -passes='caudal-probes<exclude=%t.list;report=%t.jsonl>' %s | FileCheck %s
; RUN: FileCheck --check-prefix=REPORT %s < %t.jsonl

declare void @unknown()

; CHECK-LABEL: define i32 @_ZN5store3getEi
; CHECK-NOT: caudal_probe_{{cold|look|spend}}
; CHECK-LABEL: define void @_ZN5store4scanEv
; CHECK-NOT: caudal_probe_{{cold|look|spend}}
; CHECK-LABEL: define void @_ZN5store3putEv
; CHECK: caudal_probe_{{cold|look|spend}}
; REPORT-DAG: "function":"store::get(int)"{{.*}}"why":"nopreempt in {{.*}}.list:2"
; REPORT-DAG: "function":"store::scan()"{{.*}}"why":"in {{.*}}.list:3"
; REPORT-DAG: "event":"probed","function":"store::put()"

define i32 @_ZN5store3getEi(i32 %n) {
  call void @unknown()
  call void @unknown()
  call void @unknown()
  call void @unknown()
  ret i32 %n
}

define void @_ZN5store4scanEv() {
  call void @unknown()
  call void @unknown()
  call void @unknown()
  call void @unknown()
  ret void
}

define void @_ZN5store3putEv() {
  call void @unknown()
  call void @unknown()
  call void @unknown()
  call void @unknown()
  ret void
}
