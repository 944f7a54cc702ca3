// The header as C++: an exception that leaves a critical section leaves it, and what came due there happens.
#include "caudal/probe.h"
#include "check.h"

static void throws()
{
    caudal::critical_section outer;
    caudal::critical_section inner;
    caudal_probe_v1.deadline = 1;
    __asm__ __volatile__("" ::: "memory");
    CAUDAL_PROBE_CLOCK();
    CHECK_EQUAL(caudal_critical_depth(), 2);
    throw 1;
}

// Unwinding goes through frames of probes' callers, and probes work in what it passes.
int main()
{
    uint64_t times[2] = {0, 0};
    CHECK_EQUAL(caudal_probe_record_start(times, 2, UINT64_MAX), 0);
    try {
        throws();
        CHECK(false);
    } catch (int) {
        CHECK_EQUAL(caudal_critical_depth(), 0);
    }
    CHECK_EQUAL(caudal_probe_record_stop(), 1);
    return 0;
}
