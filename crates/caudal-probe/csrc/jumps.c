/*
 * Leaves signal handlers by longjmp in order, so that their section ends. Called by programs with probes that call longjmp and its
 * like.
 *
 * longjmp and its like out of handlers of signals: see signals.c.
 *
 * The buffer says where a jump goes, as the C library keeps it: the stack pointer is its seventh word. musl keeps it as it is, the GNU C
 * library XORed with a secret of the thread, and rotated. To find out which of the two this library does, a buffer is filled here, whose stack
 * pointer is known. If the seventh word has it in neither form, nothing is done at the jump: the next probe that finds the thread in a section
 * sees that it has left the handler.
 */
#define _GNU_SOURCE
#include "signals.h"

#include <setjmp.h>
#include <string.h>

#define STACK_POINTER 6
/* How far the stack pointer in a buffer that is filled here may be from the function's frame address: its frame is smaller. */
#define NEAR 4096

static uint64_t word_of(const void *buffer)
{
    uint64_t word;
    memcpy(&word, (const char *)buffer + STACK_POINTER * sizeof word, sizeof word);
    return word;
}

static uint64_t demangled(uint64_t word)
{
    uint64_t secret;
    __asm__("movq %%fs:0x30, %0" : "=r"(secret));
    return (word >> 17 | word << 47) ^ secret;
}

static int is_near(uint64_t stack, uint64_t here)
{
    return stack - here + NEAR < 2 * NEAR;
}

__attribute__((noinline)) static void announce_jump(const void *buffer)
{
    jmp_buf own;
    uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0), target = word_of(buffer);
    if (_setjmp(own) != 0) {
        return;
    }
    if (is_near(demangled(word_of(own)), here)) {
        caudal_probe_jumps_to(demangled(target));
    } else if (is_near(word_of(own), here)) {
        caudal_probe_jumps_to(target);
    }
}

/* As _FORTIFY_SOURCE has it. */
__attribute__((noreturn)) void __longjmp_chk(jmp_buf buffer, int value);

#define AROUND(NAME)                                                                   \
    __attribute__((noreturn)) void caudal_around_##NAME##_v1(jmp_buf buffer, int value) \
    {                                                                                  \
        if (__builtin_expect(caudal_probe_handlings.count != 0, 0)) {                  \
            announce_jump(buffer);                                                     \
        }                                                                              \
        LIBC(NAME)(buffer, value);                                                     \
        __builtin_unreachable();                                                       \
    }

AROUND(longjmp)
AROUND(_longjmp)
AROUND(siglongjmp)
AROUND(__longjmp_chk)
