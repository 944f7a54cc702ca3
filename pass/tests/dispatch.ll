; An interpreter whose default cannot be: what is kept in a register is not stored there, which would make it possible. Code
; generation copies the dispatch to the end of each path, as without probes.
; RUN: %probes -passes='caudal-probes<verify>,verify' %s | FileCheck %s
; RUN: %probes -passes='caudal-probes<verify>' %s | llc -O2 | FileCheck %s --check-prefix=CODE
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define i64 @interpreter(
; CHECK: switch i64 {{.*}}, label %never
; CHECK: never:
; CHECK-NEXT: unreachable
; CODE-LABEL: interpreter:
; CODE-COUNT-4: jmpq *
define i64 @interpreter(ptr %code, i64 %x) {
entry:
  br label %dispatch
dispatch:
  %at = phi ptr [ %code, %entry ], [ %next, %add ], [ %next, %double ], [ %next, %flip ]
  %y = phi i64 [ %x, %entry ], [ %y.add, %add ], [ %y.double, %double ], [ %y.flip, %flip ]
  %op = load i64, ptr %at
  %next = getelementptr i64, ptr %at, i64 1
  switch i64 %op, label %never [ i64 0, label %add
                                 i64 1, label %double
                                 i64 2, label %flip
                                 i64 3, label %end ]
add:
  %y.add = add i64 %y, 3
  br label %dispatch
double:
  %y.double = shl i64 %y, 1
  br label %dispatch
flip:
  %y.flip = xor i64 %y, 85
  br label %dispatch
end:
  ret i64 %y
never:
  unreachable
}

; Where the default can be, the dispatch stays where it is: each path jumps to it, and nowhere else, so the probe is in front of it.
; CHECK-LABEL: define i64 @checked(
; CHECK: dispatch:
; CHECK: asm sideeffect "subq
; CHECK: switch i64
; CHECK-NOT: asm sideeffect
; CHECK: ret i64
define i64 @checked(ptr %code, i64 %x) {
entry:
  br label %dispatch
dispatch:
  %at = phi ptr [ %code, %entry ], [ %next, %join ]
  %y = phi i64 [ %x, %entry ], [ %z, %join ]
  %op = load i64, ptr %at
  %next = getelementptr i64, ptr %at, i64 1
  switch i64 %op, label %join [ i64 0, label %add
                                i64 1, label %double
                                i64 2, label %flip
                                i64 3, label %end ]
add:
  %y.add = add i64 %y, 3
  br label %join
double:
  %y.double = shl i64 %y, 1
  br label %join
flip:
  %y.flip = xor i64 %y, 85
  br label %join
join:
  %z = phi i64 [ %y, %dispatch ], [ %y.add, %add ], [ %y.double, %double ], [ %y.flip, %flip ]
  br label %dispatch
end:
  ret i64 %y
}
