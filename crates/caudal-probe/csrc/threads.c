/*
 * Knows futex words that belong to a thread and not to a lock. Called by syscall.c, and the runtime, which takes these words away
 * and puts them back at a switch.
 *
 * The Parker of Rust's std, which thread::park waits on: one word a thread.
 *
 *     EMPTY 0      nobody waits, no token        park:   subtracts 1; from NOTIFIED it goes on, from EMPTY it waits for NOTIFIED
 *     NOTIFIED 1   a token                       unpark: stores NOTIFIED, and wakes the thread that has PARKED
 *     PARKED -1    the thread waits
 *
 * Two requests would make it -2, and the kernel wakes nobody who waits for -1 then. So a request that is set aside leaves EMPTY behind, and
 * checks for NOTIFIED from time to time: the next request finds the word as if no other one waited, and unpark need not wake anybody.
 *
 * The word does not say whose token it has. So park returns without one as well, which its contract allows: to all that wait, when one
 * of them has found a token; and after ROUNDS_MAX rounds, because a request that never waited may have taken the token.
 *
 * Everything else here is for words that are thread-locals themselves (parking_lot's queue has one node a thread): the runtime makes sure
 * at its start that they are not used. Where it could not, two requests would be in a queue as one.
 */
#define _GNU_SOURCE
#include "threads.h"

#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EMPTY 0U
#define NOTIFIED 1U
#define PARKED UINT32_MAX

/* 127 us until the hook's longest step, then 64 us each: 1.7 ms in all. */
#define ROUNDS_MAX 32

struct threads_words {
    const uint32_t *noted;
    const uint32_t *parker;
    uint32_t tokens; /* that waiting requests have found */
    int learning;
    uintptr_t locals_begin, locals_end;
    struct caudal_local_wait *waits;
};

static __thread struct threads_words words __attribute__((tls_model("initial-exec")));

/* --- learning ------------------------------------------------------------------------------------------------------- */

void caudal_note_futex(const uint32_t *word)
{
    if (words.learning && words.noted == NULL) {
        words.noted = word;
    }
}

void caudal_learn_futex_v1(void)
{
    words.noted = NULL;
    words.learning = 1;
}

const uint32_t *caudal_learnt_futex_v1(void)
{
    words.learning = 0;
    return words.noted;
}

void caudal_parker_is_v1(const uint32_t *word)
{
    words.parker = word;
}

/* Is the object that has this library in it: then its thread-locals are noted. */
static int note_locals(struct dl_phdr_info *object, size_t size, void *unused)
{
    uintptr_t begin = (uintptr_t)object->dlpi_tls_data;
    ElfW(Half) at;
    (void)size, (void)unused;
    for (at = 0; begin != 0 && at < object->dlpi_phnum; at++) {
        const ElfW(Phdr) *header = &object->dlpi_phdr[at];
        uintptr_t own = (uintptr_t)&words;
        if (header->p_type == PT_TLS && own >= begin && own < begin + header->p_memsz) {
            words.locals_begin = begin;
            words.locals_end = begin + header->p_memsz;
            return 1;
        }
    }
    return 0;
}

void caudal_thread_locals_v1(uintptr_t bounds[2])
{
    if (words.locals_end == 0) {
        dl_iterate_phdr(note_locals, NULL);
    }
    bounds[0] = words.locals_begin;
    bounds[1] = words.locals_end;
}

/* --- the Parker ----------------------------------------------------------------------------------------------------- */

int caudal_is_parker(const uint32_t *word)
{
    return word != NULL && word == words.parker;
}

/* EMPTY, unless it is NOTIFIED, which is answered. Whatever else it is: a probe in std itself may have let two requests subtract. */
static int is_notified_or_empty(uint32_t *word)
{
    uint32_t value = __atomic_load_n(word, __ATOMIC_SEQ_CST);
    while (value != NOTIFIED && value != EMPTY &&
           !__atomic_compare_exchange_n(word, &value, EMPTY, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
    return value == NOTIFIED;
}

/* From EMPTY to `value`; not 0: it was NOTIFIED. */
static int is_notified_or(uint32_t *word, uint32_t value)
{
    uint32_t empty = EMPTY;
    return !__atomic_compare_exchange_n(word, &empty, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

int caudal_wait_as_parker(uint32_t *word, const struct caudal_until *until)
{
    /* A migratable request may come back on another thread; the word stays the one that it has. */
    struct threads_words *its = &words;
    uint32_t tokens = __atomic_load_n(&its->tokens, __ATOMIC_RELAXED);
    uint32_t round;
    for (round = 0; !is_notified_or_empty(word); round++) {
        if (round == ROUNDS_MAX || tokens != __atomic_load_n(&its->tokens, __ATOMIC_RELAXED)) {
            is_notified_or(word, NOTIFIED);
            return 0;
        }
        if (until != NULL && caudal_probe_is_over(until)) {
            errno = ETIMEDOUT;
            return -1;
        }
        if (!caudal_probe_wait(round)) {
            /* As a thread again, for which the kernel looks for PARKED. */
            return !is_notified_or(word, PARKED);
        }
    }
    __atomic_fetch_add(&its->tokens, 1, __ATOMIC_RELAXED);
    return 0;
}

/* --- thread-locals -------------------------------------------------------------------------------------------------- */

static void say_and_abort(void)
{
    static const char text[] =
        "caudal: two requests of a worker wait on one thread-local. A library may take them for one thread, and its memory be corrupt by now. "
        "parking_lot: use version 0.12 (parking_lot_core 0.9). rayon: call it from a thread of its own, not from a handler. A lock in a "
        "thread-local: put it into a static or an Arc. See docs/guides/locks-and-preemption.md\n";
    /* There is nobody to tell that even this failed. */
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
    abort();
}

void caudal_local_wait_begins(struct caudal_local_wait *wait, const uint32_t *word)
{
    struct caudal_local_wait *other;
    wait->word = NULL;
    if ((uintptr_t)word < words.locals_begin || (uintptr_t)word >= words.locals_end) {
        return;
    }
    for (other = words.waits; other != NULL; other = other->next) {
        if (other->word == word) {
            say_and_abort();
        }
    }
    wait->word = word;
    wait->next = words.waits;
    wait->link = &words.waits;
    if (wait->next != NULL) {
        wait->next->link = &wait->next;
    }
    words.waits = wait;
}

void caudal_local_wait_ends(const struct caudal_local_wait *wait)
{
    if (wait->word == NULL) {
        return;
    }
    *wait->link = wait->next;
    if (wait->next != NULL) {
        wait->next->link = wait->link;
    }
}
