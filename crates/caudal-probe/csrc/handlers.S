/*
 * The code between the kernel and a signal handler of the program. Called by the kernel, for handlers that signals.c has
 * registered.
 *
 * The code between the kernel and a handler of signals: see signals.c.
 *
 *      entry of the handler ──▶ begins: the depth is raised ──▶ the handler, as if the kernel had called it
 *                                                                   │ returns
 *                               rt_sigreturn ◀── ends: the depth is what it was
 *
 * Nothing of this is on the stack while the handler runs: between it and the code that it has interrupted stands the kernel's frame
 * alone, as without probes.
 */
#include "signals.h"

#include <sys/syscall.h>

        .intel_syntax noprefix
        .text

/*
 * The code that a handler returns to, instead of the C library's __restore_rt, whose name and unwind information it has. The stack pointer is
 * at the ucontext of the signal's frame. Unwinders look for what is known of an address one byte in front of it, unless they
 * know already that it is a signal's frame: hence the nop.
 */
        .macro  saved_at register, offset       /* DW_CFA_expression: DW_OP_breg7 offset */
        .if     \offset < 64
        .cfi_escape 0x10, \register, 2, 0x77, \offset
        .else
        .cfi_escape 0x10, \register, 3, 0x77, (\offset & 0x7f) | 0x80, \offset >> 7
        .endif
        .endm

        .type   __restore_rt, @function
        .p2align 4
        .cfi_startproc
        .cfi_signal_frame
        .cfi_escape 0x0f, 4, 0x77, 0xa0, 1, 0x06  /* DW_CFA_def_cfa_expression: what stands at breg7 160 */
        saved_at 8, 40
        saved_at 9, 48
        saved_at 10, 56
        saved_at 11, 64
        saved_at 12, 72
        saved_at 13, 80
        saved_at 14, 88
        saved_at 15, 96
        saved_at 5, 104
        saved_at 4, 112
        saved_at 6, 120
        saved_at 3, 128
        saved_at 1, 136
        saved_at 0, 144
        saved_at 2, 152
        saved_at 7, 160
        saved_at 16, 168
        nop
        .p2align 4
__restore_rt:
        lea     rdi, [rsp - 8]
        call    caudal_probe_handler_ends
        mov     eax, SYS_rt_sigreturn
        syscall
        ud2
        .cfi_endproc
        .size   __restore_rt, . - __restore_rt

/*
 * The registered entries. What a handler has as arguments stays; the return address is a signal's, or that of code that calls a handler
 * which it has found registered.
 */
        .globl  caudal_probe_handler_entries
        .hidden caudal_probe_handler_entries
        .type   caudal_probe_handler_entries, @function
        .p2align 4
caudal_probe_handler_entries:
        .cfi_startproc
        .set    number, 0
        .rept   CAUDAL_ENTRIES
        .p2align 4
        .byte   0xf3, 0x0f, 0x1e, 0xfa          /* endbr64, also where the assembler does not know it */
        mov     r11d, number
        jmp     .Lhandle
        .set    number, number + 1
        .endr
        .p2align 4
.Lhandle:
        push    rax
        .cfi_adjust_cfa_offset 8
        push    rdi
        .cfi_adjust_cfa_offset 8
        push    rsi
        .cfi_adjust_cfa_offset 8
        push    rdx
        .cfi_adjust_cfa_offset 8
        sub     rsp, 8
        .cfi_adjust_cfa_offset 8
        lea     rdi, [rsp + 40]
        mov     esi, r11d
        lea     rdx, [rip + __restore_rt]
        call    caudal_probe_handler_begins
        mov     r11, rax
        mov     r10, rdx
        add     rsp, 8
        .cfi_adjust_cfa_offset -8
        pop     rdx
        .cfi_adjust_cfa_offset -8
        pop     rsi
        .cfi_adjust_cfa_offset -8
        pop     rdi
        .cfi_adjust_cfa_offset -8
        pop     rax
        .cfi_adjust_cfa_offset -8
        test    r10, r10
        jnz     1f
        jmp     r11

        /* It does not return to the kernel: it is called, and the depth put back behind the call. */
1:      push    rbx
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset rbx, 0
        mov     rbx, r10
        call    r11
        lea     rdi, [rsp + 8]
        mov     esi, ebx
        call    caudal_probe_handler_returns
        pop     rbx
        .cfi_adjust_cfa_offset -8
        .cfi_restore rbx
        ret
        .cfi_endproc
        .size   caudal_probe_handler_entries, . - caudal_probe_handler_entries
        .section .note.GNU-stack, "", @progbits
