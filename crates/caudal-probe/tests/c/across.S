/* Looks at all registers before and after a call; see across.h. Not reentrant. */
#include "across.h"
#include "caudal/probe.h"


        .intel_syntax noprefix
        .local  entry_slot, in_slot, out_slot, r11_slot, stack_slot, kind_slot
        .comm   entry_slot, 8, 8
        .comm   in_slot, 8, 8
        .comm   out_slot, 8, 8
        .comm   r11_slot, 8, 8
        .comm   stack_slot, 8, 8
        .comm   kind_slot, 8, 8

        .text
        .macro general op
        \op     0, rax
        \op     1, rbx
        \op     2, rcx
        \op     3, rdx
        \op     4, rsi
        \op     5, rdi
        \op     6, rbp
        \op     8, r8
        \op     9, r9
        \op     10, r10
        \op     12, r12
        \op     13, r13
        \op     14, r14
        \op     15, r15
        .endm
        .macro load_general n, reg
        mov     \reg, [r11 + IMAGE_GENERAL + 8 * \n]
        .endm
        .macro store_general n, reg
        mov     [r11 + IMAGE_GENERAL + 8 * \n], \reg
        .endm

        .macro load_vectors
        fxrstor64 [r11 + IMAGE_LEGACY]
        cmp     qword ptr [rip + kind_slot], 2
        ja      3f
        je      2f
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        movups  xmm\n, [r11 + IMAGE_VECTORS + 64 * \n]
        .endr
        jmp     4f
2:
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        vmovups ymm\n, [r11 + IMAGE_VECTORS + 64 * \n]
        .endr
        jmp     4f
3:
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        kmovq   k\n, [r11 + IMAGE_MASKS + 8 * \n]
        .endr
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        vmovups zmm\n, [r11 + IMAGE_VECTORS + 64 * \n]
        .endr
        .irp    n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
        vmovups zmm\n, [r11 + IMAGE_VECTORS + 64 * \n]
        .endr
4:
        .endm

        .macro store_vectors
        fxsave64 [r11 + IMAGE_LEGACY]
        cmp     qword ptr [rip + kind_slot], 2
        ja      3f
        je      2f
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        movups  [r11 + IMAGE_VECTORS + 64 * \n], xmm\n
        .endr
        jmp     4f
2:
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        vmovups [r11 + IMAGE_VECTORS + 64 * \n], ymm\n
        .endr
        jmp     4f
3:
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        kmovq   [r11 + IMAGE_MASKS + 8 * \n], k\n
        .endr
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        vmovups [r11 + IMAGE_VECTORS + 64 * \n], zmm\n
        .endr
        .irp    n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
        vmovups [r11 + IMAGE_VECTORS + 64 * \n], zmm\n
        .endr
4:
        .endm

        .globl  call_across
        .type   call_across, @function
call_across:
        push    rbx
        push    rbp
        push    r12
        push    r13
        push    r14
        push    r15
        sub     rsp, 24
        stmxcsr [rsp]
        fnstcw  [rsp + 4]
        mov     [rip + entry_slot], rdi
        mov     [rip + in_slot], rsi
        mov     [rip + out_slot], rdx
        mov     [rip + kind_slot], r8
        mov     [rip + stack_slot], rsp
        and     rsp, -64
        sub     rsp, rcx
        /* The red zone of a leaf whose stack pointer this is. */
        lea     rdi, [rsp - CAUDAL_PROBE_RED_ZONE]
        lea     rsi, [rsi + IMAGE_RED_ZONE]
        mov     ecx, CAUDAL_PROBE_RED_ZONE
        rep     movsb
        mov     r11, [rip + in_slot]
        load_vectors
        general load_general
        mov     r11, [rip + out_slot]
        mov     [r11 + IMAGE_GENERAL + 8 * 7], rsp
        mov     r11, [rip + in_slot]
        mov     r11, [r11 + IMAGE_GENERAL + 8 * 11]
        lea     rsp, [rsp - CAUDAL_PROBE_RED_ZONE]
        call    [rip + entry_slot]
        lea     rsp, [rsp + CAUDAL_PROBE_RED_ZONE]
        mov     [rip + r11_slot], r11
        mov     r11, [rip + out_slot]
        general store_general
        mov     rax, [rip + r11_slot]
        mov     [r11 + IMAGE_GENERAL + 8 * 11], rax
        /* 0 when the stack pointer is what it was. */
        sub     [r11 + IMAGE_GENERAL + 8 * 7], rsp
        store_vectors
        lea     rsi, [rsp - CAUDAL_PROBE_RED_ZONE]
        lea     rdi, [r11 + IMAGE_RED_ZONE]
        mov     ecx, CAUDAL_PROBE_RED_ZONE
        rep     movsb
        mov     rsp, [rip + stack_slot]
        fninit
        ldmxcsr [rsp]
        fldcw   [rsp + 4]
        add     rsp, 24
        pop     r15
        pop     r14
        pop     r13
        pop     r12
        pop     rbp
        pop     rbx
        ret
        .size   call_across, . - call_across

        .globl  trash
        .type   trash, @function
trash:
        push    rbp
        mov     rbp, rsp
        sub     rsp, 16
        /* Not what a C function may do: it stands for a switch to other code and back. */
        mov     dword ptr [rsp], 0x9fbf
        ldmxcsr [rsp]
        /* Divides by zero, so that the status word shows it; then all eight registers full, then empty. */
        fninit
        mov     word ptr [rsp], 0x0f7f
        fldcw   [rsp]
        fld1
        fldz
        fdivp
        .rept   7
        fldpi
        .endr
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        ffree   st(\n)
        .endr
        fincstp
        cmp     edi, 2
        ja      3f
        je      2f
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        pcmpeqd xmm\n, xmm\n
        .endr
        jmp     4f
2:
        vpcmpeqd xmm0, xmm0, xmm0
        vinsertf128 ymm0, ymm0, xmm0, 1
        .irp    n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        vmovaps ymm\n, ymm0
        .endr
        jmp     4f
3:
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        vpternlogd zmm\n, zmm\n, zmm\n, 255
        .endr
        .irp    n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
        vpternlogd zmm\n, zmm\n, zmm\n, 255
        .endr
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        kxnorq  k\n, k\n, k\n
        .endr
4:
        mov     rax, -1
        .irp    reg, rcx, rdx, rsi, rdi, r8, r9, r10, r11
        mov     \reg, rax
        .endr
        leave
        ret
        .size   trash, . - trash

        .section .note.GNU-stack, "", @progbits
