"""The process view, as in cimba's own queueing tutorials: arrivals feed a store, 16 server processes empty it."""

import cimba as cb
from cimba import random

from statistics_model import Recorder

SERVERS = 16
MEAN_SERVICE_US = 1.0
MEAN_GAP_US = MEAN_SERVICE_US / (SERVERS * 0.8)


class ProcessStation(Recorder):
    queue: cb.Store[float]

    @cb.process
    def arrivals(self):
        for _ in range(self.requests):
            cb.hold(random.exponential(MEAN_GAP_US))
            self.queue.put(cb.now())

    @cb.process(copies=SERVERS)
    def server(self):
        while True:
            arrived = self.queue.get()
            service = random.exponential(MEAN_SERVICE_US)
            cb.hold(service)
            self.finish(arrived, service)
