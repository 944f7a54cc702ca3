/*
 * Keeps all arguments of the first call of a wrapper while bind.c decides where it goes. Called by the wrappers of wrapper.h, once
 * for each name and module.
 *
 * The first call of a wrapper (wrapper.h): all arguments stay where they are, also the number of vector registers in al, and the call goes on to
 * what caudal_probe_bind (bind.c) has chosen. Comes with SYMBOL's address in r10, the slot's in r11, and on the stack
 *
 *      | return address                               |
 *      | what stands for another's, or 0              |
 *      | what stands for the C library's              | <- rsp
 *
 * Also the entries to others.c, which wants the other's address as a fourth argument.
 */
#if defined(__CET__)
#include <cet.h>
#else
#define _CET_ENDBR
#endif

        .intel_syntax noprefix
        .text
        .globl  caudal_bind_v1
        .type   caudal_bind_v1, @function
        .p2align 4
caudal_bind_v1:
        .cfi_startproc
        .cfi_def_cfa_offset 24
        _CET_ENDBR
        .irp    register, rax, rdi, rsi, rdx, rcx, r8, r9
        push    \register
        .cfi_adjust_cfa_offset 8
        .endr
        sub     rsp, 128
        .cfi_adjust_cfa_offset 128
        .irp    number, 0, 1, 2, 3, 4, 5, 6, 7
        movaps  [rsp + 16 * \number], xmm\number
        .endr
        mov     rdi, r11
        mov     rsi, r10
        mov     rdx, [rsp + 128 + 56]
        mov     rcx, [rsp + 128 + 56 + 8]
        call    caudal_probe_bind
        mov     r11, rax
        .irp    number, 0, 1, 2, 3, 4, 5, 6, 7
        movaps  xmm\number, [rsp + 16 * \number]
        .endr
        add     rsp, 128
        .cfi_adjust_cfa_offset -128
        .irp    register, r9, r8, rcx, rdx, rsi, rdi, rax
        pop     \register
        .cfi_adjust_cfa_offset -8
        .endr
        add     rsp, 16
        .cfi_adjust_cfa_offset -16
        jmp     r11
        .cfi_endproc
        .size   caudal_bind_v1, . - caudal_bind_v1

        .macro others name
        .globl  caudal_others_\name\()_v1
        .type   caudal_others_\name\()_v1, @function
        .p2align 4
caudal_others_\name\()_v1:
        .cfi_startproc
        _CET_ENDBR
        mov     rcx, r11
        jmp     caudal_probe_others_\name
        .cfi_endproc
        .size   caudal_others_\name\()_v1, . - caudal_others_\name\()_v1
        .endm

        others  LOCK
        others  MUTEX
        others  UNLOCK
        others  ENTER
        others  TRY
        others  LEAVE
        others  SIGACTION
        others  SIGNAL
        .section .note.GNU-stack, "", @progbits
