"""Prints what was measured: a table for people, JSON lines for programs."""

import json
import os
from pathlib import Path

from harness import theory
from harness.drivers import OURS

FIGURES = ("mean_ns", "p50_ns", "p99_ns", "p99.9_ns", "slowdown_p99")


def ratio(ours, series):
    return None if ours is None or series is ours else ours.median_rate() / series.median_rate()


def as_json(series, ours):
    rates = series.rates()
    row = {
        "driver": series.driver.name,
        "idiom": series.driver.idiom,
        "version": series.driver.version,
        "requests": series.requests,
        "rounds": len(rates),
        "requests_per_cpu_s": {"median": series.median_rate(), "min": min(rates), "max": max(rates)},
        "spread": series.spread(),
        "cpu_s": [line["cpu_s"] for line in series.lines],
    }
    row |= {key: series.typical(key) for key in FIGURES}
    return json.dumps(row | {"caudal_over_this": ratio(ours, series)})


def as_json_without_result(name, what, reason):
    """A driver that is `skipped` or `wrong`, and why."""
    return json.dumps({"driver": name, what: str(reason)})


def print_table(all_series, ours):
    """Fastest first, theory as the last line."""
    head = ("driver", "idiom", "version", "M req / CPU s", "spread", "CPU s", *FIGURES, "caudal is")
    rows = [head]
    for series in sorted(all_series, key=lambda one: -one.median_rate()):
        times = ratio(ours, series)
        cpu_s = sum(line["cpu_s"] for line in series.lines) / len(series.lines)
        rows.append((
            series.driver.name,
            series.driver.idiom,
            series.driver.version,
            f"{series.median_rate() / 1e6:.3f}",
            f"{series.spread():.1%}",
            f"{cpu_s:.2f}",
            *(number(series.typical(key)) for key in FIGURES),
            "" if times is None else f"{times:.2f} x",
        ))
    known = theory.expected()
    rows.append(("theory", "", "", "", "", "", *(number(known[key]) for key in FIGURES), ""))
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    for row in rows:
        cells = (cell.ljust(w) if i < 3 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths)))
        print("  ".join(cells).rstrip())


def number(value):
    return "-" if value is None else f"{value:.2f}" if value < 100 else f"{value:.1f}"


def verdict(all_series, ours):
    """One sentence: ours against the fastest peer."""
    peers = [series for series in all_series if series.driver.name != OURS]
    if not peers:
        return "No peer ran."
    best = max(peers, key=lambda one: one.median_rate())
    text = f"Fastest peer: {best.driver.name} ({best.driver.idiom}), {best.median_rate() / 1e6:.2f} M requests per CPU second"
    if ours is None:
        return f"{text}. CAUDAL_BENCH is not set, so only the peers ran."
    return f"{text}; caudal does {ours.median_rate() / 1e6:.2f} M, {ratio(ours, best):.2f} times as many."


def machine(core):
    model = next(
        (line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line),
        "unknown processor",
    )
    load = " ".join(f"{value:.2f}" for value in os.getloadavg())
    return f"{model}, {os.cpu_count()} cores, everything on core {core}; load average {load}"
