/*
 * Futex words that belong to a thread (threads.c). Used by syscall.c.
 *
 * Futex words that belong to a thread, and not to a lock: several requests of the thread may wait on one at once, which code for
 * threads takes for impossible.
 */
#ifndef CAUDAL_PROBE_THREADS_H
#define CAUDAL_PROBE_THREADS_H

#include "wait.h"

/* A wait on a word among this thread's thread-locals; on the waiter's stack, in a list of the thread's. */
struct caudal_local_wait {
    const uint32_t *word; /* null: it is no such word, and the wait in no list */
    struct caudal_local_wait *next;
    struct caudal_local_wait **link;
};

/* A futex wait of this thread: notes it, where the runtime is learning. */
__attribute__((visibility("hidden"))) void caudal_note_futex(const uint32_t *word);

/* Around each futex wait of this thread. Ends the process where another request is waiting on the same thread-local. */
__attribute__((visibility("hidden"))) void caudal_local_wait_begins(struct caudal_local_wait *wait, const uint32_t *word);
__attribute__((visibility("hidden"))) void caudal_local_wait_ends(const struct caudal_local_wait *wait);

/* Is it the word of this thread's std::thread::park? */
__attribute__((visibility("hidden"))) int caudal_is_parker(const uint32_t *word);
/* A request parks on it. What syscall() is to answer; 1: the kernel is to. */
__attribute__((visibility("hidden"))) int caudal_wait_as_parker(uint32_t *word, const struct caudal_until *until);

#endif
