; What a compilation in front of an optimising link was told of its functions is written at them, and the pass in the link keeps to
; it: it was told nothing itself.
; RUN: printf 'left*\nnopreempt section\ncall unknown\n' > %t.list
; RUN: %probes -passes='caudal-probes<at-link;exclude=%t.list;bound=300>' %s -o %t.marked.ll
; RUN: FileCheck --check-prefix=MARKED %s < %t.marked.ll
; RUN: rm -f %t.jsonl
; RUN: %probes -passes='caudal-probes<report=%t.jsonl;verify>' %t.marked.ll -o %t.linked.ll
; RUN: FileCheck --check-prefix=LINKED %s < %t.linked.ll
; RUN: FileCheck --check-prefix=REPORT %s < %t.jsonl
; A compilation without probes leaves all alone.
; RUN: %probes -passes='caudal-probes<off;mode=flag>,caudal-probes' %s 2>&1 | FileCheck --check-prefix=OFF %s
target triple = "x86_64-pc-linux-gnu"

; MARKED-NOT: caudal_probe
; MARKED-LABEL: define void @left_alone()
; MARKED-SAME: #[[LEFT:[0-9]+]]
; MARKED: call void @unknown() #[[CALL:[0-9]+]]
; MARKED: call void @other(){{$}}
; MARKED-LABEL: define void @section()
; MARKED-SAME: #[[SECTION:[0-9]+]]
; MARKED-LABEL: define void @probed()
; MARKED-SAME: #[[PROBED:[0-9]+]]
; MARKED-DAG: attributes #[[LEFT]] = { "caudal-leave"="in {{.*}}.list:1" "caudal-told"="bound=300" }
; MARKED-DAG: attributes #[[SECTION]] = { "caudal-nopreempt"="nopreempt in {{.*}}.list:2" "caudal-told"="bound=300" }
; MARKED-DAG: attributes #[[PROBED]] = { "caudal-told"="bound=300" }
; MARKED-DAG: attributes #[[CALL]] = { "caudal-call" }

; LINKED-LABEL: define void @left_alone()
; LINKED-NOT: caudal_probe
; LINKED: call {{.*}}@caudal_section_enter_v1
; LINKED-NEXT: {{call|invoke}} void @unknown()
; LINKED-LABEL: define void @section()
; LINKED-NOT: caudal_probe
; LINKED: call {{.*}}@caudal_section_enter_v1
; LINKED-LABEL: define void @probed()
; LINKED: caudal_probe
; REPORT-DAG: "function":"left_alone"{{.*}}"why":"in {{.*}}.list:1"
; REPORT-DAG: "function":"section"{{.*}}"why":"nopreempt in {{.*}}.list:2"
; REPORT-DAG: "event":"probed","function":"probed"

; OFF-NOT: caudal_probe_{{cold|look|spend}}
; OFF: attributes #0 = { {{.*}}"caudal-leave"="compiled with --probe-off"
; OFF-NOT: "caudal-told"

declare void @unknown()
declare void @other()

define void @left_alone() {
  call void @unknown()
  call void @other()
  call void @other()
  call void @other()
  call void @other()
  ret void
}

define void @section() {
  call void @other()
  call void @other()
  ret void
}

define void @probed() {
  call void @other()
  call void @other()
  call void @other()
  call void @other()
  call void @other()
  ret void
}
