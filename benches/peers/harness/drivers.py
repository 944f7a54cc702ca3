"""Who takes part: every peer in two idioms, and the simulator that `CAUDAL_BENCH` names."""

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from harness import install
from harness.install import HERE

IDIOMS = ("textbook", "tuned")
OURS = "caudal"


@dataclass(frozen=True)
class Peer:
    """A library that users would pick instead."""

    name: str
    install: Callable[[], list]
    # Where its version stands: file below this folder, expression with one group.
    manifest: str
    version: str

    def read_version(self):
        return re.search(self.version, (HERE / self.manifest).read_text(), re.S).group(1)


@dataclass(frozen=True)
class Driver:
    """A command that takes `--requests N --seed S` and prints one line of JSON."""

    name: str
    idiom: str
    version: str
    command: list[str]


PEERS = (
    Peer("ssj", install.ssj, "ssj/pom.xml", r"<artifactId>ssj</artifactId>\s*<version>([^<]+)<"),
    Peer("cimba", partial(install.python, "cimba"), "cimba/requirements.txt", r"cimba==(\S+)"),
    Peer("nexosim", install.nexosim, "nexosim/Cargo.lock", r'name = "nexosim"\s+version = "([^"]+)"'),
    Peer("simpy", partial(install.python, "simpy"), "simpy/requirements.txt", r"simpy==(\S+)"),
)


def drivers_of(peer):
    """Both idioms of a peer; raises `install.Unavailable`."""
    command = [str(part) for part in peer.install()]
    version = peer.read_version()
    return [Driver(peer.name, idiom, version, [*command, "--idiom", idiom]) for idiom in IDIOMS]


def ours(command_line):
    return Driver(OURS, "-", "-", shlex.split(command_line))
