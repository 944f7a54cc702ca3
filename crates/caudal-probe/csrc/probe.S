/*
 * The cold entries of flag mode and clock mode, and the change from instrumented code to C. Called by probes that are due.
 *
 * The cold entries of instrumented code but budget mode's (budget.S): they keep all registers but the flags and r11 (System V,
 * x86-64).
 *
 * First the decision, in C that touches general registers only. Vector and x87 registers are kept only when a yield is
 * to happen, in a second frame. From high addresses to low:
 *
 *      | return address into the probe                |    of any alignment
 *      | rbp                                          | <- rbp of cold_entry
 *      | rax rcx rdx rsi rdi r8 r9 r10                |    -8(rbp) ... -64(rbp)
 *      | up to 15 bytes                               | <- rsp of cold_entry, aligned to 16
 *      | return address into cold_entry               |
 *      | rbp                                          | <- rbp of caudal_probe_keep_and_yield
 *      | up to 63 bytes                               |
 *      | VECTORS: zmm0 ... zmm31, or ymm0 ..., xmm0 … |
 *      | LEGACY: fxsave's area, where x87 is in use   |
 *      | MASKS: k0 ... k7                             |
 *      | ENVIRONMENT: fnstenv's area                  |
 *      | WIDE, IN_USE, STATUS, NOW                    | <- rsp of caudal_probe_keep_and_yield, aligned to 64
 *
 * x87 registers are in use when st(0) is not empty, for compilers keep what lives in them at the top. MMX code that has
 * not come to its emms looks like that too.
 *
 * Registers whose upper halves are 0 are restored as xmm registers behind a vzeroupper: once a ymm or zmm register has been
 * loaded, the processor holds its upper half to be in use, and code without AVX has to merge each of its results with it
 * (four times slower, in a loop of floating-point arithmetic).
 */
#include "state.h"
#include "vector.h"

/* For programs built with -fcf-protection: that this object may be one of them, and where it is called indirectly. */
#if defined(__CET__)
#include <cet.h>
#else
#define _CET_ENDBR
#endif

#define NOW 0
#define STATUS 8
#define IN_USE 12
#define ENVIRONMENT 16
#define WIDE 48
#define MASKS 64
#define LEGACY 128
#define VECTORS 640
#define FRAME (640 + 32 * 64)

/* Of x87's status word: fxam's answer, the answer for an empty register, what a program can see (top, exceptions). */
#define FXAM_ANSWER 0x4500
#define FXAM_EMPTY 0x4100
#define STATUS_VISIBLE 0x38ff
/* Of struct caudal_probe. */
#define DEADLINE CAUDAL_PROBE_DEADLINE
#define BUDGET CAUDAL_PROBE_BUDGET_LEFT
#define CREDIT CAUDAL_PROBE_CREDIT

/* Of clock mode's pace. */
#define LOWEST 16
#define HIGHEST 4096
/* Cycles from which it is measured: not fewer, nor more. */
#define MEASURABLE 32
#define LONGEST 65536
/* Where fnstenv puts the status word. */
#define ENVIRONMENT_STATUS 4

        .intel_syntax noprefix
        .text

        .macro cold_entry name, decide
        .globl  \name
        .type   \name, @function
        .p2align 4
\name:
.L\name:
        .cfi_startproc
        _CET_ENDBR
        push    rbp
        .cfi_def_cfa_offset 16
        .cfi_offset rbp, -16
        mov     rbp, rsp
        .cfi_def_cfa_register rbp
        push    rax
        push    rcx
        push    rdx
        push    rsi
        push    rdi
        push    r8
        push    r9
        push    r10
        .cfi_offset rax, -24
        .cfi_offset rcx, -32
        .cfi_offset rdx, -40
        .cfi_offset rsi, -48
        .cfi_offset rdi, -56
        .cfi_offset r8, -64
        .cfi_offset r9, -72
        .cfi_offset r10, -80
        mov     rdi, rsp
        and     rsp, -16
        call    \decide
        test    rax, rax
        jz      1f
        mov     rdi, rax
        call    caudal_probe_keep_and_yield
1:
        mov     rax, [rbp - 8]
        mov     rcx, [rbp - 16]
        mov     rdx, [rbp - 24]
        mov     rsi, [rbp - 32]
        mov     rdi, [rbp - 40]
        mov     r8, [rbp - 48]
        mov     r9, [rbp - 56]
        mov     r10, [rbp - 64]
        leave
        .cfi_def_cfa rsp, 8
        .cfi_restore rbp
        ret
        .cfi_endproc
        .size   \name, . - \name
        .endm

        cold_entry caudal_probe_cold_clock_v1, caudal_probe_decide_clock
        cold_entry caudal_probe_cold_flag_v1, caudal_probe_decide_flag
        cold_entry caudal_probe_cold_exit_v1, caudal_probe_decide_exit

        /* `value` within limits; `limit`: rax, or eax, as wide. */
        .macro clamp value, limit, least, most
        mov     eax, \least
        cmp     \value, \limit
        cmovb   \value, \limit
        mov     eax, \most
        cmp     \value, \limit
        cmova   \value, \limit
        .endm

        .macro restore_general
        .irp    register, r8, rdi, rsi, rdx, rcx, rax
        pop     \register
        .cfi_adjust_cfa_offset -8
        .cfi_restore \register
        .endr
        .endm

/*
 * Clock mode's credit is gone: reads the clock and gives more, unless a yield is due. What is left comes back in r11 as well.
 *
 * The next reading is meant to be at the deadline, within limits. The pace by which that is turned into cost units follows what
 * was spent since the last reading: down to it at once, but to no less than an eighth (a stall of the machine looks like that);
 * up by half of the difference, and half as much again at most. So readings come early rather than late. A deadline that is nearer than
 * half of the least credit is due: the next reading would be further behind it than this one is in front. A quantum of 2 us so
 * has two or three readings; one each bound's worth is 20 to 100, each of which costs the program some 40 cycles, many of them in
 * what it had predicted. No jumps but one, for what they would cost (decide.c).
 */
        .globl  caudal_probe_cold_credit_v1
        .type   caudal_probe_cold_credit_v1, @function
        .p2align 4
caudal_probe_cold_credit_v1:
        .cfi_startproc
        _CET_ENDBR
        .irp    register, rax, rcx, rdx, rsi, rdi, r8
        push    \register
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset \register, 0
        .endr
        mov     r11, [rip + caudal_probe_v1@GOTTPOFF]
        mov     rcx, [rip + caudal_probe_state@GOTTPOFF]
        rdtsc
        shl     rdx, 32
        or      rdx, rax                                /* now */
        mov     rsi, rdx
        sub     rsi, fs:[rcx + CAUDAL_STATE_READ_AT]    /* cycles that passed */
        mov     fs:[rcx + CAUDAL_STATE_READ_AT], rdx
        mov     r8, fs:[r11 + DEADLINE]
        sub     r8, rdx
        mov     eax, 0
        cmovb   r8, rax                                 /* cycles that are left */

        clamp   rsi, rax, MEASURABLE, LONGEST
        mov     eax, fs:[rcx + CAUDAL_STATE_GIVEN]
        shl     eax, CAUDAL_CLOCK_PACE_SHIFT
        xor     edx, edx
        div     esi
        mov     edi, fs:[rcx + CAUDAL_STATE_PACE]
        mov     edx, edi
        shr     edx, 3
        cmp     eax, edx
        cmovb   eax, edx
        lea     edx, [rdi + rdi]
        cmp     eax, edx
        cmova   eax, edx
        lea     edx, [rdi + rax]
        shr     edx, 1
        cmp     eax, edi
        cmovb   edx, eax
        clamp   edx, eax, LOWEST, HIGHEST
        mov     fs:[rcx + CAUDAL_STATE_PACE], edx

        mov     rdi, r8
        clamp   rdi, rax, CAUDAL_CLOCK_CLOSEST, CAUDAL_CLOCK_FARTHEST
        imul    edi, edx
        shr     edi, CAUDAL_CLOCK_PACE_SHIFT
        mov     fs:[rcx + CAUDAL_STATE_GIVEN], edi
        mov     fs:[r11 + CREDIT], edi
        mov     r11d, edi
        cmp     r8, CAUDAL_CLOCK_CLOSEST / 2
        jbe     2f
        .cfi_remember_state
        restore_general
        ret

2:
        .cfi_restore_state
        /* LLVM's assembler adjusts what follows from where the state was left, not from what it was. */
        .cfi_def_cfa_offset 56
        restore_general
        call    .Lcaudal_probe_cold_clock_v1
        /* The thread may be another by now. */
        mov     r11, [rip + caudal_probe_v1@GOTTPOFF]
        mov     r11d, fs:[r11 + CREDIT]
        ret
        .cfi_endproc
        .size   caudal_probe_cold_credit_v1, . - caudal_probe_cold_credit_v1

        /* Whole probes, to be called: what is due goes on to the cold entry, which returns to the probe's caller. */
        .macro called_probe name, cold, due, test:vararg
        .globl  \name
        .type   \name, @function
\name:
        .cfi_startproc
        _CET_ENDBR
        \test
        \due    \cold
        ret
        .cfi_endproc
        .size   \name, . - \name
        .endm

        .macro spend units
        mov     r11, [rip + caudal_probe_v1@GOTTPOFF]
        sub     qword ptr fs:[r11 + BUDGET], \units
        .endm

        .macro test_flag
        mov     r11, [rip + caudal_flag_v1@GOTTPOFF]
        cmp     byte ptr fs:[r11], 0
        .endm

        .irp units, 1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 127
        called_probe caudal_probe_spend_\units\()_v1, caudal_probe_cold_budget_v1_here, jl, spend \units
        called_probe caudal_probe_spend_carried_\units\()_v1, caudal_probe_cold_carried_v1_here, jl, sub r11, \units
        .endr
        called_probe caudal_probe_look_v1, .Lcaudal_probe_cold_flag_v1, jne, test_flag

        /* WIDE: whether ymm0's upper half is other than 0; then that is so of none. */
        .macro note_upper_half
        vextractf128 xmm0, ymm0, 1
        xor     eax, eax
        vptest  xmm0, xmm0
        setnz   al
        mov     [rsp + WIDE], eax
        vzeroupper
        .endm

/* Calls the hook with rdi (the TSC value of the decision); keeps vector, mask, x87 and MMX registers. */
        .globl  caudal_probe_keep_and_yield
        .hidden caudal_probe_keep_and_yield
        .type   caudal_probe_keep_and_yield, @function
        .p2align 4
caudal_probe_keep_and_yield:
        .cfi_startproc
        push    rbp
        .cfi_def_cfa_offset 16
        .cfi_offset rbp, -16
        mov     rbp, rsp
        .cfi_def_cfa_register rbp
        and     rsp, -64
        sub     rsp, FRAME
        mov     [rsp + NOW], rdi

        fxam
        fnstsw  ax
        mov     [rsp + STATUS], eax
        and     eax, FXAM_ANSWER
        xor     eax, FXAM_EMPTY
        mov     [rsp + IN_USE], eax
        jnz     .Lkeep_x87
.Lx87_kept:
        mov     eax, [rip + caudal_probe_vector]
        cmp     eax, CAUDAL_VECTOR_AVX
        ja      .Lkeep_avx512
        je      .Lkeep_avx
        cmp     eax, CAUDAL_VECTOR_UNKNOWN
        je      .Lfind
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        movaps  [rsp + VECTORS + 16 * \n], xmm\n
        .endr
        jmp     .Lkept
.Lkeep_avx:
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        vmovaps [rsp + VECTORS + 32 * \n], ymm\n
        .endr
        .irp    n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        vorps   ymm0, ymm0, ymm\n
        .endr
        note_upper_half
        jmp     .Lkept
.Lkeep_avx512:
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        kmovq   [rsp + MASKS + 8 * \n], k\n
        .endr
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        vmovaps [rsp + VECTORS + 64 * \n], zmm\n
        .endr
        .irp    n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
        vmovaps [rsp + VECTORS + 64 * \n], zmm\n
        .endr
        .irp    n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        vporq   zmm0, zmm0, zmm\n
        .endr
        vextracti64x4 ymm1, zmm0, 1
        /* All of the upper half, and what is above the lowest 128 bits of the lower. */
        vextractf128 xmm2, ymm1, 1
        vorps   xmm1, xmm1, xmm2
        vinsertf128 ymm1, ymm1, xmm1, 1
        vorps   ymm0, ymm0, ymm1
        note_upper_half
.Lkept:
        mov     rdi, [rsp + NOW]
        call    caudal_probe_yield

        /* x87 before the vectors: fxrstor loads xmm registers too. */
        cmp     dword ptr [rsp + IN_USE], 0
        jne     .Lrestore_x87
        fnstsw  ax
        xor     eax, [rsp + STATUS]
        test    eax, STATUS_VISIBLE
        jnz     .Lrestore_status
.Lx87_restored:
        mov     eax, [rip + caudal_probe_vector]
        cmp     eax, CAUDAL_VECTOR_AVX
        ja      .Lrestore_avx512
        je      .Lrestore_avx
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        movaps  xmm\n, [rsp + VECTORS + 16 * \n]
        .endr
        jmp     .Lrestored
.Lrestore_avx:
        cmp     dword ptr [rsp + WIDE], 0
        jne     1f
        vzeroupper
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        movaps  xmm\n, [rsp + VECTORS + 32 * \n]
        .endr
        jmp     .Lrestored
1:
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        vmovaps ymm\n, [rsp + VECTORS + 32 * \n]
        .endr
        jmp     .Lrestored
.Lrestore_avx512:
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        kmovq   k\n, [rsp + MASKS + 8 * \n]
        .endr
        .irp    n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
        vmovaps zmm\n, [rsp + VECTORS + 64 * \n]
        .endr
        cmp     dword ptr [rsp + WIDE], 0
        jne     1f
        vzeroupper
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        movaps  xmm\n, [rsp + VECTORS + 64 * \n]
        .endr
        jmp     .Lrestored
1:
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        vmovaps zmm\n, [rsp + VECTORS + 64 * \n]
        .endr
.Lrestored:
        .cfi_remember_state
        leave
        .cfi_def_cfa rsp, 8
        .cfi_restore rbp
        ret
        .cfi_restore_state

.Lkeep_x87:
        fxsave64 [rsp + LEGACY]
        fninit
        jmp     .Lx87_kept
.Lfind:
        call    caudal_probe_find_vectors
        jmp     .Lx87_kept
.Lrestore_x87:
        fxrstor64 [rsp + LEGACY]
        jmp     .Lx87_restored
.Lrestore_status:
        mov     ax, [rsp + STATUS]
        fnstenv [rsp + ENVIRONMENT]
        mov     [rsp + ENVIRONMENT + ENVIRONMENT_STATUS], ax
        fldenv  [rsp + ENVIRONMENT]
        jmp     .Lx87_restored
        .cfi_endproc
        .size   caudal_probe_keep_and_yield, . - caudal_probe_keep_and_yield

        .section .note.GNU-stack, "", @progbits
