; A small function that calls itself has its body in place of its own calls, once: two rounds have one probe. One that calls something else
; has room for a probe in each round, and one with three calls would become four times as large: both stay as they are.
; RUN: %probes -passes='caudal-probes<mode=budget;verify>,verify' %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

declare i64 @another(i64)

; CHECK-LABEL: define i64 @two_calls(
; CHECK-COUNT-3: icmp ult i64
; CHECK-NOT: icmp ult i64
; CHECK: ret i64
define i64 @two_calls(i64 %n) {
entry:
  %small = icmp ult i64 %n, 2
  br i1 %small, label %done, label %more
more:
  %one = sub i64 %n, 1
  %a = call i64 @two_calls(i64 %one)
  %two = sub i64 %n, 2
  %b = call i64 @two_calls(i64 %two)
  %sum = add i64 %a, %b
  ret i64 %sum
done:
  ret i64 %n
}

; CHECK-LABEL: define i64 @and_another(
; CHECK-COUNT-1: icmp ult i64
; CHECK-NOT: icmp ult i64
; CHECK: ret i64
define i64 @and_another(i64 %n) {
entry:
  %small = icmp ult i64 %n, 2
  br i1 %small, label %done, label %more
more:
  %one = sub i64 %n, 1
  %a = call i64 @and_another(i64 %one)
  %b = call i64 @another(i64 %a)
  ret i64 %b
done:
  ret i64 %n
}

; CHECK-LABEL: define i64 @three_calls(
; CHECK-COUNT-1: icmp ult i64
; CHECK-NOT: icmp ult i64
; CHECK: ret i64
define i64 @three_calls(i64 %n) {
entry:
  %small = icmp ult i64 %n, 3
  br i1 %small, label %done, label %more
more:
  %one = sub i64 %n, 1
  %a = call i64 @three_calls(i64 %one)
  %two = sub i64 %n, 2
  %b = call i64 @three_calls(i64 %two)
  %three = sub i64 %n, 3
  %c = call i64 @three_calls(i64 %three)
  %ab = add i64 %a, %b
  %sum = add i64 %ab, %c
  ret i64 %sum
done:
  ret i64 %n
}

; One that asks where its frame is would be told of another round's.
; CHECK-LABEL: define i64 @asks(
; CHECK-COUNT-1: icmp ult i64
; CHECK-NOT: icmp ult i64
; CHECK: ret i64
define i64 @asks(i64 %n) {
entry:
  %frame = call ptr @llvm.frameaddress.p0(i32 0)
  %at = ptrtoint ptr %frame to i64
  %small = icmp ult i64 %n, 2
  br i1 %small, label %done, label %more
more:
  %one = sub i64 %n, 1
  %a = call i64 @asks(i64 %one)
  %sum = add i64 %a, %at
  ret i64 %sum
done:
  ret i64 %n
}
declare ptr @llvm.frameaddress.p0(i32)

; One with large locals: a request that is one round deep would need stack for two.
; CHECK-LABEL: define i64 @has_locals(
; CHECK-COUNT-1: icmp ult i64
; CHECK-NOT: icmp ult i64
; CHECK: ret i64
define i64 @has_locals(i64 %n, i64 %i) {
entry:
  %locals = alloca [200 x i64]
  %place = getelementptr i64, ptr %locals, i64 %i
  store i64 %n, ptr %place
  %small = icmp ult i64 %n, 2
  br i1 %small, label %done, label %more
more:
  %one = sub i64 %n, 1
  %a = call i64 @has_locals(i64 %one, i64 %i)
  %b = load i64, ptr %place
  %sum = add i64 %a, %b
  ret i64 %sum
done:
  ret i64 %n
}
