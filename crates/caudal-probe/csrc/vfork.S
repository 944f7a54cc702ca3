/*
 * The C library's vfork(), in whose child nothing yields. Called by any code of a program that has this library in it.
 *
 * The child of vfork runs in its parent's memory, on its parent's stack and with its thread-local storage, until it executes a program
 * or ends; the kernel stops the parent's thread meanwhile. A yield there would run other requests in the child, and the parent would
 * see half of what they do: memory is shared, descriptors are not. So this thread is in a critical section from before the call until the parent
 * goes on. The symbol is defined here, as `syscall` is: all of an executable, and the shared objects that it is linked with, come here,
 * also those without probes whose children call back functions that have some.
 *
 * It returns twice, so it can have no frame: the return address is in a register during the call, as in the C library's own.
 * The parent puts the depth of sections and the count of noted handlers (signals.c) back to what they were, whatever the child has left
 * there: a handler of the child's may end it, or execute a program. A yield that came due is made up for at the next probe.
 */
#include "state.h"

#include <sys/syscall.h>

#if defined(__CET__)
#include <cet.h>
#else
#define _CET_ENDBR
#endif

        .intel_syntax noprefix
        .text
        .globl  caudal_around_vfork_v1
        .weak   vfork
        .weak   __vfork
        .type   caudal_around_vfork_v1, @function
        .type   vfork, @function
        .type   __vfork, @function
        .p2align 4
caudal_around_vfork_v1:
vfork:
__vfork:
        .cfi_startproc
        _CET_ENDBR
        lea     rdi, [rsp + 8]
        sub     rsp, 8
        .cfi_adjust_cfa_offset 8
        call    caudal_probe_vfork_begins
        add     rsp, 8
        .cfi_adjust_cfa_offset -8
        mov     r9, rax         /* The kernel keeps each one's registers. */
        pop     rdi
        .cfi_adjust_cfa_offset -8
        .cfi_register 16, 5
        mov     eax, SYS_vfork
        syscall
        push    rdi
        .cfi_adjust_cfa_offset 8
        .cfi_offset 16, -8
        test    eax, eax
        jz      1f
        push    rax
        .cfi_adjust_cfa_offset 8
        mov     rdi, r9
        call    caudal_probe_vfork_ends
        pop     rax
        .cfi_adjust_cfa_offset -8
        cmp     rax, -4095
        jae     2f
1:      ret
2:      neg     eax
        push    rax
        .cfi_adjust_cfa_offset 8
        call    __errno_location@PLT
        pop     rdx
        .cfi_adjust_cfa_offset -8
        mov     [rax], edx
        mov     rax, -1
        ret
        .cfi_endproc
        .size   caudal_around_vfork_v1, . - caudal_around_vfork_v1
        .size   vfork, . - vfork
        .size   __vfork, . - __vfork
        .section .note.GNU-stack, "", @progbits
