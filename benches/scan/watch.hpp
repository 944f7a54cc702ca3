// Stalls of the machine, as the worker's requests see them: readings of the clock that are further apart than the work between
// them takes. A request that is away, because its quantum is over, sees none: the hook that probes call is told of here first.
//
//      begin … goes_on … [away: others run] … goes_on … end
#pragma once

#include "../rivals/onetbb/trace.hpp"
#include "caudal/probe.h"

namespace watch {

/// From what length on time between two readings is a stall: a get, which has no reading in its midst, takes less.
constexpr double GAP_NS = 5000;
constexpr size_t GAP_ROOM = 1 << 18;

/// Of the one worker, whose requests write it one at a time. None of this has probes.
struct Worker {
    rival::GapLog gaps{UINT64_MAX, GAP_ROOM};
    /// The last reading; 0: no request runs.
    uint64_t since = 0;
    uint64_t yields = 0;
    void (*hook)(uint64_t) = nullptr;
};

inline Worker worker;

inline void goes_on()
{
    uint64_t now = rival::now();
    worker.gaps.check(worker.since, now);
    worker.since = now;
}

/// The hook: others run.
inline void away(uint64_t now)
{
    uint64_t since = worker.since;
    if (since != 0) {
        worker.gaps.check(since, now);
    }
    worker.yields++;
    worker.hook(now);
    worker.since = since == 0 ? 0 : rival::now();
}

/// Once the runtime has set its hook, and before any request comes.
inline void yields()
{
    worker.hook = caudal_probe_hook_v1;
    caudal_probe_hook_v1 = away;
}

} // namespace watch
