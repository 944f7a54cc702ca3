// The work of crates/caudal-measure/src/work.rs, instruction by instruction, and its log of gaps.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>
#include <x86intrin.h>

namespace rival {

constexpr double chunk_ns = 200.0;
constexpr double gap_ns = 2500.0;

// Two readings of the clock, in ticks.
struct Gap {
    std::uint64_t start, end;
};

// A fixed number of gaps; the others are counted.
struct GapLog {
    std::uint64_t threshold;
    std::vector<Gap> gaps;
    std::size_t limit;
    std::uint64_t lost = 0;

    GapLog(std::uint64_t threshold, std::size_t limit) : threshold(threshold), limit(limit) { gaps.reserve(limit); }

    void check(std::uint64_t start, std::uint64_t end) {
        if (end > start && end - start > threshold) note({start, end});
    }

    __attribute__((noinline, cold)) void note(Gap gap) {
        if (gaps.size() < limit) {
            gaps.push_back(gap);
        } else {
            ++lost;
        }
    }
};

inline std::uint64_t now() { return __rdtsc(); }

inline std::uint64_t now_after_all() {
    _mm_lfence();
    return __rdtsc();
}

inline void iterate(std::uint32_t count) {
    std::uint64_t state = 1;
    const std::uint64_t multiplier = 6364136223846793005u;
    asm volatile("1: imul %[multiplier], %[state]\n\tsub $1, %[count]\n\tjnz 1b"
                 : [state] "+r"(state), [count] "+r"(count)
                 : [multiplier] "r"(multiplier)
                 : "cc");
}

// A service time as chunks of iterations.
struct Job {
    std::uint32_t chunks, iterations;

    Job(std::uint64_t service_ns, double rate, double overhead) {
        const double count = std::max(1.0, std::round(double(service_ns) / chunk_ns));
        chunks = std::uint32_t(count);
        iterations = std::uint32_t(std::max(1.0, std::round(double(service_ns) * 1e-3 * rate / count - overhead)));
    }

    void run(GapLog &log) const {
        for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
            const auto start = now();
            iterate(iterations);
            log.check(start, now_after_all());
        }
    }
};

}  // namespace rival
