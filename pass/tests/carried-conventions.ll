; What is left goes through recursion in r12, which other calling conventions have for arguments or keep for their callers: such
; functions keep it in memory. So do calls with operand bundles, which would be lost, and functions of which the linker may keep
; another object's.
; RUN: %probes -passes='caudal-probes<mode=budget;verify>,verify' %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

; CHECK: define internal fastcc i64 @fast.carried(
; CHECK: %a = call fastcc i64 @fast.carried(
; CHECK: %b = call fastcc i64 @fast.carried(
; CHECK-NOT: .carried(
; CHECK: %a = call i64 @bundled(i64 %one) [ "unknown"(i64 %n) ]
; CHECK-LABEL: define i64 @callers(
; CHECK: @fast.carried(
; CHECK-NOT: .carried(
define internal fastcc i64 @fast(i64 %n) nounwind noinline {
entry:
  %small = icmp ult i64 %n, 2
  br i1 %small, label %done, label %more
more:
  %one = sub i64 %n, 1
  %a = call fastcc i64 @fast(i64 %one)
  %two = sub i64 %n, 2
  %b = call fastcc i64 @fast(i64 %two)
  %sum = add i64 %a, %b
  ret i64 %sum
done:
  ret i64 %n
}

define internal win64cc i64 @windows(i64 %n) nounwind noinline {
entry:
  %small = icmp ult i64 %n, 2
  br i1 %small, label %done, label %more
more:
  %one = sub i64 %n, 1
  %a = call win64cc i64 @windows(i64 %one)
  %two = sub i64 %n, 2
  %b = call win64cc i64 @windows(i64 %two)
  %sum = add i64 %a, %b
  ret i64 %sum
done:
  ret i64 %n
}

define internal preserve_nonecc i64 @none(i64 %n) nounwind noinline {
entry:
  %small = icmp ult i64 %n, 2
  br i1 %small, label %done, label %more
more:
  %one = sub i64 %n, 1
  %a = call preserve_nonecc i64 @none(i64 %one)
  %two = sub i64 %n, 2
  %b = call preserve_nonecc i64 @none(i64 %two)
  %sum = add i64 %a, %b
  ret i64 %sum
done:
  ret i64 %n
}

define internal coldcc i64 @cold_convention(i64 %n) nounwind noinline {
entry:
  %small = icmp ult i64 %n, 2
  br i1 %small, label %done, label %more
more:
  %one = sub i64 %n, 1
  %a = call coldcc i64 @cold_convention(i64 %one)
  %two = sub i64 %n, 2
  %b = call coldcc i64 @cold_convention(i64 %two)
  %sum = add i64 %a, %b
  ret i64 %sum
done:
  ret i64 %n
}

$grouped = comdat any
define i64 @grouped(i64 %n) nounwind noinline comdat {
entry:
  %small = icmp ult i64 %n, 2
  br i1 %small, label %done, label %more
more:
  %one = sub i64 %n, 1
  %a = call i64 @grouped(i64 %one)
  %two = sub i64 %n, 2
  %b = call i64 @grouped(i64 %two)
  %sum = add i64 %a, %b
  ret i64 %sum
done:
  ret i64 %n
}

define internal i64 @bundled(i64 %n) nounwind noinline {
entry:
  %small = icmp ult i64 %n, 2
  br i1 %small, label %done, label %more
more:
  %one = sub i64 %n, 1
  %a = call i64 @bundled(i64 %one) [ "unknown"(i64 %n) ]
  %two = sub i64 %n, 2
  %b = call i64 @bundled(i64 %two)
  %sum = add i64 %a, %b
  ret i64 %sum
done:
  ret i64 %n
}

define i64 @callers(i64 %n) {
  %a = call fastcc i64 @fast(i64 %n)
  %b = call win64cc i64 @windows(i64 %a)
  %c = call preserve_nonecc i64 @none(i64 %b)
  %d = call coldcc i64 @cold_convention(i64 %c)
  %e = call i64 @grouped(i64 %d)
  %f = call i64 @bundled(i64 %e)
  ret i64 %f
}
