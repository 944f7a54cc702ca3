"""Instructions executed, with and without probes: exact, where times are not."""
import os, re, subprocess

SECONDS_MOST = 120


def instructions(build, core, percent):
    """Of a run at so many percent of the rounds, without what making the input takes; None: it takes too long."""
    counts = []
    for scale in (percent, 0):
        try:
            done = subprocess.run(["taskset", "-c", core, "valgrind", "--tool=callgrind", "--cache-sim=no",
                                   "--callgrind-out-file=/dev/null", build.files[0], str(scale)],
                                  capture_output=True, text=True, timeout=SECONDS_MOST,
                                  env={**os.environ, "CAUDAL_BENCH": "off"})
        except subprocess.TimeoutExpired:
            return None
        found = re.search(r"Collected : (\d+)", done.stderr)
        if done.returncode or not found:
            raise SystemExit(f"valgrind {build.files[0]} {scale}: exit {done.returncode}\n{done.stderr}")
        counts.append(int(found[1]))
    return counts[0] - counts[1]
