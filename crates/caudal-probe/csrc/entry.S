/*
 * The first instructions of a static program, before there is thread-local storage. Called by the kernel: the drivers link such
 * programs with `-e caudal_start_v1`.
 *
 * Where a static program begins that the drivers have linked (-e caudal_start_v1): thread-local storage for what runs before the C
 * library has set it up.
 *
 * The C library calls the resolvers of ifuncs first, and these may call functions with probes, whose block is thread-local. So storage
 * with the program's initial values is there before (start.c); the C library puts its own in its place. Registers and the stack are
 * as the kernel has left them when its start-up code begins.
 */
#if defined(__CET__)
#include <cet.h>
#else
#define _CET_ENDBR
#endif

        .intel_syntax noprefix
        .text
        .weak   _start
        .globl  caudal_start_v1
        .type   caudal_start_v1, @function
        .p2align 4
caudal_start_v1:
        .cfi_startproc
        .cfi_undefined 16
        _CET_ENDBR
        push    rdx                             /* the kernel's stack is aligned to 16: so it is at the call */
        sub     rsp, 8
        call    caudal_probe_early_storage
        add     rsp, 8
        pop     rdx
        mov     rax, [rip + _start@GOTPCREL]    /* a static link makes this the address itself: nothing is relocated yet */
        jmp     rax
        .cfi_endproc
        .size   caudal_start_v1, . - caudal_start_v1
        .section .note.GNU-stack, "", @progbits
