; Rust's older names are in reports as they are in the source, without escapes and hash; so a list names them.
; RUN: printf 'leave <std::alloc::System as core::alloc::Layout>::size\n' > %t.list
; RUN: rm -f %t.jsonl
; RUN: %probes -passes='caudal-probes<exclude=%t.list;report=%t.jsonl>' %s -o /dev/null
; RUN: FileCheck %s < %t.jsonl
; CHECK-DAG: "event":"left-alone","function":"<std::alloc::System as core::alloc::Layout>::size"
; CHECK-DAG: "event":"probed","function":"alloc::boxed::Box<T,A>::new_in"
; CHECK-DAG: "event":"probed","function":"core::ptr::drop_in_place<&(u8,@)>"
; Thin LTO puts something behind the names of what modules share.
; CHECK-DAG: "event":"probed","function":"a::shared"
; What has no such hash is C++, whatever is in it.
; CHECK-DAG: "event":"probed","function":"a::$LT$::h12"

define void @"_ZN58_$LT$std..alloc..System$u20$as$u20$core..alloc..Layout$GT$4size17h0123456789abcdefE"() {
  ret void
}

define void @"_ZN5alloc5boxed16Box$LT$T$C$A$GT$6new_in17hfedcba9876543210E"() {
  ret void
}

define void @"_ZN4core3ptr42drop_in_place$LT$$RF$$LP$u8$C$$SP$$RP$$GT$17h0123456789abcdefE"() {
  ret void
}

define void @_ZN1a6shared17h0123456789abcdefE.llvm.123456() {
  ret void
}

define void @"_ZN1a4$LT$3h12E"() {
  ret void
}
