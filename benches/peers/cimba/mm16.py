"""Runs M/M/16 in cimba: `--requests N --seed S --idiom textbook|tuned`; prints one line of JSON."""

import argparse
import json
import time

import cimba as cb

from events import EventStation, Server
from processes import ProcessStation

SERVERS = 16
# Long enough to touch every path; only the compilation counts here.
WARM_UP_REQUESTS = 10_000


def station(idiom, requests):
    model = ProcessStation() if idiom == "textbook" else EventStation()
    if idiom == "tuned":
        model.servers = [Server() for _ in range(SERVERS)]
        for index, server in enumerate(model.servers):
            server.index = index
    model.requests = requests
    model.warm_up = requests // 10
    return model


def simulate(idiom, requests, seed):
    """One trial on one thread; raises when cimba says that it failed."""
    model = station(idiom, requests)
    results = cb.Experiment(model, seed=seed).run(workers=1)
    if results.failed.any():
        raise RuntimeError(f"cimba: {results.failure_reasons}")
    outcome = results[model]
    if outcome.counted.values[0, 0] != model.requests - model.warm_up:
        raise RuntimeError(f"cimba counted {outcome.counted.values[0, 0]:.0f} of {requests} requests")
    return outcome


def describe(outcome):
    def value(name):
        return float(getattr(outcome, name).values[0, 0])

    line = {f"{name}_ns": value(f"sojourn_{key}") * 1e3 for name, key in NAMES.items()}
    return line | {f"slowdown_{name}": value(f"slowdown_{key}") for name, key in NAMES.items()}


NAMES = {"mean": "mean", "p50": "p50", "p99": "p99", "p99.9": "p999", "max": "max"}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--idiom", choices=("textbook", "tuned"), required=True)
    args = parser.parse_args()

    simulate(args.idiom, WARM_UP_REQUESTS, args.seed)
    before = time.process_time()
    statistics = describe(simulate(args.idiom, args.requests, args.seed))
    cpu_s = time.process_time() - before
    print(json.dumps({"requests": args.requests, "cpu_s": cpu_s} | statistics))


if __name__ == "__main__":
    main()
