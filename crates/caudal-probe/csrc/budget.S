/*
 * The frequent cases of what happens when a probe of budget mode is due. Called by probes in budget mode, of code that the probe
 * pass has instrumented.
 *
 * Budget mode's visit: what decide.c's caudal_probe_decide_budget does, in the cases that are frequent, without a call and with
 * no jump that is taken unless it yields or reads the clock again. All registers but the flags and r11 are kept. What is rare goes
 * on to decide.c with nothing changed: a section, a flag that is set, "every", times that do not fit. Both have the same results, bit for bit
 * (tests/c/visit.c): who changes one changes the other.
 *
 * From high addresses to low:
 *
 *      | return address into the probe                |    of any alignment
 *      | rax rcx rdx rsi rdi r8 r9 r10                | <- rsp of the visit
 *
 * or, where what is left of the budget is in another register than r11:
 *
 *      | return address into the probe                |
 *      | r11, and where that register is, from rsp    |
 *      | rax ... r10 as above, rbx rbp r12 ... r15    | <- rsp of the visit
 *
 * and below, caudal_probe_keep_and_yield's frame or, where it is rare, rbp and a call of decide.c.
 *
 * No calls that could be jumps: processors predict returns from a stack of the calls before (32 on an AMD Zen 4), and each call here
 * costs a program that is as deep in its own calls one return that is predicted wrongly. Eight more of them made a visit of a
 * recursion take 1,064 cycles instead of 424, and one of four programs without recursion 30 to 50 more; one fewer saved it 30.
 */
#include "state.h"

#if defined(__CET__)
#include <cet.h>
#else
#define _CET_ENDBR
#endif

#define BLOCK(name) fs:[r11 + CAUDAL_PROBE_##name]
#define STATE(name) fs:[rcx + CAUDAL_STATE_##name]
/* Bytes of registers that are kept. */
#define GENERAL (8 * 8)
#define CALLEE_SAVED (6 * 8)

        .intel_syntax noprefix
        .text

        .macro keep registers:vararg
        .irp    register, \registers
        push    \register
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset \register, 0
        .endr
        .endm

        .macro restore registers:vararg
        .irp    register, \registers
        pop     \register
        .cfi_adjust_cfa_offset -8
        .cfi_restore \register
        .endr
        .endm

        /* Behind caudal_probe_cold_carried_v1_..., which keeps r11. */
        .macro keep_all
        .cfi_adjust_cfa_offset 16
        .cfi_rel_offset r11, 8
        keep    rax, rcx, rdx, rsi, rdi, r8, r9, r10, rbx, rbp, r12, r13, r14, r15
        .endm

        /* rax: what is left of the budget, which is put where it is carried. */
        .macro restore_all
        mov     rcx, [rsp + GENERAL + CALLEE_SAVED]
        mov     [rsp + rcx], rax
        restore r15, r14, r13, r12, rbp, rbx, r10, r9, r8, rdi, rsi, rdx, rcx, rax
        lea     rsp, [rsp + 8]
        .cfi_adjust_cfa_offset -8
        restore r11
        .endm

        .macro keep_general
        keep    rax, rcx, rdx, rsi, rdi, r8, r9, r10
        .endm

        .macro restore_general
        restore r10, r9, r8, rdi, rsi, rdx, rcx, rax
        .endm

        .macro restore_general_and_r11
        mov     r11, rax
        restore_general
        .endm

        /* rdi: now; rsi and rax: cycles and units since the budget was armed; to `rare` where they are not within limits. */
        .macro spent rare
        rdtsc
        shl     rdx, 32
        lea     rdi, [rdx + rax]
        mov     rsi, rdi
        sub     rsi, STATE(ARMED_AT)
        mov     rax, STATE(ARMED_UNITS)
        sub     rax, BLOCK(BUDGET_LEFT)
        lea     r8, [rsi - CAUDAL_BUDGET_MEASURABLE]
        lea     r9, [rax - 1]
        or      r8, r9
        shr     r8, CAUDAL_BUDGET_LONGEST_BITS
        jnz     \rare
        .endm

        /* rax: their ratio. */
        .macro ratio
        shl     rax, 16
        xor     edx, edx
        div     rsi
        mov     edx, CAUDAL_BUDGET_HIGHEST
        cmp     rax, rdx
        cmova   rax, rdx
        .endm

        /* `carried`: what is left of the budget comes in r11, is in caudal_probe_v1 while the decision is made, and in rax at `restore`. */
        .macro visit name, carried, keep, restore, frame
        .globl  \name
        .type   \name, @function
        /* Whole probes (probe.S) jump to this name: hidden, so that no linker leads the jump through a PLT. */
        .globl  \name\()_here
        .hidden \name\()_here
        .p2align 4
\name:
\name\()_here:
        .cfi_startproc
        .if \frame == GENERAL + 8
        _CET_ENDBR                              /* the other one is only jumped to directly */
        .endif
        \keep
        .if \carried
        mov     rcx, r11
        mov     r11, [rip + caudal_probe_v1@GOTTPOFF]
        mov     BLOCK(BUDGET_LEFT), rcx
        .else
        mov     r11, [rip + caudal_probe_v1@GOTTPOFF]
        .endif
        mov     rcx, [rip + caudal_probe_state@GOTTPOFF]
        spent   .Lrare\@
        mov     r9, [rip + caudal_flag_v1@GOTTPOFF]
        cmp     byte ptr fs:[r9], 0
        jne     .Lrare\@
        mov     r9, [rip + caudal_probe_every_v1@GOTPCREL]
        cmp     byte ptr [r9], 0
        jne     .Lrare\@
        cmp     qword ptr BLOCK(DEPTH), 0               /* and pending */
        jne     .Lrare\@

        /* rax: the ratio that is measured; r10: the one that was known; rdx: half of that. */
        ratio
        mov     r10d, BLOCK(RATIO)
        mov     rdx, r10
        shr     rdx
        lea     rsi, [r10 + r10]
        cmp     rax, rsi
        ja      .Lfaster\@

        /* r9: how far they are apart; r8: the ratio that follows. */
.Lmeasured\@:
        mov     r8, rax
        sub     r8, r10
        mov     r9, r8
        neg     r9
        cmovs   r9, r8
        sar     r8
        add     r8, r10
        lea     rsi, [r10 + rdx + 1]
        cmp     r8, rsi
        cmova   r8, rsi
        cmp     rax, rdx
        cmovb   r8, rax
        or      r8d, 1

        /* esi: the lowest of late. */
        mov     esi, STATE(SLOWEST)
        sub     eax, esi
        mov     edx, eax
        sar     edx, CAUDAL_BUDGET_MEMORY_BITS
        inc     edx
        sar     eax, CAUDAL_BUDGET_TRUST_BITS
        cmovs   edx, eax
        add     esi, edx

        /* rdx: the quantum; rax: what is left of it, signed. */
        mov     rdx, BLOCK(QUANTUM)
        mov     rax, rdx
        shr     rax, CAUDAL_BUDGET_FARTHEST_BITS
        jnz     .Lrare\@
        mov     rax, BLOCK(DEADLINE)
        test    rax, rax
        js      .Lrare\@
        sub     rax, rdi
        cmp     rax, rdx
        jg      .Lrare\@

        /* Nothing is rare any more. */
        inc     qword ptr STATE(COLD_VISITS)
        mov     BLOCK(RATIO), r8d
        mov     STATE(SLOWEST), esi
        mov     esi, STATE(DEVIATION)
        sub     r9, rsi
        sar     r9, CAUDAL_BUDGET_WEIGHT_BITS
        add     r9d, esi
        mov     STATE(DEVIATION), r9d

        /* By what was known of the pace's steadiness before: r9, what a new quantum is armed with; r10, what is near enough. */
        mov     r9, rdx
        shr     r9
        imul    rsi, rsi, CAUDAL_BUDGET_STEADY
        cmp     rsi, r10
        mov     esi, CAUDAL_BUDGET_NEAR_STEADY
        mov     r10d, CAUDAL_BUDGET_NEAR
        cmovb   r10d, esi
        cmovb   r9, rdx
        imul    r10, rdx
        shr     r10, CAUDAL_BUDGET_NEAR_BITS
        /* Nothing is near enough elsewhere than on a coroutine's stack. */
        mov     rsi, r10
        cmp     rsp, BLOCK(STACK_LOW)
        cmovb   rsi, [rip + .Lnever]
        cmp     rsp, BLOCK(STACK_HIGH)
        cmovae  rsi, [rip + .Lnever]
        cmp     rax, rsi
        jle     .Lyield\@

        /* A budget that is due all the same is armed anew. */
        lea     rsi, [rdi + rdx]
        cmp     rax, r10
        cmovg   rsi, BLOCK(DEADLINE)
        cmovle  rax, r9
        mov     BLOCK(DEADLINE), rsi
        imul    rax, r8
        shr     rax, 16
        /* No more than at the lowest ratio of late, and a bit, where that is far below. */
        mov     r9d, r8d
        shr     r9d, CAUDAL_BUDGET_LEAST_BITS
        mov     esi, STATE(SLOWEST)
        add     r9, rsi
        imul    r9, rdx
        shr     r9, 16
        cmp     rax, r9
        cmovb   r9, rax
        shl     rsi, CAUDAL_BUDGET_FAR_BITS
        cmp     rsi, r8
        cmovb   rax, r9
        mov     BLOCK(BUDGET_LEFT), rax
        mov     STATE(ARMED_UNITS), rax
        mov     STATE(ARMED_AT), rdi
        .cfi_remember_state
        \restore
        ret

.Lyield\@:
        .cfi_restore_state
        /* LLVM's assembler adjusts what follows from where the state was left, not from what it was. */
        .cfi_def_cfa_offset \frame
        add     rax, rdi
        mov     STATE(DUE), rax
        mov     rax, -1
        mov     BLOCK(DEADLINE), rax
        shr     rax, 2                                  /* CAUDAL_PROBE_NEVER_SPENT */
        mov     BLOCK(BUDGET_LEFT), rax
        mov     STATE(ARMED_UNITS), rax
.Ldecided\@:
        call    caudal_probe_keep_and_yield
.Lreturn\@:
        .if \carried
        /* The thread may be another by now, and so the budget. */
        mov     r11, [rip + caudal_probe_v1@GOTTPOFF]
        mov     rax, BLOCK(BUDGET_LEFT)
        .endif
        .cfi_remember_state
        \restore
        ret

        /* The clock may have been read ahead (decide.c): again, when all that comes before has ended. */
.Lfaster\@:
        .cfi_restore_state
        .cfi_def_cfa_offset \frame
        lfence
        spent   .Lrare\@                                /* a signal handler may have armed since */
        ratio
        mov     rdx, r10
        shr     rdx
        jmp     .Lmeasured\@

.Lrare\@:
        .cfi_def_cfa_offset \frame
        mov     rdi, rsp
        push    rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset rbp, 0
        mov     rbp, rsp
        .cfi_def_cfa_register rbp
        and     rsp, -16
        call    caudal_probe_decide_budget
        leave
        .cfi_def_cfa rsp, \frame
        .cfi_restore rbp
        test    rax, rax
        jz      .Lreturn\@
        mov     rdi, rax
        jmp     .Ldecided\@
        .cfi_endproc
        .size   \name, . - \name
        .endm

        .p2align 3
.Lnever:
        .quad   -0x8000000000000000

        visit   caudal_probe_cold_budget_v1, 0, keep_general, restore_general, GENERAL + 8
        visit   caudal_probe_cold_carried_v1, 1, keep_general, restore_general_and_r11, GENERAL + 8
        /* Not to be called, but for what follows to jump to. */
        .hidden caudal_probe_cold_carried_elsewhere
        visit   caudal_probe_cold_carried_elsewhere, 1, keep_all, restore_all, GENERAL + CALLEE_SAVED + 16 + 8

        /* The rest of the budget may come and go in any register. `place`: where keep_all keeps it. */
        .macro carried_in register, place
        .globl  caudal_probe_cold_carried_v1_\register
        .type   caudal_probe_cold_carried_v1_\register, @function
        .p2align 4
caudal_probe_cold_carried_v1_\register:
        .cfi_startproc
        _CET_ENDBR
        keep    r11
        push    \place
        .cfi_adjust_cfa_offset 8
        mov     r11, \register
        jmp     caudal_probe_cold_carried_elsewhere
        .cfi_endproc
        .size   caudal_probe_cold_carried_v1_\register, . - caudal_probe_cold_carried_v1_\register
        .endm

        .set    place, GENERAL + CALLEE_SAVED
        .irp    register, rax, rcx, rdx, rsi, rdi, r8, r9, r10, rbx, rbp, r12, r13, r14, r15
        .set    place, place - 8
        carried_in \register, place
        .endr
        .globl  caudal_probe_cold_carried_v1_r11
        .type   caudal_probe_cold_carried_v1_r11, @function
        .set    caudal_probe_cold_carried_v1_r11, caudal_probe_cold_carried_v1

        .section .note.GNU-stack, "", @progbits
