/*
 * What a compiler that instruments may emit: one leaf function, by hand, in the three modes. From the header alone.
 *
 * uint64_t sum_MODE(uint64_t n) adds up n, n - 1 ... 1, in the red zone, with a probe in each round.
 */
#include "caudal/probe.h"

        .text

/* The call is out of the way of the loop, and steps over the red zone. */
        .macro leaf name, cold, due, probe:vararg
        .globl  \name
        .type   \name, @function
\name:
        .cfi_startproc
        movq    $0, -128(%rsp)
        movq    %rdi, -8(%rsp)
1:      movq    -8(%rsp), %rax
        addq    %rax, -128(%rsp)
        \probe
        \due    3f
2:      decq    -8(%rsp)
        jnz     1b
        movq    -128(%rsp), %rax
        ret
3:      leaq    -CAUDAL_PROBE_RED_ZONE(%rsp), %rsp
        .cfi_adjust_cfa_offset CAUDAL_PROBE_RED_ZONE
        call    *\cold@GOTPCREL(%rip)
        leaq    CAUDAL_PROBE_RED_ZONE(%rsp), %rsp
        .cfi_adjust_cfa_offset -CAUDAL_PROBE_RED_ZONE
        jmp     2b
        .cfi_endproc
        .size   \name, . - \name
        .endm

        .macro read_clock
        rdtsc
        shlq    $32, %rdx
        orq     %rdx, %rax
        movq    caudal_probe_v1@GOTTPOFF(%rip), %rcx
        cmpq    %fs:CAUDAL_PROBE_DEADLINE(%rcx), %rax
        .endm

        .macro spend_one
        movq    caudal_probe_v1@GOTTPOFF(%rip), %rcx
        subq    $1, %fs:CAUDAL_PROBE_BUDGET_LEFT(%rcx)
        .endm

        .macro test_flag
        movq    caudal_flag_v1@GOTTPOFF(%rip), %rcx
        cmpb    $0, %fs:CAUDAL_FLAG_ASKED(%rcx)
        .endm

        leaf    sum_clock, caudal_probe_cold_clock_v1, jae, read_clock
        leaf    sum_budget, caudal_probe_cold_budget_v1, js, spend_one
        leaf    sum_flag, caudal_probe_cold_flag_v1, jne, test_flag

        .section .note.GNU-stack, "", @progbits
