/*
 * All registers survive a yield at the cold entries, whatever the hook does to them, on a stack of any alignment; so
 * do errno and the red zone. Each way of keeping vector registers that this processor can run is tried: which one the
 * library takes is its private variable.
 */
#include "across.h"
#include "caudal/probe.h"
#include "check.h"

#include <errno.h>
#include <execinfo.h>
#include <string.h>

#define NEVER UINT64_MAX

/* private: csrc/vector.h */
extern uint32_t caudal_probe_vector;

/* Offsets in fxsave's area. */
#define CONTROL 0
#define STATUS 2
#define TAGS 4
#define MXCSR 24
#define REGISTERS 32

static int kind;
static uint64_t yields, hook_mxcsr, hook_x87, hook_tags;

static void hook(uint64_t now)
{
    uint32_t mxcsr;
    uint16_t x87;
    uint8_t legacy[512] __attribute__((aligned(16)));
    __asm__ __volatile__("fxsave64 %0" : "=m"(legacy));
    hook_tags = legacy[TAGS];
    __asm__ __volatile__("stmxcsr %0" : "=m"(mxcsr));
    __asm__ __volatile__("fnstcw %0" : "=m"(x87));
    hook_mxcsr = mxcsr & ~0x3fu;
    hook_x87 = x87;
    CHECK(now > 0);
    yields++;
    errno = 99;
    caudal_probe_arm_v1(now, NEVER);
    trash(kind);
}

static void arm_finitely(uint64_t now)
{
    hook(now);
    caudal_probe_arm_v1(now, 1000000);
}

static void put16(struct image *image, int offset, unsigned value)
{
    image->legacy[offset] = value & 0xff;
    image->legacy[offset + 1] = value >> 8 & 0xff;
}

struct x87 {
    unsigned control, status, tags, mxcsr;
};

/* The status word's top is its bits 11 to 13. */
static const struct x87 states[] = {
    {0x037f, 0x0000, 0x00, 0x1f80}, /* as a thread starts */
    {0x0f7f, 0x0000, 0x00, 0x7fa0}, /* rounding to zero in both, an SSE exception seen */
    {0x037f, 0x0021, 0x00, 0x9fc0}, /* x87 exceptions seen, nothing in its registers; flush to zero */
    {0x037f, 0x2821, 0xe0, 0x1f80}, /* three values, top 5 */
    {0x027f, 0x0000, 0xff, 0x1f80}, /* all eight */
    {0x037f, 0x0000, 0xff, 0x1f80}, /* MMX looks so as well */
    {0x037f, 0x2800, 0x00, 0x1f80}, /* empty, but the top is not at 0 */
};

/* Vector registers: how many bytes of each are other than 0, from the lowest on; all but one, which is wide. */
struct vectors {
    size_t bytes;
    int wide; /* none: -1 */
};
static const struct vectors widths_in_use[] = {{64, -1}, {16, -1}, {16, 15}, {32, -1}};

static void fill(struct image *image, const struct x87 *state, const struct vectors *vectors)
{
    uint64_t random = 88172645463325252u;
    for (size_t i = 0; i < sizeof *image; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        ((uint8_t *)image)[i] = (uint8_t)(random >> 32);
    }
    for (int i = 0; i < 32; i++) {
        if (i != vectors->wide) {
            memset((uint8_t *)image->vectors[i] + vectors->bytes, 0, 64 - vectors->bytes);
        }
    }
    memset(image->legacy, 0, REGISTERS);
    put16(image, CONTROL, state->control);
    put16(image, STATUS, state->status);
    image->legacy[TAGS] = (uint8_t)state->tags;
    put16(image, MXCSR, state->mxcsr);
    for (int i = 0; i < 8; i++) {
        uint8_t *value = image->legacy + REGISTERS + 16 * i;
        memset(value + 10, 0, 6);
        value[7] |= 0x80; /* a normal number */
        value[9] = 0x3f;
    }
    image->general[7] = 0;
    image->general[11] = UINT64_MAX; /* what a carried budget may be */
}

/* Status without the condition codes, which fxam changes as it does the flags. */
static unsigned visible_status(const struct image *image)
{
    return (image->legacy[STATUS] | image->legacy[STATUS + 1] << 8) & 0x38ff;
}

static void compare(const struct image *in, const struct image *out)
{
    static const size_t widths[] = {0, 16, 32, 64};
    for (int i = 0; i < 16; i++) {
        if (i != 11) {
            CHECK_EQUAL(out->general[i], in->general[i]);
        }
    }
    for (int i = 0; i < (kind == 3 ? 32 : 16); i++) {
        CHECK(memcmp(out->vectors[i], in->vectors[i], widths[kind]) == 0);
    }
    if (kind == 3) {
        CHECK(memcmp(out->masks, in->masks, sizeof in->masks) == 0);
    }
    CHECK(memcmp(out->legacy + CONTROL, in->legacy + CONTROL, 2) == 0);
    CHECK_EQUAL(visible_status(out), visible_status(in));
    CHECK_EQUAL(out->legacy[TAGS], in->legacy[TAGS]);
    CHECK(memcmp(out->legacy + MXCSR, in->legacy + MXCSR, 4) == 0);
    unsigned top = visible_status(in) >> 11;
    for (unsigned i = 0; i < 8; i++) {
        if (in->legacy[TAGS] >> ((top + i) & 7) & 1) {
            CHECK(memcmp(out->legacy + REGISTERS + 16 * i, in->legacy + REGISTERS + 16 * i, 10) == 0);
        }
    }
    CHECK(memcmp(out->red_zone, in->red_zone, sizeof in->red_zone) == 0);
}

static void make_due(void)
{
    caudal_probe_v1.deadline = 1;
    caudal_probe_v1.budget = -1;
    __asm__ __volatile__("" ::: "memory");
}

/* Entries to which what is left of the budget comes in the register of that number of `struct image`, and from which it goes back. */
#define CARRIED(NUMBER, REGISTER) {caudal_probe_cold_carried_v1_##REGISTER, NUMBER}
static const struct { void (*entry)(void); int number; } carried_in[] = {
    CARRIED(0, rax), CARRIED(1, rbx), CARRIED(2, rcx), CARRIED(3, rdx), CARRIED(4, rsi), CARRIED(5, rdi), CARRIED(6, rbp),
    CARRIED(8, r8), CARRIED(9, r9), CARRIED(10, r10), CARRIED(11, r11), CARRIED(12, r12), CARRIED(13, r13),
    CARRIED(14, r14), CARRIED(15, r15)};
enum { CARRIERS = sizeof carried_in / sizeof carried_in[0] };

static void survive(void (*entry)(void), const struct x87 *state, const struct vectors *vectors, uint64_t misaligned)
{
    static struct image in, out;
    CHECK_EQUAL(sizeof(struct image), IMAGE_SIZE);
    fill(&in, state, vectors);
    make_due();
    caudal_flag_v1.asked = entry == caudal_probe_look_v1;
    if (entry == caudal_probe_spend_carried_127_v1) {
        in.general[11] = 126; /* one too few */
    }
    if (entry == caudal_probe_cold_exit_v1) {
        caudal_critical_enter_inline();
        caudal_probe_cold_clock_v1();
        CHECK_EQUAL(caudal_probe_v1.pending, 1);
        caudal_probe_v1.depth = 0;
    }
    uint64_t before = yields;
    errno = 4711;
    call_across(entry, &in, &out, misaligned, kind);
    CHECK_EQUAL(errno, 4711);
    CHECK_EQUAL(yields, before + 1);
    if (entry == caudal_probe_cold_carried_v1 || entry == caudal_probe_spend_carried_127_v1) {
        CHECK_EQUAL(out.general[11], (uint64_t)caudal_probe_v1.budget);
    }
    CHECK_EQUAL(hook_mxcsr, 0x1f80);
    CHECK_EQUAL(hook_x87, 0x37f);
    CHECK_EQUAL(hook_tags, 0);
    compare(&in, &out);
    /* Declined, nothing changes either. */
    make_due();
    caudal_probe_v1.depth = 1;
    call_across(caudal_probe_cold_budget_v1, &in, &out, misaligned, kind);
    caudal_probe_v1.depth = 0;
    CHECK_EQUAL(yields, before + 1);
    compare(&in, &out);
    caudal_probe_disarm_v1();
}

/* The entries for source code keep errno and the rounding modes. */
static void source_level_entries_keep_modes(void)
{
    static void (*const entries[])(void) = {caudal_probe_call_clock_v1, caudal_probe_call_budget_v1,
                                            caudal_probe_call_flag_v1};
    for (int i = 0; i < 3; i++) {
        uint32_t mxcsr = 0x5f80, mxcsr_after, start = 0x1f80;
        uint16_t x87 = 0x0b7f, x87_after;
        make_due();
        errno = 4711;
        __asm__ __volatile__("ldmxcsr %0\n\tfldcw %1" : : "m"(mxcsr), "m"(x87));
        entries[i]();
        __asm__ __volatile__("stmxcsr %0\n\tfnstcw %1\n\tldmxcsr %2\n\tfninit" : "=m"(mxcsr_after), "=m"(x87_after) : "m"(start));
        CHECK_EQUAL(mxcsr_after, mxcsr);
        CHECK_EQUAL(x87_after, x87);
        CHECK_EQUAL(hook_mxcsr, 0x1f80);
        CHECK_EQUAL(hook_x87, 0x37f);
        CHECK_EQUAL(errno, 4711);
    }
}

/* Called probes that are not due spend, and change nothing else. */
static void called_probes_spend(void)
{
    static struct image in, out;
    static void (*const memory[])(void) = {
        caudal_probe_spend_1_v1,  caudal_probe_spend_2_v1,  caudal_probe_spend_4_v1,  caudal_probe_spend_8_v1,
        caudal_probe_spend_12_v1, caudal_probe_spend_16_v1, caudal_probe_spend_24_v1, caudal_probe_spend_32_v1,
        caudal_probe_spend_48_v1, caudal_probe_spend_64_v1, caudal_probe_spend_96_v1, caudal_probe_spend_127_v1};
    static void (*const carried[])(void) = {
        caudal_probe_spend_carried_1_v1,  caudal_probe_spend_carried_2_v1,  caudal_probe_spend_carried_4_v1,
        caudal_probe_spend_carried_8_v1,  caudal_probe_spend_carried_12_v1, caudal_probe_spend_carried_16_v1,
        caudal_probe_spend_carried_24_v1, caudal_probe_spend_carried_32_v1, caudal_probe_spend_carried_48_v1,
        caudal_probe_spend_carried_64_v1, caudal_probe_spend_carried_96_v1, caudal_probe_spend_carried_127_v1};
    static const int units[] = {1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 127};
    uint64_t before = yields;
    fill(&in, &states[0], &widths_in_use[0]);
    for (int i = 0; i < 12; i++) {
        caudal_probe_v1.budget = units[i];
        call_across(memory[i], &in, &out, 0, kind);
        CHECK_EQUAL(caudal_probe_v1.budget, 0);
        compare(&in, &out);
        in.general[11] = (uint64_t)units[i];
        call_across(carried[i], &in, &out, 0, kind);
        CHECK_EQUAL(out.general[11], 0);
        compare(&in, &out);
    }
    caudal_flag_v1.asked = 0;
    call_across(caudal_probe_look_v1, &in, &out, 0, kind);
    compare(&in, &out);
    CHECK_EQUAL(yields, before);
    caudal_probe_disarm_v1();
}

/* While no deadline has come, credit is given and nothing else changes; when it has, some is there behind the yield. */
static void credit_is_given(void)
{
    static struct image in, out;
    fill(&in, &states[0], &widths_in_use[0]);
    uint64_t before = yields, visits = caudal_probe_cold_visits_v1();
    static const uint64_t quanta[] = {NEVER, UINT64_MAX / 4, UINT32_MAX * (uint64_t)1000};
    for (int i = 0; i < 3; i++) {
        caudal_probe_arm_v1(caudal_probe_rdtsc(), quanta[i]);
        for (int readings = 0; readings < 100; readings++) {
            caudal_probe_v1.credit = -1;
            call_across(caudal_probe_cold_credit_v1, &in, &out, 0, kind);
            /* The pace is 16 to 4096 units in 256 cycles, a reading 512 to 2560 cycles away. */
            CHECK(caudal_probe_v1.credit >= 32 && caudal_probe_v1.credit <= 40960);
            CHECK_EQUAL(out.general[11], (uint64_t)caudal_probe_v1.credit);
            compare(&in, &out);
        }
    }
    CHECK_EQUAL(yields, before);
    CHECK_EQUAL(caudal_probe_cold_visits_v1(), visits);
    make_due();
    call_across(caudal_probe_cold_credit_v1, &in, &out, 0, kind);
    CHECK_EQUAL(yields, before + 1);
    CHECK(caudal_probe_v1.credit > 0 && out.general[11] == (uint64_t)caudal_probe_v1.credit);
    caudal_probe_disarm_v1();
}

/* A budget of this, armed 4000 cycles ago for a quantum of 2000 or of 4 million, is spent. */
static void spend_all(uint64_t quantum, int is_coroutine)
{
    caudal_probe_arm_v1(caudal_probe_rdtsc() - 4000, quantum);
    caudal_probe_v1.stack_high = is_coroutine ? NEVER : 0;
    caudal_probe_v1.budget = -1;
    __asm__ __volatile__("" ::: "memory");
}

/* Visits of budget mode that are not due, or not on a coroutine's stack, or yield: r11 is what is left then, which the hook armed. */
static void visits_keep_registers(void)
{
    static struct image in, out;
    static void (*const entries[])(void) = {caudal_probe_cold_budget_v1, caudal_probe_cold_carried_v1};
    static const struct { uint64_t quantum; int is_coroutine, yields; } visits[] = {
        {4000000, 1, 0}, {4000000, 0, 0}, {2000, 0, 0}, {2000, 1, 1}};
    caudal_probe_hook_v1 = arm_finitely;
    for (int i = 0; i < 8; i++) {
        uint64_t before = yields;
        fill(&in, &states[3], &widths_in_use[2]);
        spend_all(visits[i / 2].quantum, visits[i / 2].is_coroutine);
        in.general[11] = (uint64_t)-1;
        call_across(entries[i % 2], &in, &out, 8 * (uint64_t)i, kind);
        CHECK_EQUAL(yields - before, visits[i / 2].yields);
        CHECK(caudal_probe_v1.budget >= 0 && caudal_probe_v1.budget < INT64_MAX);
        if (i % 2) {
            CHECK_EQUAL(out.general[11], caudal_probe_v1.budget);
        }
        compare(&in, &out);
    }
    caudal_probe_v1.stack_high = NEVER;
    caudal_probe_hook_v1 = hook;
    caudal_probe_disarm_v1();
}

/* All registers but the one are kept, r11 too; where it yields, and where it is armed anew. */
static void any_register_carries(void)
{
    static struct image in, out;
    caudal_probe_hook_v1 = arm_finitely;
    for (int i = 0; i < 4 * CARRIERS; i++) {
        int number = carried_in[i / 4].number, yielded = i % 2;
        uint64_t before = yields;
        fill(&in, &states[3], &widths_in_use[2]);
        in.general[11] = 0x1234567890abcdef;
        in.general[number] = (uint64_t)-1;
        spend_all(yielded ? 2000 : 4000000, 1);
        call_across(carried_in[i / 4].entry, &in, &out, 8 * (uint64_t)(i / 2), kind);
        CHECK_EQUAL(yields - before, yielded);
        CHECK(caudal_probe_v1.budget >= 0 && caudal_probe_v1.budget < INT64_MAX);
        CHECK_EQUAL(out.general[number], caudal_probe_v1.budget);
        out.general[number] = in.general[number];
        CHECK_EQUAL(out.general[11], in.general[11]);
        compare(&in, &out);
    }
    caudal_probe_v1.stack_high = NEVER;
    caudal_probe_hook_v1 = hook;
    caudal_probe_disarm_v1();
}

static int depth_in_hook;

static void measure_depth(uint64_t now)
{
    void *frames[64];
    depth_in_hook = backtrace(frames, 64);
    caudal_probe_arm_v1(now, NEVER);
}

/* Backtraces from the hook go through the entries: they have this function's frames, and more. */
static void backtraces_go_through(void)
{
    static void (*const entries[])(void) = {caudal_probe_cold_clock_v1, caudal_probe_cold_credit_v1,
                                            caudal_probe_cold_budget_v1, caudal_probe_cold_flag_v1,
                                            caudal_probe_cold_carried_v1_r9};
    void *frames[64];
    int depth = backtrace(frames, 64);
    caudal_probe_hook_v1 = measure_depth;
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        make_due();
        depth_in_hook = 0;
        entries[i]();
        CHECK(depth_in_hook > depth);
    }
    caudal_probe_hook_v1 = hook;
}

static int best_kind(void)
{
    return __builtin_cpu_supports("avx512bw") ? 3 : __builtin_cpu_supports("avx") ? 2 : 1;
}

int main(void)
{
    static void (*const entries[])(void) = {caudal_probe_cold_clock_v1,        caudal_probe_cold_credit_v1,
                                            caudal_probe_cold_budget_v1,       caudal_probe_cold_carried_v1,
                                            caudal_probe_cold_flag_v1,         caudal_probe_cold_exit_v1,
                                            caudal_probe_spend_1_v1,           caudal_probe_spend_carried_127_v1,
                                            caudal_probe_look_v1};
    caudal_probe_hook_v1 = hook;
    caudal_probe_v1.stack_high = NEVER;
    CHECK_EQUAL(caudal_probe_vector, 0);
    kind = best_kind();
    survive(caudal_probe_cold_clock_v1, &states[0], &widths_in_use[0], 0);
    CHECK_EQUAL(caudal_probe_vector, kind);
    for (; kind > 0; kind--) {
        caudal_probe_vector = (uint32_t)kind;
        for (size_t e = 0; e < sizeof entries / sizeof entries[0]; e++) {
            for (size_t s = 0; s < sizeof states / sizeof states[0]; s++) {
                for (uint64_t misaligned = 0; misaligned < 64; misaligned++) {
                    survive(entries[e], &states[s], &widths_in_use[misaligned % 4], misaligned);
                }
            }
        }
    }
    source_level_entries_keep_modes();
    called_probes_spend();
    kind = best_kind();
    caudal_probe_vector = (uint32_t)kind;
    visits_keep_registers();
    any_register_carries();
    backtraces_go_through();
    credit_is_given();
    return 0;
}
