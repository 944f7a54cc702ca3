//! Texts of tools that are known by what they print: those that hold no times of requests, with what to do instead, and those
//! that hold times in a way of their own: `cyclictest -v`, the full log of sockperf.
//! The recogniser of formats asks whether a text has this form, and calls the reader once if it has. Pure.

use std::path::Path;

use super::number::{Number, Style};
use super::source::Source;
use super::unit::Unit;
use super::{Columns, Data, Place, Read, Taken, Trace, source, table, text, time_ps};
use crate::error::WorkloadError;

/// A text that holds no times of requests.
struct Summary {
    /// The beginning of one of its lines.
    begins: &'static str,
    holds: &'static str,
    /// The name of the kind, and advice on what to do.
    advice: &'static str,
}

/// The advice on output of a profiler.
pub(super) const PROFILE: &str = "is what a profiler writes, which says where time goes and not what a request takes; measure requests one by \
                                  one, as by spans of OpenTelemetry or `performance.timerify` in node, or functions by `caudal record`";

/// The advice on a report of mtr.
pub(super) const MTR: &str =
    "is mtr's report, which sums up what each hop answered; `mtr --raw HOST` writes every answer";

/// Texts of tools that sum up many requests.
const SUMMARIES: [Summary; 24] = [
    Summary {
        begins: "Time (mean",
        holds: "±",
        advice: "is what hyperfine prints, a mean a command; `hyperfine --export-json FILE` keeps every run",
    },
    Summary {
        begins: "| Command |",
        holds: "Mean [",
        advice: "is hyperfine's summary, a mean a command; `hyperfine --export-json FILE` keeps every run",
    },
    Summary {
        begins: "% time",
        holds: "usecs/call",
        advice: "is strace's summary, the sum of many calls in a line; `strace -T -o FILE` writes what each of them takes",
    },
    Summary {
        begins: "Thread Stats",
        holds: "Stdev",
        advice: "is wrk's report without percentiles; run wrk with `--latency`",
    },
    Summary {
        begins: "Statistics",
        holds: "Stdev",
        advice: "is bombardier's report without percentiles; run bombardier with `-l`",
    },
    Summary {
        begins: "T:",
        holds: "Avg:",
        advice: "is cyclictest's summary; run it with `-q -h 400`, which prints a histogram, or with `-v`, which prints every value",
    },
    Summary {
        begins: "Benchmark",
        holds: " CPU   Iterations",
        advice: "is output of Google Benchmark, whose times are means of many iterations and say nothing of a tail; write what each \
                 iteration takes, a time a line",
    },
    Summary {
        begins: "Benchmark",
        holds: "  Mode  Cnt ",
        advice: "is JMH's summary, a score a benchmark; run it with `-bm sample -rf json -rff FILE`, which keeps a histogram of single \
                 calls",
    },
    Summary {
        begins: "rtt min/avg/max/mdev",
        holds: "=",
        advice: "is ping's summary; without `-q` it prints every time",
    },
    Summary {
        begins: "Command being timed:",
        holds: "\"",
        advice: "is what `time -v` prints, whose step is 10 ms; `hyperfine --export-json FILE COMMAND` keeps every run",
    },
    Summary {
        begins: "raw times:",
        holds: "sec",
        advice: "is what Python's timeit prints, each the mean of many loops; with `-n 1 -r 1000 -vv`, or by `timeit.repeat(…, \
                 number=1, repeat=1000)`, every run is timed: write those, a time a line",
    },
    Summary {
        begins: "import time:",
        holds: "self [us]",
        advice: "is what `python -X importtime` prints: what each import takes, and together with those within it; give the column that is \
                 meant, as CSV",
    },
    Summary {
        begins: "The decimal point is ",
        holds: " of the |",
        advice: "is a stem plot of R; write the values by `write.csv(data, \"times.csv\")`",
    },
    Summary {
        begins: "",
        holds: "Pub Server RTT :",
        advice: "is what `nats latency` prints; with `--histogram FILE` it writes the distribution",
    },
    Summary {
        begins: "Average Latency (s):",
        holds: "(min",
        advice: "is dnsperf's summary; with `-v` it prints what each query took",
    },
    Summary { begins: "flat  flat%", holds: "cum%", advice: PROFILE },
    Summary { begins: "ncalls  tottime", holds: "cumtime", advice: PROFILE },
    Summary { begins: "# Overhead ", holds: "Command ", advice: PROFILE },
    Summary { begins: "%   cumulative", holds: "self", advice: PROFILE },
    Summary { begins: "HOST:", holds: "Loss%", advice: MTR },
    Summary { begins: "Mtr_Version,", holds: "StDev", advice: MTR },
    Summary {
        begins: "name ",
        holds: "p999     rme  samples",
        advice: "is what `vitest bench` prints, which sums up: `vitest bench --outputJson FILE` writes percentiles with all their digits, \
                 and tinybench, by which it measures, keeps every run with `retainSamples: true`",
    },
    Summary {
        begins: "# DURATION",
        holds: "FUNCTION",
        advice: "is what `uftrace replay` prints, in which calls lie within each other; `uftrace replay -F FUNCTION -D 1` has those of one \
                 function alone: give its column of times",
    },
    Summary {
        begins: "Test run id:",
        holds: "",
        advice: "is what artillery prints; `artillery run --output FILE` writes its percentiles as JSON",
    },
];

/// Whether the lines of a text match, and what to do then.
type Pattern = (fn(&[String]) -> bool, &'static str);

/// Texts that are known by a pattern of their lines.
const PATTERNS: [Pattern; 13] = [
    (
        |lines| most(lines, is_verdict_of_go),
        "is what `go test -v` prints, whose step is 10 ms, and in which tests hold the times of those within; write what each request takes, a \
         time a line",
    ),
    (
        // Of one phase alone they are read.
        |lines| {
            most(lines, is_phase_of_pytest)
                && lines.iter().any(|line| is_phase_of_pytest(line) && !line.contains(" call "))
        },
        "is what `pytest --durations` prints: of each test its setup, its call and its teardown; take those that are meant, as in \
         `grep ' call ' FILE | caudal … -`",
    ),
    (
        |lines| most(lines, so_far),
        "is what `redis-cli --latency` prints to a file: least, longest and mean time so far, and of how many; `redis-cli LATENCY \
         HISTOGRAM` has the distribution of every command",
    ),
    (
        |lines| most(lines, since_the_call_before),
        "is what `strace -r` writes, the time since the call before and not what a call takes; `strace -T -o FILE` writes that",
    ),
    (
        |lines| lines.iter().any(|line| line.contains(" loops, best of ")),
        "is what Python's timeit prints, the best mean of many loops; write what each run takes, a time a line, as from \
         `timeit.repeat(…, number=1, repeat=1000)`",
    ),
    (|lines| most(lines, is_folded_stack), PROFILE),
    (
        |lines| lines.iter().any(|line| is_cycle_of_benchmark_js(line)),
        "is what benchmark.js prints, runs a second, the mean of many; time each run, a time a line, as tinybench keeps them with \
         `retainSamples: true`",
    ),
    (
        |lines| {
            lines.iter().any(|line| line.trim_end().ends_with('}'))
                && lines.iter().any(|line| line.contains("tracer: function_graph"))
        },
        "is a trace of function_graph, in which functions hold the times of those within; trace one function by itself: `echo 1 > \
         max_graph_depth`, and its name into `set_graph_function`",
    ),
    (
        |lines| lines.iter().filter(|line| line.contains(" sched:sched_")).count() >= 3,
        "is what `perf script` prints of the scheduler's events: when threads were switched and how long they ran between two ticks, not \
         what requests take; `perf trace -s`, or probes at the beginning and end of a request, tell that",
    ),
    (
        |lines| lines.iter().any(|line| line.contains("| Avg delay ms ") && line.contains("Runtime ms")),
        "is what `perf sched latency` prints, the sums and the longest delay of each task; `perf sched timehist` has every slice",
    ),
    (
        |lines| lines.iter().filter(|line| line.contains("phi='") && line.contains("value=")).count() >= 2,
        "is what Micrometer prints of a timer, whose gauges with `phi` are percentiles; give those, as in `p50 = 1.2 ms, p99 = 9 ms, mean = 1.9 ms`",
    ),
    (
        |lines| most(lines, |line| line.starts_with("cmdstat_") && line.contains("usec_per_call=")),
        "is redis's `INFO commandstats`, the sums of each command; `redis-cli LATENCY HISTOGRAM` has the distribution of every command",
    ),
    (
        is_slow_log,
        "is redis's SLOWLOG, which keeps only the slowest commands; `redis-cli LATENCY HISTOGRAM` has all of them",
    ),
];

/// Do at least three lines, and two of three, match?
fn most(lines: &[String], matches: fn(&str) -> bool) -> bool {
    let lines: Vec<&String> = lines.iter().filter(|line| !line.is_empty()).collect();
    let alike = lines.iter().filter(|line| matches(line)).count();
    alike >= 3 && 3 * alike >= 2 * lines.len()
}

/// `--- PASS: TestGet/1 (0.02s)`, and the sum of a package.
fn is_verdict_of_go(line: &str) -> bool {
    ["--- PASS: ", "--- FAIL: ", "--- SKIP: ", "=== RUN ", "=== PAUSE ", "=== CONT "]
        .iter()
        .any(|begin| line.starts_with(begin))
}

/// `0.02s call     test_a.py::test_get[1]`
fn is_phase_of_pytest(line: &str) -> bool {
    let mut words = line.split_whitespace();
    words
        .next()
        .is_some_and(|time| time.ends_with('s') && time.starts_with(|digit: char| digit.is_ascii_digit()))
        && words.next().is_some_and(|phase| ["setup", "call", "teardown"].contains(&phase))
}

/// `main;handle;parse 12`
fn is_folded_stack(line: &str) -> bool {
    let Some((stack, count)) = line.rsplit_once(' ') else { return false };
    let is_frame =
        |frame: &str| frame.starts_with(|letter: char| letter.is_alphabetic() || "_[<(".contains(letter));
    count.parse::<u64>().is_ok() && stack.contains(';') && stack.split(';').all(is_frame)
}

/// `RegExp#test x 51,207,667 ops/sec ±5.74% (77 runs sampled)`
fn is_cycle_of_benchmark_js(line: &str) -> bool {
    line.contains(" ops/sec ±") && (line.ends_with(" runs sampled)") || line.ends_with(" run sampled)"))
}

/// `0 1 0.33 3`: the least, the longest and the mean time of so many, and perhaps ` -- 1.00 seconds range`.
fn so_far(line: &str) -> bool {
    let words: Vec<&str> = line.split(" -- ").next().unwrap_or(line).split_whitespace().collect();
    let [least, longest, mean, count] = words[..] else { return false };
    let whole = |word: &str| {
        word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse::<f64>().ok()).flatten()
    };
    let two_decimals = mean.split_once('.').is_some_and(|(_, decimals)| decimals.len() == 2);
    match (whole(least), whole(longest), mean.parse::<f64>(), whole(count)) {
        (Some(least), Some(longest), Ok(mean), Some(_)) => two_decimals && (least..=longest).contains(&mean),
        _ => false,
    }
}

/// `0.000383 brk(NULL) = 0x5611c181e000`
fn since_the_call_before(line: &str) -> bool {
    let Some((seconds, call)) = line.split_once(' ') else { return false };
    let decimals = seconds.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let name: String =
        call.trim_start().chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect();
    decimals == 6
        && seconds.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && !name.is_empty()
        && call.trim_start()[name.len()..].starts_with('(')
}

/// Entries of redis's slow log: a number, when it was, how long it took, and the command, a line each.
fn is_slow_log(lines: &[String]) -> bool {
    let whole = |line: &String| !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit());
    let is_entry = |entry: &&[String]| match entry {
        [number, epoch, us, command, ..] => {
            whole(number)
                && whole(epoch)
                && epoch.len() == 10
                && whole(us)
                && command.starts_with(|letter: char| letter.is_alphabetic() || letter.is_ascii_digit())
        }
        _ => false,
    };
    let entries: Vec<&[String]> = lines.split(String::is_empty).filter(|entry| !entry.is_empty()).collect();
    entries.len() >= 2 && entries[..2].iter().all(is_entry)
}

/// Why a text holds no times of requests, if it is one that is known.
pub(super) fn summary<'a>(lines: impl Iterator<Item = &'a [u8]>) -> Option<&'static str> {
    let lines: Vec<String> = lines.take(400).map(|line| text(line).trim().to_owned()).collect();
    let is_of = |summary: &&Summary| {
        let begins = |line: &String| {
            line.strip_prefix(summary.begins).is_some_and(|rest| rest.contains(summary.holds))
        };
        lines.iter().any(begins)
    };
    let known = SUMMARIES.iter().find(is_of).map(|summary| summary.advice);
    known.or_else(|| PATTERNS.iter().find(|(is, _)| is(&lines)).map(|(_, advice)| *advice))
}

/// `       0:      12:      71`: the thread, the number of the sample, and a latency in us.
fn cyclictest(line: &str) -> Option<(&str, &str)> {
    let mut parts = line.split(':').map(str::trim);
    let (thread, sample, latency) = (parts.next()?, parts.next()?, parts.next()?);
    let are_numbers = [thread, sample, latency]
        .iter()
        .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    // The time of a day has no blanks.
    (are_numbers && parts.next().is_none() && line.contains(": ")).then_some((thread, latency))
}

/// Is this what `cyclictest -v` prints?
pub(super) fn holds_samples<'a>(lines: impl Iterator<Item = &'a [u8]>) -> bool {
    let lines: Vec<String> = lines.take(400).map(text).filter(|line| !line.trim().is_empty()).collect();
    let samples = lines.iter().filter(|line| cyclictest(line).is_some()).count();
    samples >= 2 && 2 * samples > lines.len()
}

/// Reads a text for which [`holds_samples`].
pub(super) fn read_samples(bytes: &[u8], path: &Path, wanted: &Columns) -> Result<Read, WorkloadError> {
    let place = Place(path);
    let (unit, unit_by) =
        wanted.unit.map_or((Unit::Us, "as the writer has it"), |unit| (unit, "as you said"));
    let mut trace = Trace::default();
    for (index, line) in text(bytes).lines().enumerate() {
        if index % 4096 == 0 {
            source::check_stop()?;
        }
        let Some((_, latency)) = cyclictest(line) else { continue };
        let at = |problem| place.row(index as u64 + 1, 1, problem);
        let number = Number::parse(latency.as_bytes(), Style::POINT).map_err(at)?;
        let ps = time_ps(&number, latency.as_bytes(), unit).map_err(at)?;
        trace.push(b"all", index as u64 + 1, ps).map_err(at)?;
    }
    let mut notes = vec!["with `-N` cyclictest prints ns: then say `--unit ns`".to_owned()];
    notes.extend(trace.replace_zeros(unit.ps(), &place)?);
    let taken = Taken {
        format: "the samples of cyclictest".to_owned(),
        unit: Some(unit),
        unit_by,
        values: trace.ps.len() as u64,
        ..Taken::default()
    };
    Ok(Read { taken, data: Data::Trace(trace), notes })
}

/// The header of sockperf's full log.
const SOCKPERF: &str = "packet, txTime(sec), rxTime(sec), latency(usec)";

/// Is this the full log of sockperf, a row a packet below its report?
pub(super) fn holds_packets<'a>(mut lines: impl Iterator<Item = &'a [u8]>) -> bool {
    lines.any(|line| text(line).trim() == SOCKPERF)
}

/// Reads a text for which [`holds_packets`].
pub(super) fn read_packets(bytes: &[u8], path: &Path, wanted: &Columns) -> Result<Read, WorkloadError> {
    let text = text(bytes);
    let rows =
        text.lines().skip_while(|line| line.trim() != SOCKPERF).take_while(|line| !line.starts_with("---"));
    // The lines above are kept blank, so that a mistake is pointed at where it is.
    let above = text.lines().take_while(|line| line.trim() != SOCKPERF).count();
    let table = format!("{}{}\n", "\n".repeat(above), rows.collect::<Vec<_>>().join("\n"));
    let mut read = table::read_service_table(Source::of_bytes(table.as_bytes()), path, wanted)?;
    read.taken.format = "the full log of sockperf".to_owned();
    Ok(read)
}

/// Is this `real`, `user` and `sys`, as a shell's `time` prints them?
pub(super) fn holds_shell_times<'a>(lines: impl Iterator<Item = &'a [u8]>) -> bool {
    let names: Vec<String> = lines
        .take(400)
        .map(text)
        .filter_map(|line| Some(line.split_whitespace().next()?.to_owned()))
        .collect();
    let of = |name: &str| names.iter().filter(|found| *found == name).count();
    of("real") > 0 && of("real") == of("user") && of("real") == of("sys") && 3 * of("real") == names.len()
}

/// The elapsed times of such a text, a line each.
pub(super) fn elapsed(bytes: &[u8]) -> String {
    let text = text(bytes);
    let real = text.lines().filter_map(|line| line.trim().strip_prefix("real"));
    let in_seconds = |time: &str| match time.trim().split_once('m') {
        // `0m0.011s`; others print seconds alone.
        Some((minutes, seconds)) => {
            let (minutes, seconds) =
                (minutes.parse::<f64>().ok()?, seconds.trim_end_matches('s').replace(',', "."));
            Some(60.0 * minutes + seconds.parse::<f64>().ok()?)
        }
        None => time.trim().trim_end_matches('s').replace(',', ".").parse().ok(),
    };
    let lines = real.filter_map(in_seconds).map(|seconds| format!("{seconds:.3}\n"));
    format!("real_s\n{}", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_have_a_thread_and_a_number() {
        assert_eq!(cyclictest("       0:      12:      71"), Some(("0", "71")));
        for line in ["12:30:05", "0: 1", "0: 1: 2: 3", "a: 1: 2", "0: : 2", ""] {
            assert_eq!(cyclictest(line), None, "{line}");
        }
    }
}
