; In a loop the guard of a thread_local variable may have been looked up in front, and be known behind the first turn. Another request may have made the
; variable since, so the guard is read again in the section, and nothing is made where it is set by now.
; RUN: %probes -passes='caudal-probes<mode=flag>,verify' %s | FileCheck %s
; RUN: %probes -passes='caudal-probes<mode=flag>,caudal-probes<mode=flag>,verify' %s | FileCheck %s
; RUN: %probes -passes='caudal-probes<mode=flag;sections=off>,verify' %s | FileCheck --check-prefix=OFF %s
; OFF-NOT: caudal_section_enter_v1
target triple = "x86_64-pc-linux-gnu"

@_ZGVZ4looplE4made = internal thread_local global i8 0
@_ZZ4looplE4made = internal thread_local global i64 0

declare i64 @make()
declare void @use(ptr)

; CHECK-LABEL: define void @loop(
; CHECK: caudal_section_enter_v1
; CHECK: [[GUARD:%.*]] = load volatile i8, ptr @_ZGVZ4looplE4made
; CHECK: [[NONE:%.*]] = icmp eq i8 [[GUARD]], 0
; CHECK: br i1 [[NONE]], label %[[REST:.*]], label %caudal.made
; CHECK: caudal.made:
; CHECK-NEXT: call void @caudal_section_exit_v1()
; CHECK-NEXT: br label %is.made
; CHECK: [[REST]]:
; CHECK-NOT: caudal_section_enter_v1
; CHECK: @make()
; CHECK: store i8 1, ptr @_ZGVZ4looplE4made
; CHECK-NEXT: call void @caudal_section_exit_v1()
; CHECK: is.made:
; CHECK: phi i64 {{.*}}%caudal.made
define void @loop(i64 %n) nounwind {
entry:
  %guard = load i8, ptr @_ZGVZ4looplE4made
  br label %next
next:
  %known = phi i8 [ %guard, %entry ], [ 1, %is.made ]
  %i = phi i64 [ 0, %entry ], [ %i.next, %is.made ]
  %none = icmp eq i8 %known, 0
  br i1 %none, label %makes, label %is.made
makes:
  %value = call i64 @make()
  store i64 %value, ptr @_ZZ4looplE4made
  store i8 1, ptr @_ZGVZ4looplE4made
  br label %is.made
is.made:
  %what = phi i64 [ %i, %next ], [ %value, %makes ]
  call void @use(ptr @_ZZ4looplE4made)
  %i.next = add i64 %i, 1
  %more = icmp ult i64 %what, %n
  br i1 %more, label %next, label %done
done:
  ret void
}
