; What is left goes through recursion in a register: the function's body is in one with a parameter for it, and who calls it
; from outside fetches it and puts it back. In few places the caller does that itself.
; RUN: %probes -passes='caudal-probes<mode=budget;verify>,verify' %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define i64 @own(
; CHECK: [[HAD:%.*]] = load i64, ptr
; CHECK: store i64 [[HAD]], ptr %caudal.handed
; CHECK-NEXT: call i64 @tree.carried(i64 %n, ptr swifterror %caudal.handed)
; CHECK-NEXT: [[LEFT:%.*]] = load i64, ptr %caudal.handed
; CHECK: store i64 [[LEFT]], ptr
define i64 @own(i64 %n) {
  %r = call i64 @tree(i64 %n)
  ret i64 %r
}

; CHECK-LABEL: define internal i64 @tree.carried(i64 %n, ptr swifterror %0)
; CHECK-NOT: store i64 {{.*}}caudal_probe_v1
; CHECK: call i64 asm sideeffect {{.*}}@caudal_probe_{{cold_carried|spend_carried_[0-9]+}}_v1)
; CHECK: ret i64
; CHECK-NOT: @tree(
define internal i64 @tree(i64 %n) nounwind {
entry:
  %small = icmp ult i64 %n, 2
  br i1 %small, label %done, label %more
more:
  %one = sub i64 %n, 1
  %a = call i64 @tree(i64 %one)
  %two = sub i64 %n, 2
  %b = call i64 @tree(i64 %two)
  %sum = add i64 %a, %b
  ret i64 %sum
done:
  ret i64 %n
}

; Others may call it: its name stays, for a function that calls the one with the body.
; CHECK-LABEL: define internal i64 @visible.carried(
; CHECK-LABEL: define i64 @visible(i64
; CHECK: call i64 @visible.carried(
; CHECK: ret i64
define i64 @visible(i64 %n) nounwind {
entry:
  %small = icmp ult i64 %n, 2
  br i1 %small, label %done, label %more
more:
  %one = sub i64 %n, 1
  %a = call i64 @visible(i64 %one)
  %two = sub i64 %n, 2
  %b = call i64 @visible(i64 %two)
  %sum = add i64 %a, %b
  ret i64 %sum
done:
  ret i64 %n
}

; However many call it, what has its name calls what has its body.
define i64 @callers(i64 %n) {
  %a = call i64 @visible(i64 %n)
  %b = call i64 @visible(i64 %a)
  %c = call i64 @visible(i64 %b)
  ret i64 %c
}

; Who may unwind would leave it in the register.
; CHECK-NOT: @unwinding.carried
define i64 @unwinding(i64 %n) {
entry:
  %small = icmp ult i64 %n, 2
  br i1 %small, label %done, label %more
more:
  %one = sub i64 %n, 1
  %a = call i64 @unwinding(i64 %one)
  %two = sub i64 %n, 2
  %b = call i64 @unwinding(i64 %two)
  %sum = add i64 %a, %b
  ret i64 %sum
done:
  ret i64 %n
}

; Nor does what is cold hand anything on.
; CHECK-NOT: @cold.carried(
; CHECK-LABEL: define i64 @cold(i64
define i64 @cold(i64 %n) nounwind cold {
entry:
  %small = icmp ult i64 %n, 2
  br i1 %small, label %done, label %more
more:
  %one = sub i64 %n, 1
  %a = call i64 @cold(i64 %one)
  %two = sub i64 %n, 2
  %b = call i64 @cold(i64 %two)
  %sum = add i64 %a, %b
  ret i64 %sum
done:
  ret i64 %n
}

; One that is cold does not take the register from those that call it.
; CHECK-LABEL: define internal i64 @often.carried(
; CHECK: call i64 @hardly.carried(
; CHECK: ret i64
; CHECK-LABEL: define internal i64 @hardly.carried(
; CHECK: @caudal_probe_spend_carried_{{[0-9]+}}_v1)
; CHECK: call i64 @often.carried(
; CHECK: ret i64
define i64 @often(i64 %n) nounwind {
entry:
  %small = icmp ult i64 %n, 2
  br i1 %small, label %done, label %more
more:
  %one = sub i64 %n, 1
  %a = call i64 @often(i64 %one)
  %two = sub i64 %n, 2
  %b = call i64 @hardly(i64 %two)
  %sum = add i64 %a, %b
  ret i64 %sum
done:
  ret i64 %n
}
define i64 @hardly(i64 %n) nounwind cold {
entry:
  %small = icmp ult i64 %n, 2
  br i1 %small, label %done, label %more
more:
  %one = sub i64 %n, 3
  %a = call i64 @often(i64 %one)
  %two = sub i64 %n, 2
  %b = call i64 @hardly(i64 %two)
  %sum = add i64 %a, %b
  ret i64 %sum
done:
  ret i64 %n
}

; Who jumps to it can not put back what it leaves: it jumps to what stands for it.
; CHECK-LABEL: define i64 @jumping(
; CHECK: musttail call i64 @other_tree(i64
; CHECK-NEXT: ret i64
; CHECK-LABEL: define internal i64 @other_tree.carried(
; CHECK-LABEL: define internal i64 @other_tree(i64
define i64 @jumping(i64 %n) {
  %m = add i64 %n, 1
  %r = tail call i64 @other_tree(i64 %m)
  ret i64 %r
}

define internal i64 @other_tree(i64 %n) nounwind {
entry:
  %small = icmp ult i64 %n, 2
  br i1 %small, label %done, label %more
more:
  %one = sub i64 %n, 1
  %a = call i64 @other_tree(i64 %one)
  %two = sub i64 %n, 2
  %b = call i64 @other_tree(i64 %two)
  %sum = add i64 %a, %b
  ret i64 %sum
done:
  ret i64 %n
}
