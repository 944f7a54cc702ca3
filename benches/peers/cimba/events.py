"""The event view: no coroutine switches, no store; arrivals that wait stand in a ring of doubles."""

import cimba as cb
from cimba import random

from statistics_model import Recorder

SERVERS = 16
MEAN_SERVICE_US = 1.0
MEAN_GAP_US = MEAN_SERVICE_US / (SERVERS * 0.8)
RING = 1 << 16


class Server(cb.Model):
    """One server; its completion is an event of its own, because events carry no arguments."""

    station: "cb.Ref[EventStation]"
    index: cb.Param[int] = 0
    arrived: float = 0.0
    service: float = 0.0

    def attached(self, owner, field):
        self.station = owner

    @cb.event
    def done(self):
        station = self.station
        station.finish(self.arrived, self.service)
        if station.head == station.tail:
            station.idle[station.idle_count] = self.index
            station.idle_count += 1
        else:
            self.arrived = station.waiting[station.head % RING]
            station.head += 1
            self.service = random.exponential(MEAN_SERVICE_US)
            cb.schedule(self.done, self.service)


class EventStation(Recorder):
    servers: list[Server]
    waiting: cb.Array[float] = cb.Array(RING)
    idle: cb.Array[int] = cb.Array(list(range(SERVERS)))
    idle_count: int = SERVERS
    head: int = 0
    tail: int = 0
    to_arrive: int = 0

    @cb.event
    def arrive(self):
        if self.idle_count > 0:
            self.idle_count -= 1
            server = self.servers[self.idle[self.idle_count]]
            server.arrived = cb.now()
            server.service = random.exponential(MEAN_SERVICE_US)
            cb.schedule(server.done, server.service)
        else:
            if self.tail - self.head == RING:
                cb.end_trial()
            self.waiting[self.tail % RING] = cb.now()
            self.tail += 1
        self.to_arrive -= 1
        if self.to_arrive > 0:
            cb.schedule(self.arrive, random.exponential(MEAN_GAP_US))

    @cb.on_start
    def begin(self):
        self.to_arrive = self.requests
        cb.schedule(self.arrive, random.exponential(MEAN_GAP_US))
