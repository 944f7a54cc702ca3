/*
 * Wrappers of functions with variable arguments, such as printf. Called by programs with probes; they go on in stdio.c.
 *
 * Wrappers of functions with variable arguments (System V, x86-64): put the arguments where va_arg finds them, and go on in the
 * wrapper of the function that takes such a list (stdio.c). In assembly, for C compiled without vector registers would lose the
 * floating-point ones.
 *
 *      | return address                               |
 *      | padding to 16 bytes                          |
 *      | xmm0 ... xmm7, if there are any              |    SAVED + 48
 *      | rdi rsi rdx rcx r8 r9                        |    SAVED
 *      | padding to 16 bytes                          |
 *      | the list: next general, next vector register,|
 *      | further arguments, SAVED                     | <- rsp
 */
#if defined(__CET__)
#include <cet.h>
#else
#define _CET_ENDBR
#endif

#define SAVED 32
#define GENERAL 48 /* bytes of six general registers */
#define FRAME (SAVED + GENERAL + 8 * 16 + 8)

        .intel_syntax noprefix
        .text

        /* `named`: how many arguments are named, all of them in general registers; `place`: the register of the next one. */
        .macro variadic name, named, place, with_list
        .globl  \name
        .type   \name, @function
        .p2align 4
\name:
        .cfi_startproc
        _CET_ENDBR
        sub     rsp, FRAME
        .cfi_def_cfa_offset FRAME + 8
        mov     [rsp + SAVED], rdi
        mov     [rsp + SAVED + 8], rsi
        mov     [rsp + SAVED + 16], rdx
        mov     [rsp + SAVED + 24], rcx
        mov     [rsp + SAVED + 32], r8
        mov     [rsp + SAVED + 40], r9
        test    al, al
        jz      1f
        .irp    number, 0, 1, 2, 3, 4, 5, 6, 7
        movaps  [rsp + SAVED + GENERAL + 16 * \number], xmm\number
        .endr
1:
        mov     dword ptr [rsp], 8 * \named
        mov     dword ptr [rsp + 4], GENERAL
        lea     rax, [rsp + FRAME + 8]
        mov     [rsp + 8], rax
        lea     rax, [rsp + SAVED]
        mov     [rsp + 16], rax
        mov     \place, rsp
        call    \with_list
        add     rsp, FRAME
        .cfi_def_cfa_offset 8
        ret
        .cfi_endproc
        .size   \name, . - \name
        .endm

        variadic caudal_around_printf_v1, 1, rsi, caudal_around_vprintf_v1@PLT
        variadic caudal_around_fprintf_v1, 2, rdx, caudal_around_vfprintf_v1@PLT
        variadic caudal_around___printf_chk_v1, 2, rdx, caudal_around___vprintf_chk_v1@PLT
        variadic caudal_around___fprintf_chk_v1, 3, rcx, caudal_around___vfprintf_chk_v1@PLT

        .section .note.GNU-stack, "", @progbits
