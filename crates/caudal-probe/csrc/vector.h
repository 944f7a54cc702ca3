/*
 * Kinds of vector registers, for C and assembly. Used by vector.c and probe.S.
 */
#ifndef CAUDAL_PROBE_VECTOR_H
#define CAUDAL_PROBE_VECTOR_H

#define CAUDAL_VECTOR_UNKNOWN 0
#define CAUDAL_VECTOR_SSE 1
#define CAUDAL_VECTOR_AVX 2
#define CAUDAL_VECTOR_AVX512 3

#if !defined(__ASSEMBLER__)
#include <stdint.h>

/* One of the kinds; unknown until caudal_probe_find_vectors() was called. */
__attribute__((visibility("hidden"))) extern uint32_t caudal_probe_vector;
__attribute__((visibility("hidden"))) void caudal_probe_find_vectors(void);
#endif

#endif
