/* Code that nobody instruments, in the program and in a library that it loads. */
#ifndef PLAIN_H
#define PLAIN_H

#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>

struct plain {
    int (*sigaction)(int, const struct sigaction *, struct sigaction *);
    void (*(*signal)(int, void (*)(int)))(int);
    void (*(*sigset)(int, void (*)(int)))(int);
    /* Registers a handler that calls the one before, and puts that back. */
    void (*chain)(int number);
    void (*unchain)(int number);
    /* What the kernel has is put aside and put back, without the C library. */
    void (*suspend)(int number);
    void (*resume)(int number);
    void (*jump)(sigjmp_buf buffer, int value);
};

void plain_fill(struct plain *plain);

#endif
