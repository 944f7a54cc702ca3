/*
 * The C library's syscall(), so that a futex wait of a request lets other requests run. Called by Rust's locks, parking_lot's and
 * libstdc++'s, by the name `syscall`.
 *
 * Rust's locks, parking_lot's and libstdc++'s guards sleep by it alone, in code that was compiled before there was a pass.
 * Its symbol is defined here, so that all of an executable, and the shared objects that it is linked with, come here. Everything else
 * goes to the kernel as before. Words that belong to a thread are threads.c's.
 */
#define _GNU_SOURCE
#include "threads.h"

#include <errno.h>
#include <sched.h>
#include <linux/futex.h>
#include <sys/syscall.h>

/* After so many rounds a wait returns as if somebody had woken it for no reason, which callers provide for: a wake-up that
 * did not change the word is found so. */
#define ROUNDS_MAX 10

static long into_kernel(long number, long a, long b, long c, long d, long e, long f)
{
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ __volatile__("syscall"
                         : "=a"(result)
                         : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                         : "rcx", "r11", "memory");
    if ((unsigned long)result > -4096UL) {
        errno = (int)-result;
        return -1;
    }
    return result;
}

typedef long system_call(long number, long a, long b, long c, long d, long e, long f);
system_call caudal_around_syscall_v1;

static system_call *preloaded;

/* At the start, for the loader's lock may be had by a thread that a child of fork() has not. */
__attribute__((constructor)) static void find_preloaded(void)
{
    preloaded = (system_call *)caudal_probe_preloaded("syscall", caudal_around_syscall_v1);
}

/* Where somebody has preloaded a function of that name, it is called as it would be if this file were not in front of it. */
static long as_before(long number, long a, long b, long c, long d, long e, long f)
{
    return preloaded != NULL ? preloaded(number, a, b, c, d, e, f) : into_kernel(number, a, b, c, d, e, f);
}

static int fails_with(int error)
{
    errno = error;
    return -1;
}

/* When a futex wait is to end; `storage` is for the sum of a relative time and now. Null: never. */
static const struct caudal_until *end_of_wait(int operation, const struct timespec *time, struct caudal_until *until,
                                              struct timespec *storage)
{
    if (time == NULL) {
        return NULL;
    }
    until->clock = operation & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC;
    until->at = time;
    if ((operation & FUTEX_CMD_MASK) == FUTEX_WAIT) {
        LIBC(clock_gettime)(until->clock, storage);
        storage->tv_sec += time->tv_sec + (storage->tv_nsec + time->tv_nsec) / 1000000000;
        storage->tv_nsec = (storage->tv_nsec + time->tv_nsec) % 1000000000;
        until->at = storage;
    }
    return until;
}

/* A request waits for `*word` to be another than `expected`. Not 0 or -1: it is none that may be put aside. */
static int wait_as_request(const uint32_t *word, uint32_t expected, const struct caudal_until *until)
{
    uint32_t round;
    if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != expected) {
        return fails_with(EAGAIN);
    }
    for (round = 0; round < ROUNDS_MAX; round++) {
        if (!caudal_probe_wait(round)) {
            return 1;
        }
        if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != expected) {
            return 0;
        }
        if (until != NULL && caudal_probe_is_over(until)) {
            return fails_with(ETIMEDOUT);
        }
    }
    return 0;
}

static int is_futex_wait(long number, int operation)
{
    int command = operation & FUTEX_CMD_MASK;
    return number == SYS_futex && (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET);
}

/* Does the call make a child that has a copy of this memory, and goes on here? */
static int is_fork(long number, long a)
{
    switch (number) {
    case SYS_fork:
        return 1;
    case SYS_clone:
        return (a & CLONE_VM) == 0;
    case SYS_clone3:
        return (*(const uint64_t *)a & CLONE_VM) == 0;
    default:
        return 0;
    }
}

/* A request waits; 1: it is none that may be put aside, and the kernel is to answer. */
static int wait_aside(uint32_t *word, int operation, uint32_t expected, const struct timespec *time)
{
    struct caudal_until its_end;
    struct timespec storage;
    const struct caudal_until *until;
    if (!caudal_probe_wait(CAUDAL_WAIT_ASKS_ONLY)) {
        return 1;
    }
    until = end_of_wait(operation, time, &its_end, &storage);
    return caudal_is_parker(word) ? caudal_wait_as_parker(word, until) : wait_as_request(word, expected, until);
}

long caudal_around_syscall_v1(long number, long a, long b, long c, long d, long e, long f)
{
    struct caudal_local_wait wait;
    long answer;
    if (__builtin_expect(!is_futex_wait(number, (int)b), 1)) {
        answer = as_before(number, a, b, c, d, e, f);
        /* Behind the call, for only where it has made a child are its arguments known to be good. */
        if (answer == 0 && is_fork(number, a)) {
            caudal_probe_in_child();
        }
        return answer;
    }
    caudal_note_futex((const uint32_t *)a);
    caudal_local_wait_begins(&wait, (const uint32_t *)a);
    answer = wait_aside((uint32_t *)a, (int)b, (uint32_t)c, (const struct timespec *)d);
    if (answer > 0) {
        answer = as_before(number, a, b, c, d, e, f);
    }
    caudal_local_wait_ends(&wait);
    return answer;
}

/* As callers see it, it takes what it is given; the registers and the stack's word that nobody has set are read and not used. Weak:
 * where a program has its own already, that stays. */
long caudal_syscall(long number, long a, long b, long c, long d, long e, long f) __asm__("syscall")
    __attribute__((weak, alias("caudal_around_syscall_v1")));
