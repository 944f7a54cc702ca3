"""What an M/M/k queue must show, in closed form, and how far a run may be from it."""

from dataclasses import dataclass
from math import exp, factorial, sqrt

SERVERS = 16
UTILIZATION = 0.8
MEAN_SERVICE_NS = 1000.0

# Histograms are up to 0.4 % off, whatever the length of a run.
RESOLUTION = 0.005
# Standard error of each figure times the square root of the requests counted, as a share of the figure: seen over
# 90 runs of 0.1 and 1 million requests, whose sojourn times hang together. The tail of the slowdown is made of
# the few requests that were very short and waited, which come in bursts.
SCATTER = {
    "mean_ns": 2.5,
    "p50_ns": 3.3,
    "p99_ns": 3.0,
    "p99.9_ns": 4.5,
    "slowdown_p50": 0.0,
    "slowdown_p99": 20.0,
}
# A right driver is this far off once in a million figures.
STANDARD_ERRORS = 5


@dataclass(frozen=True)
class Deviation:
    """One figure of a run that theory does not allow."""

    key: str
    measured: float
    expected: float

    def __str__(self):
        share = self.measured / self.expected - 1
        return f"{self.key} is {self.measured:.4g}, theory says {self.expected:.4g} ({share:+.1%})"


def share_that_waits():
    """Erlang C."""
    offered = SERVERS * UTILIZATION
    waiting = offered**SERVERS / factorial(SERVERS) / (1 - UTILIZATION)
    return waiting / (sum(offered**n / factorial(n) for n in range(SERVERS)) + waiting)


def sojourn_exceeds(time):
    """P(sojourn > time), time in mean services: service alone, or service plus an exponential wait."""
    waits, drain = share_that_waits(), SERVERS * (1 - UTILIZATION)
    both = (drain * exp(-time) - exp(-drain * time)) / (drain - 1)
    return (1 - waits) * exp(-time) + waits * both


def sojourn_quantile(share):
    low, high = 0.0, 100.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if sojourn_exceeds(middle) > 1 - share else (low, middle)
    return high


def slowdown_quantile(share):
    """P(slowdown > 1 + x) = C / (1 + drain x); the mean slowdown is infinite, so it is not judged."""
    waits, drain = share_that_waits(), SERVERS * (1 - UTILIZATION)
    return 1.0 if waits <= 1 - share else 1 + (waits / (1 - share) - 1) / drain


def expected():
    """Figure by name, as the drivers print them."""
    mean = 1 + share_that_waits() / (SERVERS * (1 - UTILIZATION))
    figures = {"mean_ns": mean * MEAN_SERVICE_NS}
    for name, share in (("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)):
        figures[f"{name}_ns"] = sojourn_quantile(share) * MEAN_SERVICE_NS
        figures[f"slowdown_{name}"] = slowdown_quantile(share)
    return figures


def tolerance(key, requests):
    """How far, as a share, a figure may be from theory after so many requests, a tenth of them dropped."""
    return RESOLUTION + STANDARD_ERRORS * SCATTER[key] / sqrt(0.9 * requests)


def deviations(line):
    """Figures of a driver's line that are further from theory than chance explains; absent ones pass."""
    theory = expected()
    return [
        Deviation(key, line[key], theory[key])
        for key in SCATTER
        if key in line and not abs(line[key] / theory[key] - 1) <= tolerance(key, line["requests"])
    ]
