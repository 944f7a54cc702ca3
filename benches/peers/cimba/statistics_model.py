"""What both idioms record of a request that finishes; compiled by cimba. Times in microseconds."""

import cimba as cb
import numpy as np
from numba import njit

# Log-linear over the bits of a double: 256 buckets an octave, from 2^-64 to 2^64. A bucket is at most
# 1/256 of its lower edge wide and answers with its middle: relative error at most 0.2 %.
SUB_BITS = 8
SHIFT = 52 - SUB_BITS
LOWEST = (1023 - 64) << SUB_BITS
BUCKETS = 128 << SUB_BITS


@njit(inline="always")
def bucket(value):
    return (np.float64(value).view(np.int64) >> SHIFT) - LOWEST


@njit(inline="always")
def middle(index):
    return np.int64(((index + LOWEST) << SHIFT) | (1 << (SHIFT - 1))).view(np.float64)


class Recorder(cb.Model):
    """A station that counts; the idioms derive from it."""

    requests: cb.Param[int] = 1
    warm_up: cb.Param[int] = 0
    finished: int = 0
    sojourn_counts: cb.Array[int] = cb.Array(BUCKETS)
    slowdown_counts: cb.Array[int] = cb.Array(BUCKETS)
    sojourn_sum: float = 0.0
    slowdown_sum: float = 0.0
    sojourn_top: float = 0.0
    slowdown_top: float = 0.0
    counted: cb.Output[float]
    sojourn_mean: cb.Output[float]
    sojourn_p50: cb.Output[float]
    sojourn_p99: cb.Output[float]
    sojourn_p999: cb.Output[float]
    sojourn_max: cb.Output[float]
    slowdown_mean: cb.Output[float]
    slowdown_p50: cb.Output[float]
    slowdown_p99: cb.Output[float]
    slowdown_p999: cb.Output[float]
    slowdown_max: cb.Output[float]

    @cb.function
    def finish(self, arrived: float, service: float) -> None:
        self.finished += 1
        if self.finished > self.warm_up:
            sojourn = cb.now() - arrived
            slowdown = sojourn / service
            self.sojourn_counts[bucket(sojourn)] += 1
            self.slowdown_counts[bucket(slowdown)] += 1
            self.sojourn_sum += sojourn
            self.slowdown_sum += slowdown
            self.sojourn_top = max(self.sojourn_top, sojourn)
            self.slowdown_top = max(self.slowdown_top, slowdown)

    @cb.function
    def sojourn_at(self, share: float) -> float:
        wanted = share * (self.finished - self.warm_up)
        seen = 0
        for index in range(BUCKETS):
            seen += self.sojourn_counts[index]
            if seen >= wanted:
                return middle(index)
        return -1.0

    @cb.function
    def slowdown_at(self, share: float) -> float:
        wanted = share * (self.finished - self.warm_up)
        seen = 0
        for index in range(BUCKETS):
            seen += self.slowdown_counts[index]
            if seen >= wanted:
                return middle(index)
        return -1.0

    @cb.on_end
    def describe(self):
        counted = self.finished - self.warm_up
        self.counted = counted
        self.sojourn_mean = self.sojourn_sum / counted
        self.sojourn_p50 = self.sojourn_at(0.5)
        self.sojourn_p99 = self.sojourn_at(0.99)
        self.sojourn_p999 = self.sojourn_at(0.999)
        self.sojourn_max = self.sojourn_top
        self.slowdown_mean = self.slowdown_sum / counted
        self.slowdown_p50 = self.slowdown_at(0.5)
        self.slowdown_p99 = self.slowdown_at(0.99)
        self.slowdown_p999 = self.slowdown_at(0.999)
        self.slowdown_max = self.slowdown_top
