; A function that returns what its callee answers still jumps there: a probe in front, none behind, and no return of its own.
; RUN: %probes -passes='caudal-probes<verify>,verify' %s | FileCheck %s
; RUN: %probes -passes='caudal-probes<mode=flag;verify>,verify' %s | FileCheck %s
; RUN: %probes -passes='caudal-probes<verify>' %s | llc -O2 | FileCheck %s --check-prefix=CODE
target triple = "x86_64-pc-linux-gnu"

%pair = type { i64, i64, i64 }

; CHECK-LABEL: define i64 @forward(
; CHECK-COUNT-1: caudal_probe_{{cold|look|spend}}_
; CHECK-NOT: caudal_probe_{{cold|look|spend}}_
; CHECK: musttail call i64 %function(
; CHECK-NEXT: ret i64
; CODE-LABEL: forward:
; CODE-COUNT-1: caudal_probe_{{cold|look|spend}}_
; CODE-NOT: retq
; CODE: jmpq *
define i64 @forward(ptr %object) {
  %inner = getelementptr i8, ptr %object, i64 64
  %next = load ptr, ptr %inner
  %table = load ptr, ptr %next
  %function = load ptr, ptr %table
  %r = tail call i64 %function(ptr %next)
  ret i64 %r
}

; CHECK-LABEL: define void @forward_structure(
; CHECK: musttail call void %function(
; CHECK-NEXT: ret void
define void @forward_structure(ptr sret(%pair) %out, ptr %object) {
  %function = load ptr, ptr %object
  tail call void %function(ptr sret(%pair) %out, ptr %object)
  ret void
}

; What is handed on in another way is no forwarder's.
; CHECK-LABEL: define void @another_place(
; CHECK-NOT: musttail
; CHECK: ret void
define void @another_place(ptr sret(%pair) %out, ptr %object) {
  %function = load ptr, ptr %object
  tail call void %function(ptr %out, ptr %object)
  ret void
}

; CHECK-LABEL: define void @on_stack(
; CHECK-NOT: musttail
; CHECK: ret void
define void @on_stack(ptr byval(%pair) align 16 %in, ptr %object) {
  %function = load ptr, ptr %object
  tail call void %function(ptr byval(%pair) align 8 %in, ptr %object)
  ret void
}

; Where the prototypes differ, but all is in registers, the jump is code generation's.
; CHECK-LABEL: define i64 @another_prototype(
; CHECK-COUNT-1: caudal_probe_{{cold|look|spend}}_
; CHECK-NOT: caudal_probe_{{cold|look|spend}}_
; CHECK: tail call i64 %function
; CHECK-NEXT: ret i64
; CODE-LABEL: another_prototype:
; CODE-COUNT-1: caudal_probe_{{cold|look|spend}}_
; CODE-NOT: retq
; CODE: jmpq *
define i64 @another_prototype(ptr %object) {
  %function = load ptr, ptr %object
  %r = tail call i64 %function(ptr %object, i64 1)
  ret i64 %r
}

; Each call has its own return, though they were joined; what it answers is not asked for.
; CHECK-LABEL: define void @joined(
; CHECK: tail call i32 @one(
; CHECK-NEXT: ret void
; CHECK: tail call i32 @other(
; CHECK-NEXT: ret void
; CODE-LABEL: joined:
; CODE-NOT: callq {{one|other}}
; CODE-DAG: jmp one@PLT
; CODE-DAG: jmp other@PLT
declare i32 @one(ptr, double)
declare i32 @other(i64)
define void @joined(ptr %object, i64 %which) {
  %is = icmp slt i64 %which, 7
  br i1 %is, label %a, label %b
a:
  %r = tail call i32 @one(ptr %object, double 1.0)
  br label %end
b:
  %s = tail call i32 @other(i64 %which)
  br label %end
end:
  ret void
}

; CHECK-LABEL: define i64 @joined_answers(
; CHECK: musttail call i64 @f(
; CHECK-NEXT: ret i64
; CHECK: ret i64 0
declare i64 @f(i64)
define i64 @joined_answers(i64 %which) {
  %is = icmp slt i64 %which, 7
  br i1 %is, label %a, label %end
a:
  %r = tail call i64 @f(i64 %which)
  br label %end
end:
  %answer = phi i64 [ 0, %0 ], [ %r, %a ]
  ret i64 %answer
}

; Of seven arguments one is on the stack; of wide vectors the frame may be aligned: code generation may make calls of these.
; CHECK-LABEL: define i64 @too_many(
; CHECK: tail call i64 %function
; CHECK-COUNT-1: caudal_probe_{{cold|look|spend}}_
; CHECK: ret i64
define i64 @too_many(ptr %object) {
  %function = load ptr, ptr %object
  %r = tail call i64 %function(i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7)
  ret i64 %r
}

; CHECK-LABEL: define i64 @aligned_frame(
; CHECK: tail call i64 %function
; CHECK-COUNT-1: caudal_probe_{{cold|look|spend}}_
; CHECK: ret i64
define i64 @aligned_frame(ptr %object, ptr %wide) {
  %function = load ptr, ptr %object
  %v = load <8 x float>, ptr %wide
  %w = fadd <8 x float> %v, %v
  store <8 x float> %w, ptr %wide
  %r = tail call i64 %function(ptr %object, i64 1)
  ret i64 %r
}

; CHECK-LABEL: define signext i8 @widened(
; CHECK: tail call i8 %function
; CHECK-COUNT-1: caudal_probe_{{cold|look|spend}}_
; CHECK: ret i8
define signext i8 @widened(ptr %object) {
  %function = load ptr, ptr %object
  %r = tail call i8 %function(ptr %object, i64 1)
  ret i8 %r
}

; Of the same prototype, but extended otherwise.
; CHECK-LABEL: define zeroext i16 @extended_otherwise(
; CHECK-NOT: musttail
; CHECK: ret i16
define zeroext i16 @extended_otherwise(ptr %object) {
  %function = load ptr, ptr %object
  %r = tail call signext i16 %function(ptr %object)
  ret i16 %r
}

; The caller's callers get back where the answer is to be.
; CHECK-LABEL: define void @another_structure(
; CHECK-NOT: musttail
; CHECK: ret void
@structure = external global %pair
define void @another_structure(ptr sret(%pair) %out, ptr %object) {
  %function = load ptr, ptr %object
  tail call void %function(ptr sret(%pair) @structure, ptr %object)
  ret void
}

; Of five parts, memory.
; CHECK-LABEL: define [5 x i64] @parts(
; CHECK-NOT: musttail
; CHECK: ret [5 x i64]
define [5 x i64] @parts(ptr %object) {
  %function = load ptr, ptr %object
  %r = tail call [5 x i64] %function(ptr %object)
  ret [5 x i64] %r
}

; CHECK-LABEL: define void @wide_argument(
; CHECK-NOT: !caudal.jump
; CHECK: ret void
define void @wide_argument(ptr %object, <8 x float> %wide, i64 %which) {
  %function = load ptr, ptr %object
  %part = extractelement <8 x float> %wide, i64 %which
  tail call void %function(ptr %object, float %part)
  ret void
}

; What is handed to another call on the stack is aligned there.
; CHECK-LABEL: define void @aligned_argument(
; CHECK-NOT: !caudal.jump
; CHECK: ret void
declare void @takes(ptr byval(%pair) align 64)
define void @aligned_argument(ptr %object, ptr %pair) {
  %function = load ptr, ptr %object
  call void @takes(ptr byval(%pair) align 64 %pair)
  tail call void %function(ptr %object, i64 1)
  ret void
}

; Something is yet to come in front of returns.
; CHECK-LABEL: define void @ends_otherwise(
; CHECK: tail call void %function
; CHECK-COUNT-1: caudal_probe_{{cold|look|spend}}_
; CHECK: ret void
define void @ends_otherwise(ptr %object) sanitize_thread {
  %function = load ptr, ptr %object
  tail call void %function(ptr %object, i64 1)
  ret void
}

; The frame goes along.
; CHECK-LABEL: define i64 @frame(
; CHECK-NOT: musttail
; CHECK: ret i64
define i64 @frame(ptr %function) {
  %memory = alloca i64
  store ptr %function, ptr %memory
  %r = call i64 %function(ptr %memory)
  ret i64 %r
}

; CHECK-LABEL: define i64 @another_answer(
; CHECK-NOT: musttail
; CHECK: ret i64
define i64 @another_answer(ptr %object) {
  %function = load ptr, ptr %object
  %r = tail call i64 %function(ptr %object)
  ret i64 1
}

; Backtraces were asked for.
; CHECK-LABEL: define i64 @no_tail_calls(
; CHECK-NOT: musttail
; CHECK: ret i64
define i64 @no_tail_calls(ptr %object) "disable-tail-calls"="true" {
  %function = load ptr, ptr %object
  %r = tail call i64 %function(ptr %object)
  ret i64 %r
}

; Nobody instruments it: it does not keep to a function's part.
; CHECK-LABEL: define i64 @library(
; CHECK-NOT: musttail
; CHECK: ret i64
declare i64 @strlen(ptr)
define i64 @library(ptr %text) {
  %r = tail call i64 @strlen(ptr %text)
  ret i64 %r
}
