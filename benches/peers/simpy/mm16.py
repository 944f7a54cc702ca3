"""Runs M/M/16 in SimPy: `--requests N --seed S --idiom textbook|tuned`; prints one line of JSON."""

import argparse
import json
import random
import time
from collections import deque

import numpy as np
import simpy

SERVERS = 16
UTILIZATION = 0.8
MEAN_SERVICE_US = 1.0
ARRIVALS_PER_US = SERVERS * UTILIZATION / MEAN_SERVICE_US


def textbook(requests, exponential, record):
    """A process a request that holds one unit of a resource, as in SimPy's bank example."""
    env = simpy.Environment()
    cores = simpy.Resource(env, capacity=SERVERS)

    def request(service):
        arrived = env.now
        with cores.request() as core:
            yield core
            yield env.timeout(service)
        record(env.now - arrived, service)

    def arrivals():
        for _ in range(requests):
            yield env.timeout(exponential(ARRIVALS_PER_US))
            env.process(request(exponential(1.0 / MEAN_SERVICE_US)))

    env.process(arrivals())
    env.run()


def tuned(requests, exponential, record):
    """A process a server and a deque of arrival times; an idle server sleeps on an event of its own.

    Resource and Store cost two more events a request and look at their queues on each of them.
    """
    env = simpy.Environment()
    timeout, event = simpy.Timeout, simpy.Event
    waiting, idle = deque(), []

    def server():
        while True:
            if waiting:
                arrived = waiting.popleft()
            else:
                wake = event(env)
                idle.append(wake)
                arrived = yield wake
            service = exponential(1.0 / MEAN_SERVICE_US)
            yield timeout(env, service)
            record(env.now - arrived, service)

    def arrivals():
        for _ in range(requests):
            yield timeout(env, exponential(ARRIVALS_PER_US))
            if idle:
                idle.pop().succeed(env.now)
            else:
                waiting.append(env.now)

    for _ in range(SERVERS):
        env.process(server())
    env.process(arrivals())
    env.run()


def simulate(idiom, requests, seed):
    """One run; sojourn and slowdown of every request are kept and ranked at the end."""
    sojourns, slowdowns = [], []
    keep_sojourn, keep_slowdown = sojourns.append, slowdowns.append

    def record(sojourn, service):
        keep_sojourn(sojourn)
        keep_slowdown(sojourn / service)

    idiom(requests, random.Random(seed).expovariate, record)
    warm_up = requests // 10
    return np.array(sojourns[warm_up:]) * 1e3, np.array(slowdowns[warm_up:])


def describe(sojourns_ns, slowdowns):
    shares = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999}
    line = {"mean_ns": sojourns_ns.mean()}
    line |= {f"{name}_ns": at for name, at in zip(shares, np.quantile(sojourns_ns, list(shares.values())))}
    line |= {"max_ns": sojourns_ns.max(), "slowdown_mean": slowdowns.mean()}
    line |= {f"slowdown_{name}": at for name, at in zip(shares, np.quantile(slowdowns, list(shares.values())))}
    line |= {"slowdown_max": slowdowns.max()}
    return {key: float(value) for key, value in line.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--idiom", choices=("textbook", "tuned"), required=True)
    args = parser.parse_args()
    idiom = {"textbook": textbook, "tuned": tuned}[args.idiom]

    before = time.process_time()
    statistics = describe(*simulate(idiom, args.requests, args.seed))
    cpu_s = time.process_time() - before
    print(json.dumps({"requests": args.requests, "cpu_s": cpu_s} | statistics))


if __name__ == "__main__":
    main()
