/*
 * Clock mode's credit: how much is given follows what the program spends between two readings, is less after a late one,
 * whether a yield was due or not, and is the same for each of many requests that end before they have spent it. So a quantum
 * at a steady pace has a few readings, and a deadline to which it is nearly there is due.
 */
#include "caudal/probe.h"
#include "check.h"

#define NEVER UINT64_MAX

static uint64_t yields, next_quantum = NEVER;

static void hook(uint64_t now)
{
    yields++;
    caudal_probe_arm_v1(now, next_quantum);
}

/* Readings that follow each other at once raise the pace to its limit, 4096 units in 256 cycles. */
static void raise_pace(void)
{
    caudal_probe_arm_v1(caudal_probe_rdtsc(), NEVER);
    for (int readings = 0; readings < 100000 && caudal_probe_v1.credit < 40960; readings++) {
        caudal_probe_cold_credit_v1();
    }
    CHECK_EQUAL(caudal_probe_v1.credit, 40960);
}

static void pass_cycles(uint64_t cycles)
{
    for (uint64_t start = caudal_probe_rdtsc(); caudal_probe_rdtsc() - start <= cycles;) {
    }
}

/* Where a reading comes long after the one before, the pace is taken to be lower: before the deadline and behind it. */
static void pace_falls(void)
{
    static const uint64_t quanta[] = {NEVER, 1000};
    for (int i = 0; i < 2; i++) {
        raise_pace();
        int32_t credit = INT32_MAX;
        for (int readings = 0; readings < 5; readings++) {
            caudal_probe_arm_v1(caudal_probe_rdtsc(), quanta[i]);
            pass_cycles(4 * 2560);
            caudal_probe_cold_credit_v1();
            caudal_probe_arm_v1(caudal_probe_rdtsc(), NEVER);
            CHECK(caudal_probe_v1.credit < credit || credit == 160);
            credit = caudal_probe_v1.credit;
        }
        CHECK_EQUAL(credit, 160);
    }
    caudal_probe_disarm_v1();
}

/* Short requests, which end before their first reading, say nothing of the pace: each is given the same. */
static void arming_keeps_the_pace(void)
{
    caudal_probe_arm_v1(caudal_probe_rdtsc(), 5200);
    int32_t given = caudal_probe_v1.credit;
    for (int requests = 0; requests < 100; requests++) {
        caudal_probe_v1.credit -= 300;
        caudal_probe_arm_v1(caudal_probe_rdtsc(), 5200);
        CHECK_EQUAL(caudal_probe_v1.credit, given);
    }
    caudal_probe_disarm_v1();
}

/* Units are spent by the clock, as by a program whose pace never changes, whatever stalls the machine has. */
static void steady_pace(void)
{
    static const uint64_t units_in_8_cycles[] = {1, 8, 20, 80};
    next_quantum = 5192;
    for (int i = 0; i < 4; i++) {
        uint64_t readings = 0, last = yields + 1100;
        caudal_probe_arm_v1(caudal_probe_rdtsc(), next_quantum);
        for (uint64_t counted_from = last - 1000; yields < last; readings += yields >= counted_from) {
            int64_t given = caudal_probe_v1.credit;
            for (uint64_t start = caudal_probe_rdtsc(); caudal_probe_v1.credit >= 0;) {
                caudal_probe_v1.credit = (int32_t)(given - (int64_t)((caudal_probe_rdtsc() - start) * units_in_8_cycles[i] / 8));
            }
            caudal_probe_cold_credit_v1();
        }
        CHECK(readings < 7 * 1000 / 2);
    }
    next_quantum = NEVER;
    caudal_probe_disarm_v1();
}

/* The next reading would be further behind the deadline than this one is in front; where it is not near, a reading goes on, but
 * for one that the machine has stalled until it is. */
static void a_near_deadline_is_due(void)
{
    static const uint64_t left[] = {250, 400};
    for (int i = 0; i < 2; i++) {
        uint64_t before = yields;
        for (int readings = 0; readings < 1000; readings++) {
            caudal_probe_arm_v1(caudal_probe_rdtsc(), NEVER);
            caudal_probe_v1.deadline = caudal_probe_rdtsc() + left[i];
            caudal_probe_cold_credit_v1();
        }
        CHECK(i == 0 ? yields - before == 1000 : yields - before < 1000);
        caudal_probe_disarm_v1();
    }
}

/* However long the machine stands still, the pace is an eighth of what it was at least; from there it rises by half. */
static void a_stall_is_not_the_pace(void)
{
    raise_pace();
    pass_cycles(100 * 2560);
    caudal_probe_cold_credit_v1();
    CHECK_EQUAL(caudal_probe_v1.credit, 40960 / 8);
    caudal_probe_cold_credit_v1();
    CHECK(caudal_probe_v1.credit <= 40960 / 8 * 3 / 2);
    caudal_probe_disarm_v1();
}

/* A thread that is no coroutine's goes on with a new quantum. A visit of budget mode leaves the credit to the probes that use it. */
static void only_clock_mode_renews_it(void)
{
    caudal_probe_v1.stack_high = 0;
    caudal_probe_arm_v1(caudal_probe_rdtsc(), 1000);
    int32_t given = caudal_probe_v1.credit;
    uint64_t deadline = caudal_probe_v1.deadline;
    caudal_probe_v1.credit -= 30;
    pass_cycles(2000);
    caudal_probe_cold_budget_v1();
    CHECK(caudal_probe_v1.deadline > deadline);
    CHECK_EQUAL(caudal_probe_v1.credit, given - 30);
    pass_cycles(2000);
    caudal_probe_cold_clock_v1();
    CHECK_EQUAL(caudal_probe_v1.credit, given);
    caudal_probe_disarm_v1();
    caudal_probe_v1.stack_high = NEVER;
}

int main(void)
{
    caudal_probe_hook_v1 = hook;
    caudal_probe_v1.stack_high = NEVER;
    pace_falls();
    arming_keeps_the_pace();
    steady_pace();
    a_near_deadline_is_due();
    a_stall_is_not_the_pace();
    only_clock_mode_renews_it();
    return 0;
}
