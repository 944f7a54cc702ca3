"""Runs, paired ratios, and the distances of yields from their deadlines."""
import json, math, os, statistics, subprocess, sys

import turns

QUANTUM = 5192         # cycles: 2 us
CYCLES_PER_NS = 2.596
SHARES = 32            # bins.h
SHORTEST_STALL = 2048  # cycles: what is shorter is the program's doing


class Runner:
    def __init__(self, core, setter_core, stalls):
        self.core, self.setter_core, self.stalls_file = core, setter_core, stalls

    def command(self, build, how, setter=False, rate=None, layout=0):
        """`how`: the harness's mode; `rate`: instructions a cycle, for baselines; `layout`: which of the build's files."""
        environment = {**os.environ, "CAUDAL_BENCH": how, "CAUDAL_BENCH_QUANTUM": str(QUANTUM)}
        if setter:
            environment["CAUDAL_BENCH_SETTER"] = self.setter_core
        if rate:
            environment["CAUDAL_BENCH_RATE"] = str(round(1000 * rate))
        return ["taskset", "-c", self.core, build.files[layout]], environment

    def run_in_turns(self, program, commands):
        """Of each, what the harness said."""
        done = turns.take_turns(commands)
        return [self.said(program, command, *each[:3]) for (command, _), each in zip(commands, done)]

    def said(self, program, command, status, out, err):
        if status or "".join(out.split()) != program.checksum:
            sys.exit(f"{command[-1]}: exit {status}, printed {out.strip()}, expected {program.checksum}\n{err}")
        return json.loads(err)

    def run(self, build, program, how, **more):
        """Alone. What the harness said."""
        command, environment = self.command(build, how, **more)
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        return self.said(program, command, done.returncode, done.stdout, done.stderr)

    def stalls(self):
        """Gaps of a bare loop of clock readings on the same core."""
        done = subprocess.run(["taskset", "-c", self.core, self.stalls_file], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)


def interval(values):
    """Median and its 95 % interval: ranks of the binomial distribution."""
    ordered, n = sorted(values), len(values)
    below, k = 0.0, 0
    while k < n // 2 and below + math.comb(n, k) / 2**n <= 0.025:
        below += math.comb(n, k) / 2**n
        k += 1
    k = max(k - 1, 0)
    return statistics.median(ordered), ordered[k], ordered[n - 1 - k]


def power_of(bin_):
    """Of two, that is at most the lengths in the bin."""
    return max(0, bin_ // SHARES + 4) if bin_ >= SHARES else 0


def by_power(bins):
    sums = {}
    for bin_, count, _ in bins:
        sums[power_of(bin_)] = sums.get(power_of(bin_), 0) + count
    return sums


def filtered(times, machine):
    """Late bins without what the machine's stalls explain: of the lengths between two powers of two as many as the bare
    loop shows in the same time, at most, whichever they are."""
    cycles = sum(each["cycles"] for each in machine)
    gaps = {}
    for each in machine:
        for power, count in by_power(each["gaps"]).items():
            gaps[power] = gaps.get(power, 0) + count
    late = by_power(times["late"])
    kept = []
    for bin_, count, sum_ in times["late"]:
        power, share = power_of(bin_), 1.0
        if 2**power >= SHORTEST_STALL:
            share -= min(1.0, gaps.get(power, 0) * times["cycles"] / cycles / late[power])
        kept.append((bin_, count * share, sum_ * share))
    return kept


def percentile(early, late, share):
    """Of lateness, in cycles; who is early is not late."""
    left = share * (sum(count for _, count, _ in early) + sum(count for _, count, _ in late))
    left -= sum(count for _, count, _ in early)
    if left <= 0:
        return 0.0
    for _, count, sum_ in sorted(late):
        left -= count
        if left <= 1e-6 and count:
            return sum_ / count
    return 0.0


def mean(early, late):
    count = sum(count for _, count, _ in early) + sum(count for _, count, _ in late)
    return (sum(sum_ for _, _, sum_ in early) + sum(sum_ for _, _, sum_ in late)) / max(count, 1)


def errors(times, machine):
    """Distances of yields from their deadlines, raw and filtered, and the 99th percentile of lateness in quanta."""
    late = filtered(times, machine)
    return {"raw_error_cycles": mean(times["early"], times["late"]), "error_cycles": mean(times["early"], late),
            "raw_late_p99_quanta": percentile(times["early"], times["late"], 0.99) / QUANTUM,
            "late_p99_quanta": percentile(times["early"], late, 0.99) / QUANTUM,
            "yields": sum(count for _, count, _ in times["early"] + times["late"])}
