"""Runs drivers one after the other on one core and keeps what they say."""

import json
import os
import resource
import subprocess
from dataclasses import dataclass, field
from statistics import median

from harness import theory

# Enough to compile and to see the order of the speed; the measured runs are sized by it.
FIRST_LOOK_REQUESTS = 100_000
STEP_REQUESTS = 50_000


class Wrong(Exception):
    """A driver that fails, says nothing sensible, or simulates something else."""


@dataclass
class Series:
    """All runs of one driver."""

    driver: object
    requests: int = 0
    lines: list = field(default_factory=list)

    def rates(self):
        """Requests per CPU second of each run."""
        return [line["requests"] / line["cpu_s"] for line in self.lines]

    def median_rate(self):
        return median(self.rates())

    def spread(self):
        """Fastest minus slowest run, as a share of the median."""
        return (max(self.rates()) - min(self.rates())) / self.median_rate()

    def typical(self, key):
        """Median of a figure over the runs; None when the driver does not print it."""
        values = [line[key] for line in self.lines if key in line]
        return median(values) if values else None


def last_json_line(text):
    for line in reversed(text.splitlines()):
        if line.startswith("{"):
            return json.loads(line)
    raise Wrong("it printed no line of JSON")


def run(driver, requests, seed, core):
    """One run of a driver on one core; its line, checked against what the system saw of the process."""
    command = ["taskset", "-c", str(core), *driver.command, "--requests", str(requests), "--seed", str(seed)]
    before = children_cpu_s()
    done = subprocess.run(command, capture_output=True, text=True)
    used_s = children_cpu_s() - before
    if done.returncode != 0:
        raise Wrong(f"`{' '.join(command)}` ended with {done.returncode}: {done.stderr.strip()[-600:]}")
    line = last_json_line(done.stdout)
    if line["requests"] != requests:
        raise Wrong(f"it was asked for {requests} requests and simulated {line['requests']}")
    # Clocks of the two sides may tick 10 ms apart.
    if not 0 < line["cpu_s"] <= used_s + 0.02:
        raise Wrong(f"it claims {line['cpu_s']:.3f} CPU seconds, the system counted {used_s:.3f}")
    return line


def children_cpu_s():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def size(driver, seconds, seed, core):
    """How many requests take about `seconds` of CPU time; found by growing until a run says so reliably."""
    requests = FIRST_LOOK_REQUESTS
    while True:
        line = run(driver, requests, seed, core)
        if line["cpu_s"] >= 0.2 * seconds:
            wanted = requests * seconds / line["cpu_s"]
            return max(1, round(wanted / STEP_REQUESTS)) * STEP_REQUESTS
        requests *= 4


def measure(series, seed, core):
    """One more run of a series; raises `Wrong` unless it shows the queue that theory knows."""
    line = run(series.driver, series.requests, seed, core)
    off = theory.deviations(line)
    if off:
        raise Wrong("it simulates another queue: " + "; ".join(map(str, off)))
    series.lines.append(line)


def default_core():
    """The last core we may use: the first one serves most interrupts."""
    return max(os.sched_getaffinity(0))
