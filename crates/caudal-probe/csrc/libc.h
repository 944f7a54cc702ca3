/*
 * Names by which the library calls the C library itself. Used by all files here that call it.
 *
 * How the library calls the C library: by LIBC(NAME), which is the C library's function even where a program has another of that name,
 * or has the linker replace it (--wrap). The program's own is called where the program calls it (bind.c).
 */
#ifndef CAUDAL_PROBE_LIBC_H
#define CAUDAL_PROBE_LIBC_H

#include <stddef.h>
#include <stdint.h>

/* The constructor that looks up the C library's functions runs first: smaller numbers belong to the compiler and the C library. */
#define CAUDAL_CONSTRUCTOR __attribute__((constructor(101)))

enum caudal_libc_name {
#define CAUDAL_NAME(name, others, calls) CAUDAL_LIBC_##name,
#include "names.h"
#undef CAUDAL_NAME
    CAUDAL_LIBC_NAMES
};

/* The address that the linker has found for each name, until bind.c has looked for the C library's own. */
extern void *caudal_libc[CAUDAL_LIBC_NAMES] __attribute__((visibility("hidden")));

/* One instruction, without a register for the address: it is written once, by all that write it with the same value. */
#define LIBC(name) ((__typeof__(&name))caudal_libc[CAUDAL_LIBC_##name])

/* A function by the name of `own`, which the library defines, in an object that the loader looks at between the library's and the C library:
 * one that was preloaded. Null: there is none. */
__attribute__((visibility("hidden"))) void *caudal_probe_preloaded(const char *text, const void *own);

#endif
