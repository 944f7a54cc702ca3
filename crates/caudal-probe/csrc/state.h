/*
 * State that the files of this library share, and that nobody else may use. Used by all files here.
 *
 * What the library's files share and nobody else may use. Built with -mgeneral-regs-only: no function of the library
 * touches a vector or x87 register, so the thunks save those only around the hook.
 */
#ifndef CAUDAL_PROBE_STATE_H
#define CAUDAL_PROBE_STATE_H

#include "caudal/probe.h"

/* Offsets in caudal_probe_state, for assembly. */
#define CAUDAL_STATE_READ_AT 0
#define CAUDAL_STATE_GIVEN 8
#define CAUDAL_STATE_PACE 12
#define CAUDAL_STATE_ARMED_AT 16
#define CAUDAL_STATE_ARMED_UNITS 24
#define CAUDAL_STATE_DUE 40
#define CAUDAL_STATE_COLD_VISITS 56
#define CAUDAL_STATE_DEVIATION 64
#define CAUDAL_STATE_SLOWEST 68

/* Clock mode, in cycles: how far apart readings are meant to be at least (close to the deadline) and at most. */
#define CAUDAL_CLOCK_CLOSEST 512
#define CAUDAL_CLOCK_FARTHEST 2560
/* The pace is in cost units per so many cycles: a power of two. */
#define CAUDAL_CLOCK_PACE_SHIFT 8

/*
 * Budget mode (decide.c). A yield that would come due within NEAR / 256 of the quantum happens at once: another visit costs more
 * than it mends. With a ratio that deviates by less than 1 / STEADY, that is so within NEAR_STEADY / 256.
 */
#define CAUDAL_BUDGET_NEAR 42
#define CAUDAL_BUDGET_NEAR_STEADY 51
#define CAUDAL_BUDGET_NEAR_BITS 8
#define CAUDAL_BUDGET_STEADY 5
/* A new deviation counts 1 / 2^WEIGHT_BITS. */
#define CAUDAL_BUDGET_WEIGHT_BITS 2
/* A lowest ratio below 1 / 2^FAR_BITS of the present one counts; what is armed then is at least 1 / 2^LEAST_BITS of a quantum's
 * units. */
#define CAUDAL_BUDGET_FAR_BITS 2
#define CAUDAL_BUDGET_LEAST_BITS 4
/* Each visit, the lowest ratio rises by 1 / 2^MEMORY_BITS of what is between it and the visit's: it counts for some 250 visits.
 * It falls by 1 / 2^TRUST_BITS: a single stall of the machine is no slow program. */
#define CAUDAL_BUDGET_MEMORY_BITS 10
#define CAUDAL_BUDGET_TRUST_BITS 2
/* More units a cycle (16.16) than HIGHEST are never measured, nor 2^FARTHEST_BITS cycles armed for: the product has 64 bits. */
#define CAUDAL_BUDGET_HIGHEST (1 << 26)
#define CAUDAL_BUDGET_FARTHEST_BITS 37
/* Fewer cycles than this measure the probe, not the program; 2^LONGEST_BITS, or as many units, something else. */
#define CAUDAL_BUDGET_MEASURABLE 32
#define CAUDAL_BUDGET_LONGEST_BITS 47

#ifndef __ASSEMBLER__

/* This thread's state that probes do not look at. */
struct caudal_state {
    uint64_t read_at_tsc;      /* clock mode's last reading, */
    uint32_t given;            /* the credit that it gave, in cost units, */
    uint32_t pace;             /* and how many of them the program is taken to spend in 256 cycles, or fewer */
    uint64_t armed_at_tsc;     /* when the budget was armed, and with how much: budget mode's ratio is measured from it */
    int64_t armed_units;
    uint64_t deferred_tsc;     /* the deadline that a critical section put aside; valid while pending is not 0 */
    uint64_t due_tsc;          /* the deadline of the last yield */
    uint64_t entered_tsc;      /* when the outermost critical section was entered; 0: not measured */
    uint64_t cold_visits;
    uint32_t deviation;        /* mean distance of a measured ratio from the one before, cost units/cycle, 16.16 */
    uint32_t slowest;          /* the lowest ratio of late, cost units/cycle, 16.16 */
    uint64_t *record_buffer;   /* the recorder's; null: this thread does not record */
    size_t record_capacity;
    size_t record_count;
};

CAUDAL_PROBE_STATIC_ASSERT(offsetof(struct caudal_state, read_at_tsc) == CAUDAL_STATE_READ_AT, "read_at_tsc");
CAUDAL_PROBE_STATIC_ASSERT(offsetof(struct caudal_state, given) == CAUDAL_STATE_GIVEN, "given");
CAUDAL_PROBE_STATIC_ASSERT(offsetof(struct caudal_state, pace) == CAUDAL_STATE_PACE, "pace");
CAUDAL_PROBE_STATIC_ASSERT(offsetof(struct caudal_state, armed_at_tsc) == CAUDAL_STATE_ARMED_AT, "armed_at_tsc");
CAUDAL_PROBE_STATIC_ASSERT(offsetof(struct caudal_state, armed_units) == CAUDAL_STATE_ARMED_UNITS, "armed_units");
CAUDAL_PROBE_STATIC_ASSERT(offsetof(struct caudal_state, due_tsc) == CAUDAL_STATE_DUE, "due_tsc");
CAUDAL_PROBE_STATIC_ASSERT(offsetof(struct caudal_state, cold_visits) == CAUDAL_STATE_COLD_VISITS, "cold_visits");
CAUDAL_PROBE_STATIC_ASSERT(offsetof(struct caudal_state, deviation) == CAUDAL_STATE_DEVIATION, "deviation");
CAUDAL_PROBE_STATIC_ASSERT(offsetof(struct caudal_state, slowest) == CAUDAL_STATE_SLOWEST, "slowest");

extern __thread struct caudal_state caudal_probe_state __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Decisions, one for each cold entry: 0, or the TSC value at which a yield was decided on. `stack`: the caller's stack
 * pointer. Called from assembly too. */
__attribute__((visibility("hidden"))) uint64_t caudal_probe_decide_clock(uint64_t stack);
__attribute__((visibility("hidden"))) uint64_t caudal_probe_decide_budget(uint64_t stack);
__attribute__((visibility("hidden"))) uint64_t caudal_probe_decide_budget_at(uint64_t now, uint64_t stack);
__attribute__((visibility("hidden"))) uint64_t caudal_probe_decide_flag(uint64_t stack);
__attribute__((visibility("hidden"))) uint64_t caudal_probe_decide_exit(uint64_t stack);

/* Calls the hook; keeps errno and the rounding modes. */
__attribute__((visibility("hidden"))) void caudal_probe_yield(uint64_t now_tsc);

/* A yield came due in a section that is left without it: the next probe of any mode is due. */
__attribute__((visibility("hidden"))) void caudal_probe_due_again(void);

/* The initial hook. */
__attribute__((visibility("hidden"))) void caudal_probe_record(uint64_t now_tsc);

#endif
#endif
