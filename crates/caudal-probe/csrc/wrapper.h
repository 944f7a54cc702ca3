/*
 * The code of a wrapper, which the probe pass calls in place of a function of the C library. Used by wrappers.S and the files of
 * other modules, which make one for each name.
 *
 * For assembly: what the probe pass calls in place of a function of the C library, `first`name_v1, where `symbol` is the name that the
 * linker knows it by, and `others` the kind of names.h.
 *
 * `symbol` is looked up in the module that the object is part of, so by all that the linker and the loader know there: another's function
 * of that name in a file of the module, --wrap, -Bsymbolic, LD_PRELOAD. At the first call caudal_bind_v1 decides; afterwards the wrapper is
 * a jump, as through a table of the linker's.
 *
 *      wrapper ──▶ slot: at first "bind" below; then caudal_around_name_v1, or `symbol` itself, or "others" below, which calls it
 *
 * `is_modules`: in a shared object, or in a program only where it is called. The name is hidden, and `symbol` has to be there.
 */
#if defined(__CET__)
#include <cet.h>
#else
#define _CET_ENDBR
#endif

        .intel_syntax noprefix

        .macro wrapper_of first, name, symbol, others, is_modules
        .section .data.caudal_slots, "aw", @progbits
        .p2align 3
.Lslot_\name:
        .quad   .Lbind_\name
        .quad   0
        .quad   .Lname_\name

        .section .rodata.str1.1, "aMS", @progbits, 1
.Lname_\name:
        .asciz  "\name"

        .text
        .if     \is_modules
        .hidden \first\name\()_v1
        .else
        .weak   \symbol
        .endif
        .globl  \first\name\()_v1
        .type   \first\name\()_v1, @function
        .p2align 4
\first\name\()_v1:
        .cfi_startproc
        _CET_ENDBR
        jmp     [rip + .Lslot_\name]
        .cfi_endproc
        .size   \first\name\()_v1, . - \first\name\()_v1

        .p2align 4
.Lbind_\name:
        .cfi_startproc
        _CET_ENDBR
        .ifc    \others, CALL
        push    0
        .else
        lea     r10, [rip + .Lothers_\name]
        push    r10
        .endif
        .cfi_adjust_cfa_offset 8
        push    [rip + caudal_around_\name\()_v1@GOTPCREL]
        .cfi_adjust_cfa_offset 8
        mov     r10, [rip + \symbol@GOTPCREL]
        lea     r11, [rip + .Lslot_\name]
        jmp     [rip + caudal_bind_v1@GOTPCREL]
        .cfi_endproc

        .ifnc   \others, CALL
        .p2align 4
.Lothers_\name:
        .cfi_startproc
        _CET_ENDBR
        mov     r11, [rip + .Lslot_\name + 8]
        jmp     [rip + caudal_others_\others\()_v1@GOTPCREL]
        .cfi_endproc
        .endif
        .endm

        .macro wrapper name, others
        .ifnc   \others, NONE
        wrapper_of caudal_wrap_, \name, \name, \others, 0
        .endif
        .endm

/* std::condition_variable::wait(std::unique_lock<std::mutex> &), of libstdc++. */
#define CAUDAL_STD_CONDITION_WAIT _ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE

        .section .note.GNU-stack, "", @progbits
