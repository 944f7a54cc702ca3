/*
 * Budget mode's visit is written twice: in C, for every case, and in assembly, for the frequent ones. From random states both
 * leave the same behind, and yield or do not; and both read the clock again where it may have been read ahead. Linked with --wrap=caudal_probe_decide_budget, which counts what goes on to C.
 */
#include "../../csrc/state.h"
#include "check.h"

#include <string.h>

#define CASES 400000

/* What a visit may change but the record of yields, which is not looked at. */
struct memory {
    struct caudal_probe block;
    struct caudal_state state;
    struct caudal_flag flag;
};

uint64_t __real_caudal_probe_decide_budget(uint64_t stack);
uint64_t __wrap_caudal_probe_decide_budget(uint64_t stack);

static struct memory yielded;
static uint64_t hook_now, went_on_to_c, yields, declined, armed_anew;

uint64_t __wrap_caudal_probe_decide_budget(uint64_t stack)
{
    went_on_to_c++;
    return __real_caudal_probe_decide_budget(stack);
}

static void save(struct memory *to)
{
    __asm__ __volatile__("" ::: "memory");
    to->block = caudal_probe_v1;
    to->state = caudal_probe_state;
    to->flag = caudal_flag_v1;
}

static void restore(const struct memory *from)
{
    caudal_probe_v1 = from->block;
    caudal_probe_state = from->state;
    caudal_flag_v1 = from->flag;
    __asm__ __volatile__("" ::: "memory");
}

static void hook(uint64_t now)
{
    hook_now = now;
    save(&yielded);
}

/* splitmix64 */
static uint64_t next(void)
{
    static uint64_t seed = 2024;
    uint64_t z = seed += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static int one_in(uint64_t n)
{
    return next() % n == 0;
}

/* Of any magnitude up to 2^bits. */
static uint64_t any(unsigned bits)
{
    uint64_t value = next() >> (64 - bits);
    return value >> next() % bits;
}

/* `share`: one in so many states has each of the things that are rare; 0: none has. */
static void invent(uint64_t share)
{
    struct caudal_probe *block = &caudal_probe_v1;
    struct caudal_state *state = &caudal_probe_state;
    uint64_t rare = share ? share : UINT64_MAX, now = caudal_probe_rdtsc(), passed = 4000 + next() % 10000;
    block->quantum = one_in(rare) ? one_in(2) ? UINT64_MAX : any(64) | 1 : 1000 + next() % 1000000;
    block->ratio = (uint32_t)(one_in(rare) ? any(32) : 30000 + next() % 200000) | 1;
    uint64_t ahead = next() % block->quantum, half = one_in(2) ? block->quantum / 2 : 0;
    block->deadline = one_in(rare) ? next() : now + ahead - half;
    block->depth = one_in(rare);
    block->pending = block->depth && one_in(2);
    state->armed_at_tsc = one_in(rare) ? any(64) : now - passed;
    state->deviation = (uint32_t)(one_in(2) ? block->ratio / (1 + next() % 16) : any(32));
    /* What passes in time makes it more. */
    uint64_t units = (block->ratio * passed >> 16) * (1 + next() % 64) / 16;
    block->budget = one_in(rare) ? (int64_t)next() : -(int64_t)any(8) - 1;
    state->armed_units = one_in(rare) ? (int64_t)next() : (int64_t)units + block->budget;
    state->slowest = (uint32_t)(one_in(rare) ? any(26) : any(18));
    caudal_flag_v1.asked = one_in(rare);
    caudal_probe_every_v1 = one_in(rare);
    block->stack_low = one_in(2) ? 0 : (uintptr_t)&state + 1000000;
    block->stack_high = one_in(2) ? UINT64_MAX : 0;
}

static void compare(const struct memory *c, const struct memory *assembly)
{
    CHECK_EQUAL(c->block.deadline, assembly->block.deadline);
    CHECK_EQUAL(c->block.budget, assembly->block.budget);
    CHECK_EQUAL(c->block.ratio, assembly->block.ratio);
    CHECK_EQUAL(c->state.armed_at_tsc, assembly->state.armed_at_tsc);
    CHECK_EQUAL(c->state.armed_units, assembly->state.armed_units);
    CHECK_EQUAL(c->state.deviation, assembly->state.deviation);
    CHECK_EQUAL(c->state.slowest, assembly->state.slowest);
    CHECK(memcmp(&c->block, &assembly->block, sizeof c->block) == 0);
    CHECK(memcmp(&c->state, &assembly->state, sizeof c->state) == 0);
    CHECK(memcmp(&c->flag, &assembly->flag, sizeof c->flag) == 0);
}

static void visit(int carried)
{
    if (!carried) {
        caudal_probe_cold_budget_v1();
        return;
    }
    register int64_t left __asm__("r11") = caudal_probe_v1.budget;
    caudal_probe_v1.budget = 4711; /* what is left is in the register */
    __asm__ __volatile__("call caudal_probe_cold_carried_v1" : "+r"(left) : : "memory", "cc");
    int64_t back = left;
    CHECK_EQUAL(back, caudal_probe_v1.budget);
}

/* One visit by each, at the same time of the clock: the one at which assembly armed or yielded. */
static void once(int carried)
{
    struct memory before, after;
    save(&before);
    hook_now = 0;
    visit(carried);
    save(&after);
    if (hook_now) {
        after = yielded;
    } else if (after.state.armed_at_tsc == before.state.armed_at_tsc) {
        return; /* a section, or never due: no time is known */
    }
    uint64_t now = hook_now ? hook_now : after.state.armed_at_tsc;
    uint64_t stack = (uintptr_t)&before;
    struct memory c;
    restore(&before);
    CHECK_EQUAL(caudal_probe_decide_budget_at(now, stack), hook_now);
    save(&c);
    compare(&c, &after);
    yields += hook_now != 0;
    declined += !hook_now && after.block.deadline == before.block.deadline;
    armed_anew += !hook_now && after.block.deadline != before.block.deadline;
}

/* --- the clock, where memory is waited for ------------------------------------------------------------------------ */

#define LINKS 16
#define TIMES 200

static void *chain[LINKS][512]; /* each link in a page of its own */

static uint64_t rdtsc_behind(void)
{
    __asm__ __volatile__("mfence\n\tlfence" ::: "memory");
    return caudal_probe_rdtsc();
}

/* No cache has the links any more. Returns the time. */
static uint64_t forget_chain(void)
{
    for (int i = 0; i < LINKS; i++) {
        chain[i][0] = chain[(i + 1) % LINKS];
        __asm__ __volatile__("clflush %0" : "+m"(chain[i][0]));
    }
    return rdtsc_behind();
}

/* Loads that wait for each other. Nothing waits for the last but who asks for it. */
static void *walk_chain(void)
{
    void **at = chain[0];
    for (int i = 0; i < LINKS; i++) {
        at = *at;
    }
    return at;
}

static void visit_by_c(int unused)
{
    (void)unused;
    CHECK_EQUAL(__real_caudal_probe_decide_budget((uintptr_t)&unused), 0);
}

/*
 * Where a program seems to have become eight times as fast, the time that counts is behind what it waits for: later than half of the
 * same walk. Walks differ, and the system may take any of them as long as it likes, so it is most of them that have to show it; a
 * reading in front of the loads shows it in none.
 */
static void reads_the_clock_again(void (*visit_by)(int), int how)
{
    int behind = 0;
    for (int i = 0; i < TIMES; i++) {
        uint64_t began = forget_chain();
        caudal_probe_arm_v1(began - 4000, 1 << 30);
        caudal_probe_v1.ratio = 1 << 16;
        caudal_probe_v1.budget = -1;
        caudal_probe_state.armed_units = 8 * 4000;
        caudal_probe_state.armed_at_tsc = began - 4000;
        void *last = walk_chain();
        visit_by(how);
        uint64_t walked = rdtsc_behind() - began;
        __asm__ __volatile__("" : : "r"(last));
        behind += caudal_probe_state.armed_at_tsc - began > walked / 2;
    }
    CHECK(behind > TIMES / 2);
}

int main(void)
{
    caudal_probe_hook_v1 = hook;
    reads_the_clock_again(visit, 0);
    reads_the_clock_again(visit, 1);
    reads_the_clock_again(visit_by_c, 0);
    for (int i = 0; i < CASES; i++) {
        invent(0);
        once(i & 1);
    }
    CHECK_EQUAL(went_on_to_c, 0);
    CHECK(yields > CASES / 10 && declined > CASES / 10 && armed_anew > CASES / 10);
    for (int i = 0; i < CASES; i++) {
        invent(8);
        once(i & 1);
    }
    CHECK(went_on_to_c > CASES / 4);
    caudal_probe_disarm_v1();
    return 0;
}
