// A due probe's call lies where no code runs past it, if that is close; the unwinder is told which frame it has there.
// REQUIRES: llvm-22
// RUN: %clang -O2 -S %s -o - %with -caudal-probes=mode=budget | FileCheck %s
// RUN: %clang -O2 -S -fbasic-block-sections=all %s -o - %with -caudal-probes=mode=budget | FileCheck %s --check-prefix=SECTIONS
// RUN: %clang -O2 -S -g %s -o - %with -caudal-probes=mode=budget | FileCheck %s --check-prefix=DEBUG
// RUN: %clang -O2 -c %s -o %t.o %with -caudal-probes=mode=budget
// RUN: llvm-objdump -d --no-show-raw-insn --no-leading-headers %t.o | FileCheck %s --check-prefix=CODE
int other(int);

// Behind a jump the frame is what it is at the probe.
// CHECK-LABEL: behind_a_jump:
// CHECK: subq ${{[0-9]+}}, %fs:caudal_probe_v1@TPOFF+8
// CHECK: jl [[CALL:.Lcaudal[0-9]+_0]]{{$}}
// CHECK: [[BACK:.Lcaudal[0-9]+_0b]]:
// CHECK: jmp .LBB
// CHECK-NOT: .cfi
// CHECK: [[CALL]]:
// CHECK-NEXT: callq caudal_probe_cold_budget_v1
// CHECK-NEXT: jmp [[BACK]]
int behind_a_jump(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++)
    sum += other(i);
  return sum;
}

// A debugger knows there what it knows at the probe.
// DEBUG-LABEL: behind_a_jump:
// DEBUG: jmp .LBB
// DEBUG: #DEBUG_VALUE: behind_a_jump:n <-
// DEBUG: #DEBUG_VALUE: behind_a_jump:sum <-
// DEBUG: {{^}}.Lcaudal{{[0-9]+}}_1:
// DEBUG: .cfi_endproc

// There and back in two bytes each.
// CODE-LABEL: <behind_a_jump>:
// CODE: jl 0x[[#%x,CALL:]] <
// CODE-NEXT: [[#%x,BACK:]]:
// CODE: [[#CALL]]: {{.*}}callq
// CODE-NEXT: [[#CALL+5]]: {{.*}}jmp 0x[[#BACK]] <
// CODE-NEXT: [[#CALL+7]]:

// Behind a return it is the caller's.
// CHECK-LABEL: behind_a_return:
// CHECK: .cfi_def_cfa_offset 32
// CHECK-NEXT: .cfi_offset
// CHECK: jl [[CALL:.Lcaudal[0-9]+_0]]{{$}}
// CHECK: .cfi_def_cfa_offset 8
// CHECK-NEXT: retq
// CHECK: .cfi_remember_state
// CHECK-NEXT: .cfi_def_cfa %rsp, 32
// CHECK: [[CALL]]:
// CHECK: jmp {{.Lcaudal[0-9]+_0b}}
// CHECK: .cfi_endproc
int behind_a_return(int n) {
  int sum = 0;
  do
    sum += other(n);
  while (--n);
  return sum;
}

// What is said there includes what the probe's function has saved, and nothing of it is left for the code behind.
// CHECK-LABEL: saved:
// CHECK: retq
// CHECK: .cfi_remember_state
// CHECK-NEXT: .cfi_def_cfa %rsp, 48
// CHECK: .cfi_offset %rbx, -40
// CHECK: [[CALL:.Lcaudal[0-9]+_0]]:
// CHECK: .cfi_restore_state
// CHECK: .cfi_def_cfa_offset 48
// CHECK: .cfi_offset %rbx, -40
// CHECK: jl [[CALL]]{{$}}
// CHECK: .cfi_endproc
int saved(int n) {
  if (__builtin_expect(n < 10, 1))
    return n + 1;
  return behind_a_return(n) + behind_a_jump(n);
}

// Where none is close, it stays in its place.
// CHECK-LABEL: none_is_close:
// CHECK: jl [[INSIDE:[0-9a-zA-Z.]+]]{{$}}
// CHECK-NEXT: .byte 15
// CHECK-NEXT: .byte 31
// CHECK-NEXT: .byte 132
// CHECK-NEXT: [[INSIDE]]:
// CHECK-NEXT: callq caudal_probe_cold_budget_v1
#define EIGHT(n) other(n), other(n + 1), other(n + 2), other(n + 3), other(n + 4), other(n + 5), other(n + 6), other(n + 7)
void none_is_close(void) { EIGHT(0), EIGHT(8), EIGHT(16), EIGHT(24), EIGHT(32), EIGHT(40), EIGHT(48), EIGHT(56); }

// Nor is it moved from close to an indirect jump, or to behind one.
// CHECK-LABEL: dispatches:
// CHECK-NOT: jl .Lcaudal
// CHECK: .byte 132
// CHECK: jmpq *
// CHECK: .cfi_endproc
int dispatches(const unsigned char *code, int x) {
  for (;;)
    switch (*code++) {
    case 0: x += 3; break;
    case 1: x *= 5; break;
    case 2: x ^= 85; break;
    case 3: x -= x >> 3; break;
    case 4: x = -x; break;
    case 5: return x;
    }
}

// Blocks that a linker may take apart have no gaps.
// SECTIONS: callq caudal_probe_cold_budget_v1
// SECTIONS-NOT: .Lcaudal
