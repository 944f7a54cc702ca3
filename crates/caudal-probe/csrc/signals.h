/*
 * The state of a thread's signal handlers: signals.c says how it is used, handlers.S is the code between the kernel and a handler.
 * Used by signals.c, jumps.c, critical.c, decide.c, others.c, wait.c and handlers.S.
 */
#ifndef CAUDAL_PROBE_SIGNALS_H
#define CAUDAL_PROBE_SIGNALS_H

/* Entries in handlers.S: one for each of the first HANDLERS functions that the program registers, and one for each signal, for those
 * that come later. */
#define CAUDAL_SIGNALS 65
#define CAUDAL_HANDLERS 128
#define CAUDAL_ENTRIES (CAUDAL_HANDLERS + CAUDAL_SIGNALS)
#define CAUDAL_ENTRY_SIZE 16

#ifndef __ASSEMBLER__

#include "wait.h"

#include <signal.h>

/* A handler that this thread runs, or has left without returning. */
struct caudal_handling {
    uintptr_t frame;               /* where its return address lies; the signal's frame is above */
    const uint64_t *left_in_frame; /* a word of that, which stays as it is while the handler may return; null: there is no such frame */
    uint64_t left;                 /* what it is */
    uint64_t request;              /* the interrupted request: the top of its stack */
    uintptr_t alternate;
    size_t alternate_size; /* the thread's alternate stack at that time */
    uint32_t depth;        /* the interrupted code's */
    uint32_t found;        /* the depth without it and those within, as soon as it has been found to be left */
    uint32_t is_noted;     /* 0: this is none, or not yet, or no longer */
};

#define CAUDAL_NOT_FOUND UINT32_MAX

/* Handlers in handlers, the outermost first. Those further in than NOTED are not noted. Behind the count none is_noted. */
#define CAUDAL_NOTED 4
struct caudal_handlings {
    uint32_t count;
    struct caudal_handling of[CAUDAL_NOTED];
};

extern __thread struct caudal_handlings caudal_probe_handlings __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* For code that is about to jump to `stack` (jumps.c). Finds which handlers the jump leaves, and puts the depth back to what it was before the
 * outermost of them. */
__attribute__((visibility("hidden"))) void caudal_probe_jumps_to(uintptr_t stack);

/* For code that runs at `stack`, some time after a jump that nobody announced. Finds which handlers the thread has left, and ends their sections;
 * those that it has entered since stay. */
__attribute__((visibility("hidden"))) void caudal_probe_end_left_handlers(uintptr_t stack);

/* The same, for whoever has found that the thread is in a section and can not yield: that may be a handler's which it has left. */
static inline void caudal_probe_found_in_section_at(uintptr_t stack)
{
    if (__builtin_expect(caudal_probe_handlings.count != 0, 0)) {
        caudal_probe_end_left_handlers(stack);
    }
}

static inline void caudal_probe_found_in_section(void)
{
    caudal_probe_found_in_section_at((uintptr_t)__builtin_frame_address(0));
}

typedef void caudal_handler(int);

/* The function that stands for sigaction in code with probes, and the one that it comes to. */
int caudal_around_sigaction_v1(int signal, const struct sigaction *action, struct sigaction *before);
int caudal_plain_sigaction_v1(int signal, const struct sigaction *action, struct sigaction *before);

#endif
#endif
