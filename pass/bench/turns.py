"""Processes that take turns on one core.

Other guests of a virtual machine make a core up to half slower for seconds at a time. What runs one after the other is hit by
that at random; what takes turns of a few milliseconds is hit alike, and the ratio of the times that two processes had of
the core stays the same within a percent.
"""
import contextlib, os, signal, subprocess, tempfile, time

# Long beside what it takes to fill the caches again, short beside what others make of the machine.
TURN = 0.01  # seconds
LONGEST = 3600  # seconds, of all together: who takes longer will not end


class Taker:
    """A process, and what it starts. Its output goes to files: it may not wait for who reads it, who waits for its turn."""

    def __init__(self, command, environment, files):
        self.files = files
        self.process = subprocess.Popen(command, stdout=files[0], stderr=files[1], env=environment, start_new_session=True)
        self.status = self.seconds = None
        self.send(signal.SIGSTOP)

    def send(self, signal_):
        # What is not waited for is still there, if only as a process that has ended.
        if self.status is None:
            os.killpg(self.process.pid, signal_)

    def has_ended(self):
        if self.status is None and os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            self.end()
        return self.status is not None

    def take_turn(self):
        self.send(signal.SIGCONT)
        time.sleep(TURN)
        self.send(signal.SIGSTOP)

    def result(self):
        for file in self.files:
            file.seek(0)
        return (self.status, *(file.read() for file in self.files), self.seconds)

    def end(self):
        """What it has started ends with it, too: afterwards nobody knows them."""
        if self.status is None:
            self.send(signal.SIGKILL)
            _, status, used = os.wait4(self.process.pid, 0)
            self.status = self.process.returncode = os.waitstatus_to_exitcode(status)
            self.seconds = used.ru_utime + used.ru_stime


def take_turns(commands):
    """`commands`: pairs of words and environment. Starts all at the same time and lets one run at a time; of each its exit
    status, what it wrote on stdout and on stderr, and the processor's seconds that it and what it started took."""
    with contextlib.ExitStack() as stack:
        takers = []
        for command, environment in commands:
            files = [stack.enter_context(tempfile.TemporaryFile("w+")) for _ in range(2)]
            takers.append(Taker(command, environment, files))
            stack.callback(takers[-1].end)
        left, start = takers, time.monotonic()
        while left := [taker for taker in left if not taker.has_ended()]:
            if time.monotonic() - start > LONGEST:
                raise TimeoutError(f"after {LONGEST} s still there: " + "; ".join(" ".join(taker.process.args) for taker in left))
            for taker in left:
                taker.take_turn()
        return [taker.result() for taker in takers]
