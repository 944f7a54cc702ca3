; Libraries whose state belongs to the thread: OpenMP's regions are sections, whichever calls open and close them, and so are the functions
; of tracing's subscribers, which are called through a table, and what makes Rust's thread_local! variables.
; RUN: rm -f %t.jsonl
; RUN: %probes -passes='caudal-probes<report=%t.jsonl>' %s | FileCheck %s
; RUN: FileCheck --check-prefix=REPORT %s < %t.jsonl
; RUN: %probes -passes='caudal-probes<sections=off>' %s | FileCheck --check-prefix=OFF %s
; OFF-NOT: caudal_section_enter_v1

declare void @__kmpc_push_num_threads(ptr, i32, i32)
declare void @__kmpc_fork_call(ptr, i32, ptr, ...)
declare void @__kmpc_serialized_parallel(ptr, i32)
declare void @__kmpc_end_serialized_parallel(ptr, i32)
declare i32 @__kmpc_dispatch_next_4(ptr, i32, ptr, ptr, ptr, ptr)
declare i32 @__kmpc_global_thread_num(ptr)
declare void @omp_set_lock(ptr)
declare void @omp_unset_lock(ptr)
declare i32 @omp_get_num_threads()
declare void @body(i32)

; What is asked for the region belongs to it.
; CHECK-LABEL: define void @region(
; CHECK: call void @caudal_section_enter_v1()
; CHECK: call void @__kmpc_push_num_threads
; CHECK: call void @caudal_section_enter_v1()
; CHECK: {{call|invoke}} void (ptr, i32, ptr, ...) @__kmpc_fork_call
; CHECK: call void @caudal_section_exit_v1()
; CHECK-NEXT: call void @caudal_section_exit_v1()
define void @region() nounwind {
  %thread = call i32 @__kmpc_global_thread_num(ptr null)
  call void @__kmpc_push_num_threads(ptr null, i32 %thread, i32 2)
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 0, ptr @body) nounwind
  ret void
}

; CHECK-LABEL: define void @of_one_thread(
; CHECK: call void @caudal_section_enter_v1()
; CHECK: call void @__kmpc_serialized_parallel
; CHECK: call void @__kmpc_end_serialized_parallel
; CHECK-NEXT: call void @caudal_section_exit_v1()
define void @of_one_thread() nounwind {
  call void @__kmpc_serialized_parallel(ptr null, i32 0)
  call void @body(i32 0)
  call void @__kmpc_end_serialized_parallel(ptr null, i32 0)
  ret void
}

; CHECK-LABEL: define void @locks(
; CHECK: call void @caudal_section_enter_v1()
; CHECK: call void @omp_set_lock
; CHECK: call void @omp_unset_lock
; CHECK-NEXT: call void @caudal_section_exit_v1()
define void @locks(ptr %lock) nounwind {
  call void @omp_set_lock(ptr %lock)
  call void @body(i32 0)
  call void @omp_unset_lock(ptr %lock)
  ret void
}

; Chunks of a loop that are handed out: it is left in more than one way.
; REPORT-DAG: "function":"shares_work"{{.*}}"why":"a part of a parallel region"
define void @shares_work() nounwind {
entry:
  br label %next
next:
  %more = call i32 @__kmpc_dispatch_next_4(ptr null, i32 0, ptr null, ptr null, ptr null, ptr null)
  %any = icmp ne i32 %more, 0
  br i1 %any, label %next, label %done
done:
  ret void
}

; What only asks changes nothing.
; CHECK-LABEL: define i32 @asks(
; CHECK-NOT: caudal_section_enter_v1
; CHECK: ret i32
define i32 @asks() nounwind {
  %count = call i32 @omp_get_num_threads()
  ret i32 %count
}

; REPORT-DAG: "function":"<tracing_subscriber::registry::sharded::Registry as tracing_core::subscriber::Subscriber>::enter"{{.*}}"why":"it keeps something of its caller by thread"
define void @"_ZN104_$LT$tracing_subscriber..registry..sharded..Registry$u20$as$u20$tracing_core..subscriber..Subscriber$GT$5enter17h0123456789abcdefE"() {
  call void @body(i32 1)
  ret void
}

; A function of a program's own that has such a name is no part of the library.
; REPORT-DAG: "event":"probed","function":"program::tracing_core::enter"
define void @_ZN7program12tracing_core5enter17h0123456789abcdefE() {
  call void @body(i32 1)
  ret void
}

; The dispatcher, which says in a thread-local that it is at work, and calls a subscriber meanwhile.
; REPORT-DAG: "function":"tracing_core::dispatcher::get_default"{{.*}}"why":"it keeps something of its caller by thread"
define void @_ZN12tracing_core10dispatcher11get_default17h0123456789abcdefE() {
  call void @body(i32 1)
  ret void
}

; Rust's thread_local!, in both manglings: the initialiser is called within, and what its variable has then is replaced.
; REPORT-DAG: "function":"std::sys::thread_local::native::lazy::Storage<T,D>::get_or_init_slow"{{.*}}"why":"it keeps something of its caller by thread"
define void @"_ZN3std3sys12thread_local6native4lazy20Storage$LT$T$C$D$GT$16get_or_init_slow17h524e27333a512fb7E"() {
  call void @body(i32 1)
  ret void
}

; REPORT-DAG: "function":"<std::sys::thread_local::native::lazy::Storage<u64, !>>::get_or_init_slow::<t::N::__rust_std_internal_init_fn>"{{.*}}"why":"it keeps something of its caller by thread"
define void @_RINvMs0_NtNtNtNtCsjrHSEGnQ3l9_3std3sys12thread_local6native4lazyINtB6_7StorageyzE16get_or_init_slowNvNvCsjMaewn57Afh_1t1N27___rust_std_internal_init_fnEB1D_() {
  call void @body(i32 1)
  ret void
}
