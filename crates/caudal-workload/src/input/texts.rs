//! Texts of tools that are known by what they print: those that hold no times of requests, with what to do instead, and those
//! that hold times in a way of their own: `cyclictest -v`, the full log of sockperf.

use std::path::Path;

use super::number::{Number, Style};
use super::source::Source;
use super::unit::Unit;
use super::{Columns, Data, Place, Read, Taken, Trace, source, table, text, time_ps};
use crate::error::WorkloadError;

/// A text that holds no times of requests.
struct Summary {
    /// What one of its lines begins with, and holds somewhere behind that.
    begins: &'static str,
    holds: &'static str,
    /// What it is, and what to do.
    advice: &'static str,
}

/// Texts that sum up.
const SUMMARIES: [Summary; 9] = [
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
];

/// Why a text holds no times of requests, if it is one that is known.
pub(super) fn summary<'a>(lines: impl Iterator<Item = &'a [u8]>) -> Option<&'static str> {
    let lines: Vec<String> = lines.take(400).map(|line| text(line).trim().to_owned()).collect();
    let is_of = |summary: &&Summary| {
        let begins = |line: &String| {
            line.strip_prefix(summary.begins).is_some_and(|rest| rest.contains(summary.holds))
        };
        lines.iter().any(begins)
    };
    SUMMARIES.iter().find(is_of).map(|summary| summary.advice)
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

/// What stands above the rows of sockperf's full log.
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
