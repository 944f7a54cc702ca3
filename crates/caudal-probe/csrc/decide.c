/*
 * Decides whether a probe that is due yields, and when it is due again. Called by the cold entries: probe.S, budget.S, yield.c.
 *
 * The decisions of the cold path.
 *
 * Budget mode: a quantum is armed with the units that its first half takes. The visit there measures how many units a
 * cycle of this program has, and arms the rest with that; the next visit is about at the deadline. So a quantum has two
 * visits when its halves are alike, and a program up to twice as slow as before is still seen in time. The ratio
 * follows what is measured by half of the difference, but upwards by at most half its value (one burst of units is no rate), and
 * downwards at once to less than half (too low means early, cheap visits; too high a late yield). A stall of the processor
 * looks like a slow program: it costs a few early visits afterwards.
 *
 * A visit is more than its instructions, by far: a probe's jump that is taken leaves its mark in the history by which the
 * processor predicts the program's branches. So the visit halfway is left out where the ratio has been steady, by its mean
 * deviation, which is kept beside it, and a visit that comes a little early yields. And the code path of a visit of budget mode, here
 * and in budget.S, has next to no jumps: with 25 conditional ones, an interpreter took up to half as long again, for what the processor had
 * forgotten of its own.
 *
 * A program whose pace falls to a fraction within microseconds (from arithmetic to misses of the cache) spends what was armed
 * for the faster pace so slowly that the quantum would end many quanta late. So the lowest ratio of late is remembered, and
 * where it is far below the present one no more is armed than a quantum's units at the lowest ratio, and a bit.
 *
 * Probes depend on nothing that the program waits for: while it waits for memory, processors execute those of a whole reorder
 * buffer, and the visit's reading of the clock, long before the loads between them have ended. What was spent so seems to have
 * taken a tenth of its time, and what is armed by that ends as much too late. So where the program seems to be more than twice
 * as fast as it was, the clock is read again when all in front of it has ended: in few visits, for there it costs what else
 * would go on meanwhile.
 */
#include "signals.h"

#define FARTHEST (((uint64_t)1 << CAUDAL_BUDGET_FARTHEST_BITS) - 1)

__thread struct caudal_probe caudal_probe_v1 __attribute__((tls_model("initial-exec"))) = {
    UINT64_MAX, CAUDAL_PROBE_NEVER_SPENT, 0, 0, 0, 0, UINT64_MAX, 1u << 16, 0, 0,
};
__thread struct caudal_flag caudal_flag_v1 __attribute__((tls_model("initial-exec")));
/* Nothing is known of a thread's pace yet: as unsteady as can be, and never slow. */
__thread struct caudal_state caudal_probe_state __attribute__((tls_model("initial-exec"))) = {
    .pace = 1u << CAUDAL_CLOCK_PACE_SHIFT, .deviation = 1u << 16, .slowest = 1u << 20};

void (*caudal_probe_hook_v1)(uint64_t now) = caudal_probe_record;
void (*caudal_probe_critical_hook_v1)(uint64_t cycles);
uint8_t caudal_probe_every_v1;

static void set_flag(uint8_t value)
{
    __atomic_store_n(&caudal_flag_v1.asked, value, __ATOMIC_RELAXED);
}

/* Compilers make jumps of what they recognise. */
static inline uint64_t unrecognised(uint64_t value)
{
    __asm__("" : "+r"(value));
    return value;
}

/* One of two, without a jump: by whether a is below b, or by the sign of a value. */
static inline uint64_t if_below(uint64_t a, uint64_t b, uint64_t yes, uint64_t no)
{
    __asm__("cmpq %2, %1\n\tcmovbq %3, %0" : "+r"(no) : "r"(a), "r"(b), "r"(yes) : "cc");
    return no;
}

static inline uint64_t if_negative(uint64_t value, uint64_t yes, uint64_t no)
{
    __asm__("testq %1, %1\n\tcmovsq %2, %0" : "+r"(no) : "r"(value), "r"(yes) : "cc");
    return no;
}

/* Without a jump to a shorter division. */
static inline uint64_t divide(uint64_t dividend, uint64_t divisor)
{
    uint64_t rest = 0;
    __asm__("divq %2" : "+a"(dividend), "+d"(rest) : "r"(divisor) : "cc");
    return dividend;
}

static inline uint64_t lesser(uint64_t a, uint64_t b)
{
    __asm__("cmpq %1, %0\n\tcmovaq %1, %0" : "+r"(a) : "r"(b) : "cc");
    return a;
}

static inline uint64_t greater(uint64_t a, uint64_t b)
{
    __asm__("cmpq %1, %0\n\tcmovbq %1, %0" : "+r"(a) : "r"(b) : "cc");
    return a;
}

/* Units in so many cycles, at `ratio` units a cycle; in FARTHEST where there are more: a visit then arms the rest. */
static inline uint64_t units_in(uint64_t cycles, uint64_t ratio)
{
    return lesser(cycles, FARTHEST) * ratio >> 16;
}

/* Arms with what the program spends in so many cycles, at `ratio` units a cycle. */
static inline void set_budget(uint64_t now, uint64_t cycles, uint64_t ratio)
{
    struct caudal_probe *block = &caudal_probe_v1;
    struct caudal_state *state = &caudal_probe_state;
    uint64_t slowest = state->slowest, units = units_in(cycles, ratio);
    uint64_t most = units_in(block->quantum, slowest + (ratio >> CAUDAL_BUDGET_LEAST_BITS));
    int64_t budget = (int64_t)if_below(slowest << CAUDAL_BUDGET_FAR_BITS, ratio, lesser(most, units), units);
    block->budget = budget;
    state->armed_units = budget;
    state->armed_at_tsc = now;
}

static inline uint64_t if_steady(uint64_t yes, uint64_t no)
{
    return if_below((uint64_t)caudal_probe_state.deviation * CAUDAL_BUDGET_STEADY, caudal_probe_v1.ratio, yes, no);
}

/* Never due, by the clock or by the budget. The flag is another thread's to set. */
static void quiet(void)
{
    caudal_probe_v1.deadline = UINT64_MAX;
    caudal_probe_v1.budget = CAUDAL_PROBE_NEVER_SPENT;
    caudal_probe_state.armed_units = CAUDAL_PROBE_NEVER_SPENT;
}

/* Whatever it is and costs, provided that the deadline has been or is near: in clock mode it would read the clock only where its
 * credit is gone, and it may cost nothing. */
static void next_probe_is_due(void)
{
    /* Far below 0: instrumented loops may have been given extra units (pass/src/insert/DeferredChecks.h). */
    caudal_probe_v1.budget = INT64_MIN / 2;
    caudal_probe_v1.credit = INT32_MIN / 2;
    caudal_probe_state.armed_units = INT64_MAX;
    set_flag(1);
}

/* Clock mode's, until about the deadline, at the pace that readings have shown. What was left is taken back: readings would come
 * too early or too late for it, and the pace would follow that. */
static inline void give_credit(uint64_t now, uint64_t quantum)
{
    struct caudal_state *state = &caudal_probe_state;
    state->read_at_tsc = now;
    uint64_t cycles = lesser(greater(quantum, CAUDAL_CLOCK_CLOSEST), CAUDAL_CLOCK_FARTHEST);
    state->given = (uint32_t)(cycles * state->pace >> CAUDAL_CLOCK_PACE_SHIFT);
    caudal_probe_v1.credit = (int32_t)state->given;
}

/*
 * A visit of budget mode, which has no use for clock mode's credit, keeps it: that saves a tenth of the visit's instructions, and
 * probes of clock mode on the same thread compare with the new deadline when what they have is gone, which is at most some 2,560 cycles.
 */
enum credit { KEEP_CREDIT, GIVE_CREDIT };

/* `first`: for how many cycles the budget is armed. */
__attribute__((always_inline)) static inline void arm(uint64_t now, uint64_t quantum, uint64_t first, enum credit credit)
{
    struct caudal_probe *block = &caudal_probe_v1;
    block->quantum = quantum;
    block->pending = 0;
    if (credit == GIVE_CREDIT) {
        give_credit(now, quantum);
    }
    if (__atomic_load_n(&caudal_probe_every_v1, __ATOMIC_RELAXED)) {
        block->deadline = 0;
        next_probe_is_due();
        return;
    }
    if (quantum >= UINT64_MAX - now) {
        quiet();
        return;
    }
    block->deadline = now + quantum;
    set_budget(now, first, block->ratio);
}

/* Up to the deadline, or up to half the time where the pace is not steady. */
static inline uint64_t first_of(uint64_t quantum)
{
    return if_steady(quantum, quantum / 2);
}

void caudal_probe_arm_v1(uint64_t now, uint64_t quantum)
{
    arm(now, quantum, first_of(quantum), GIVE_CREDIT);
}

void caudal_probe_disarm_v1(void)
{
    quiet();
    caudal_probe_v1.quantum = UINT64_MAX;
    caudal_probe_v1.pending = 0;
    set_flag(0);
}

uint64_t caudal_probe_due_v1(void)
{
    return caudal_probe_state.due_tsc;
}

uint64_t caudal_probe_cold_visits_v1(void)
{
    return caudal_probe_state.cold_visits;
}

/* A yield is due, in no critical section: drops it on a stack that is no coroutine's, or decides on it. */
__attribute__((always_inline)) static inline uint64_t due_outside(uint64_t now, uint64_t stack, uint64_t first, enum credit credit)
{
    struct caudal_probe *block = &caudal_probe_v1;
    if (unrecognised((stack < block->stack_low) | (stack >= block->stack_high))) {
        arm(now, block->quantum, first, credit);
        return 0;
    }
    caudal_probe_state.due_tsc = block->deadline;
    quiet();
    return now;
}

/* The same in a critical section, which defers it, unless that was a handler's which has been left without a return. A function of its
 * own, to end in: the call within it would have every visit save registers. */
__attribute__((noinline, cold)) static uint64_t due_within(uint64_t now, uint64_t stack, uint64_t first, enum credit credit)
{
    struct caudal_probe *block = &caudal_probe_v1;
    caudal_probe_found_in_section_at(stack);
    if (block->depth == 0) {
        return due_outside(now, stack, first, credit);
    }
    if (!block->pending) {
        caudal_probe_state.deferred_tsc = block->deadline;
    }
    if (caudal_probe_handlings.count != 0) {
        /* Perhaps one has been left, which shows later: the section would never end. */
        arm(now, block->quantum, first, credit);
    } else {
        quiet();
    }
    block->pending = 1;
    return 0;
}

/* A yield is due. */
__attribute__((always_inline)) static inline uint64_t due(uint64_t now, uint64_t stack, uint64_t first, enum credit credit)
{
    set_flag(0);
    if (caudal_probe_v1.depth > 0) {
        return due_within(now, stack, first, credit);
    }
    return due_outside(now, stack, first, credit);
}

/* The units that the program has spent since the budget was armed, and how long that took. */
struct spent {
    uint64_t cycles, units;
};

static inline struct spent spent_until(uint64_t now)
{
    const struct caudal_state *state = &caudal_probe_state;
    return (struct spent){now - state->armed_at_tsc, (uint64_t)state->armed_units - (uint64_t)caudal_probe_v1.budget};
}

/* Not so: nothing spent, nothing armed, a clock that is behind. All these are above 2^47. */
static inline int is_measurable(struct spent spent)
{
    return unrecognised(((spent.cycles - CAUDAL_BUDGET_MEASURABLE) | (spent.units - 1)) >> CAUDAL_BUDGET_LONGEST_BITS) == 0;
}

static inline uint64_t ratio_of(struct spent spent)
{
    return lesser(divide(spent.units << 16, spent.cycles), CAUDAL_BUDGET_HIGHEST);
}

/* Makes the ratio follow what was spent. */
static inline void follow(struct caudal_probe *block, uint64_t now)
{
    struct caudal_state *state = &caudal_probe_state;
    struct spent spent = spent_until(now);
    if (!is_measurable(spent)) {
        return;
    }
    uint64_t ratio = block->ratio, slowest = state->slowest, deviation = state->deviation;
    uint64_t measured = ratio_of(spent), surprise = measured - ratio, above = measured - slowest;
    /* Downwards by a part of the difference, for a stall of the processor looks like a slow program; upwards with time. */
    uint64_t down = (uint64_t)((int64_t)above >> CAUDAL_BUDGET_TRUST_BITS), up = (above >> CAUDAL_BUDGET_MEMORY_BITS) + 1;
    state->slowest = (uint32_t)(slowest + if_negative(above, down, up));
    int64_t more = (int64_t)(if_negative(surprise, -surprise, surprise) - deviation);
    state->deviation = (uint32_t)(deviation + (uint64_t)(more >> CAUDAL_BUDGET_WEIGHT_BITS));
    uint64_t followed = lesser((ratio + measured) / 2, ratio + ratio / 2 + 1);
    followed = if_below(measured, ratio / 2, measured, followed);
    block->ratio = (uint32_t)followed | 1; /* never 0 */
}

uint64_t caudal_probe_decide_clock(uint64_t stack)
{
    caudal_probe_state.cold_visits++;
    return due(caudal_probe_rdtsc(), stack, first_of(caudal_probe_v1.quantum), GIVE_CREDIT);
}

uint64_t caudal_probe_decide_flag(uint64_t stack)
{
    caudal_probe_state.cold_visits++;
    return due(caudal_probe_rdtsc(), stack, first_of(caudal_probe_v1.quantum), GIVE_CREDIT);
}

/* budget.S does the same in the frequent cases: who changes one changes the other. */
uint64_t caudal_probe_decide_budget_at(uint64_t now, uint64_t stack)
{
    struct caudal_probe *block = &caudal_probe_v1;
    uint64_t quantum = block->quantum;
    caudal_probe_state.cold_visits++;
    /* By what was known before: what follows from the division comes late, and so would the end of a wrongly predicted jump. */
    uint64_t first = first_of(quantum);
    uint64_t near = lesser(quantum, FARTHEST) * if_steady(CAUDAL_BUDGET_NEAR_STEADY, CAUDAL_BUDGET_NEAR) >> CAUDAL_BUDGET_NEAR_BITS;
    follow(block, now);
    uint64_t left = block->deadline - now;
    int is_asked = __atomic_load_n(&caudal_flag_v1.asked, __ATOMIC_RELAXED);
    if (unrecognised((now < block->deadline) & (left > near) & !is_asked)) {
        set_budget(now, left, block->ratio);
        return 0;
    }
    return due(now, stack, first, KEEP_CREDIT);
}

/* The clock, when all instructions in front have ended. */
static uint64_t rdtsc_behind(void)
{
    __asm__ __volatile__("lfence" ::: "memory");
    return caudal_probe_rdtsc();
}

/* Whether more than twice as many units were spent in a cycle as was known. */
static int seems_faster(uint64_t now)
{
    struct spent spent = spent_until(now);
    return is_measurable(spent) && ratio_of(spent) > 2 * (uint64_t)caudal_probe_v1.ratio;
}

uint64_t caudal_probe_decide_budget(uint64_t stack)
{
    uint64_t now = caudal_probe_rdtsc();
    return caudal_probe_decide_budget_at(seems_faster(now) ? rdtsc_behind() : now, stack);
}

void caudal_probe_due_again(void)
{
    struct caudal_probe *block = &caudal_probe_v1;
    block->pending = 0;
    block->deadline = caudal_probe_state.deferred_tsc;
    next_probe_is_due();
}

uint64_t caudal_probe_decide_exit(uint64_t stack)
{
    struct caudal_probe *block = &caudal_probe_v1;
    caudal_probe_state.cold_visits++;
    block->pending = 0;
    block->deadline = caudal_probe_state.deferred_tsc;
    return due(caudal_probe_rdtsc(), stack, first_of(caudal_probe_v1.quantum), GIVE_CREDIT);
}
