/* An image of the registers, for C and assembly; from low addresses to high. */
#ifndef ACROSS_H
#define ACROSS_H

#define IMAGE_GENERAL 0    /* rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r12 r13 r14 r15 */
#define IMAGE_MASKS 128    /* k0 ... k7 */
#define IMAGE_LEGACY 192   /* what fxsave64 stores: x87, MXCSR */
#define IMAGE_VECTORS 704  /* zmm0 ... zmm31 */
#define IMAGE_RED_ZONE 2752
#define IMAGE_SIZE 2880

#if !defined(__ASSEMBLER__)
#include <stdint.h>

struct __attribute__((aligned(64))) image {
    uint64_t general[16];
    uint64_t masks[8];
    uint8_t legacy[512];
    uint8_t vectors[32][64];
    uint8_t red_zone[128];
};

/* Loads all registers and the red zone from `in`, calls `entry` with the stack pointer `misaligned` bytes below a
 * multiple of 64 and below the red zone, stores all to `out`. `kind`: 1 xmm, 2 ymm, 3 zmm and masks. */
extern void call_across(void (*entry)(void), const struct image *in, struct image *out, uint64_t misaligned, int kind);
/* Changes all registers that a function may change, and MXCSR, x87's control word, status and registers. */
extern void trash(int kind);
#endif

#endif
