"""Instructions executed, with and without probes: exact, where times are not."""
import os, re, subprocess

SECONDS_MOST = 120
# What reads the clock is left out: between two readings a program gets a fiftieth as far as without valgrind.
READINGS = ["caudal_probe_cold_credit_v1", "caudal_probe_cold_counter_gated_clock"]


def instructions(build, core, percent):
    """Of a run at so many percent of the rounds, without what making the input takes; None: it takes too long."""
    left_out = [f"--toggle-collect={name}" for name in READINGS] + ["--collect-atstart=yes"]
    counts = []
    for scale in (percent, 0):
        try:
            done = subprocess.run(["taskset", "-c", core, "valgrind", "--tool=callgrind", "--cache-sim=no", *left_out,
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


def of_all(build, core):
    """Of a whole run, for programs that cannot be told to do less: by cachegrind, which is faster and counts readings of the clock, too,
    of which budget mode has none while nothing is due."""
    done = subprocess.run(["taskset", "-c", core, "valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null",
                           build.files[0]], capture_output=True, text=True, env={**os.environ, "CAUDAL_BENCH": "off"})
    found = re.search(r"I +refs: +([0-9,]+)", done.stderr)
    if done.returncode or not found:
        raise SystemExit(f"valgrind {build.files[0]}: exit {done.returncode}\n{done.stderr}")
    return int(found[1].replace(",", ""))
