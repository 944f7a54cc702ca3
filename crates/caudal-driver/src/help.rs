//! The text of `--help` on the drivers' own options, which `probes` reads. `cc` prints it for `--help`, and `error` prints it for an
//! option that is unknown. A constant.

/// The options, one a line, with their defaults.
pub const OPTIONS_HELP: &str = concat!(
    "  --probe-mode=MODE       budget (default), clock or flag; to compare instruction-counter, counter-gated-clock\n",
    "  --probe-bound=CYCLES    longest estimated path between two probes, 16 to 100000 [default: 250];\n",
    "                          kept to from 64 up\n",
    "  --probe-unknown-call=CYCLES\n",
    "                          what a call into code without probes is assumed to take, 0 to 100000 [default: 50]\n",
    "  --probe-tls=MODEL       how probes reach their thread-local data: auto (default), initial-exec, local-exec\n",
    "  --probe-exclude=FILE    functions to treat in another way, one a line: `leave NAME` (or NAME alone): no probes in it,\n",
    "                          but in what it calls; `nopreempt NAME`: a critical section with all that it calls;\n",
    "                          `call NAME`: calls of it are critical sections\n",
    "  --probe-verify          recompute the longest paths after insertion; an error where one exceeds the bound\n",
    "  --probe-report          say on stderr what got probes, what did not, and why\n",
    "  --probe-report=FILE     append that to FILE as JSON lines; `caudal probes FILE` says it in words\n",
    "  --probe-off             no probes: the compiler as it is\n",
    "  --plugin=FILE           the pass [default: libcaudal-pass-N.so beside this program or in ../lib/caudal]\n",
    "  --clang=FILE            the compiler [default: clang-22, clang-19 or clang on PATH]",
);
