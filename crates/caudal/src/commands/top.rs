//! `caudal top`: what a running runtime does, live in a terminal, or as a table or JSON lines. It connects to the runtime's socket, and
//! asks for a sample once an interval; it writes a file only for `--hlog` and `--timeline`.

mod lines;
mod live;
mod pick;
mod view;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use caudal_observe::Metric;
use caudal_observe::socket::{AskError, Client};
use caudal_policy::Picos;
use caudal_rt::stats::Snapshot;
use clap::{Args, ValueEnum};
use miette::{IntoDiagnostic, miette};

use self::pick::Picked;
use crate::exit::Failure;
use crate::global::Global;
use caudal_results::ResultsError;
use caudal_results::files::{writable, write_whole};

#[derive(Args, Debug)]
pub(crate) struct TopArgs {
    /// The runtime: its process number, or its name [default: list them]
    runtime: Option<String>,
    /// Length of each sample
    #[arg(long, short, value_name = "TIME", value_parser = interval, default_value = "1s", allow_hyphen_values = true)]
    interval: Duration,
    /// Print one sample as a table, and end
    #[arg(long)]
    once: bool,
    /// Print everything since its start in Prometheus' text format, and end
    #[arg(long, conflicts_with_all = ["once", "hlog", "timeline"])]
    prometheus: bool,
    /// Write the times since its start as an HdrHistogram log, which `caudal plan --workload` reads, and end
    #[arg(long, value_name = "FILE", conflicts_with_all = ["once", "timeline"])]
    hlog: Option<PathBuf>,
    /// The times that --hlog is to hold
    #[arg(long, value_name = "TIMES", default_value = "service", requires = "hlog")]
    of: Times,
    /// Record a timeline for Perfetto, and end
    #[arg(long, value_name = "FILE", conflicts_with = "once")]
    timeline: Option<PathBuf>,
    /// How long the timeline is, at most 1s
    #[arg(long, value_name = "TIME", value_parser = window, default_value = "100ms", requires = "timeline", allow_hyphen_values = true)]
    window: Duration,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Times {
    /// Time on a worker
    Service,
    /// From arrival to completion
    Sojourn,
    /// From arrival to start
    Queueing,
    /// In critical sections
    Sections,
}

impl From<Times> for Metric {
    fn from(times: Times) -> Metric {
        match times {
            Times::Service => Metric::Service,
            Times::Sojourn => Metric::Sojourn,
            Times::Queueing => Metric::Queueing,
            Times::Sections => Metric::Sections,
        }
    }
}

fn span(text: &str, range: std::ops::RangeInclusive<Duration>, instead: &str) -> Result<Duration, String> {
    let span = Picos::parse(text).map(|time| Duration::from_nanos(time.0 / 1_000));
    span.ok().filter(|span| range.contains(span)).ok_or_else(|| instead.to_owned())
}

fn interval(text: &str) -> Result<Duration, String> {
    let range = Duration::from_millis(100)..=Duration::from_secs(3600);
    span(text, range, "write a time from 100ms to 3600s, such as 1s")
}

fn window(text: &str) -> Result<Duration, String> {
    let range = Duration::from_millis(1)..=caudal_rt::stats::WINDOW_MAX;
    span(text, range, "write a time from 1ms to 1s, such as 100ms")
}

pub(crate) fn run(args: &TopArgs, global: &Global) -> miette::Result<ExitCode> {
    let Some(runtime) = &args.runtime else {
        pick::list(global)?;
        return Ok(ExitCode::SUCCESS);
    };
    let Picked { id, mut client } = pick::pick(runtime)?;
    let done = if args.prometheus {
        client.prometheus().map(|text| out!("{text}")).map_err(|error| failed(&id, &error))
    } else if let Some(path) = &args.hlog {
        write_hlog(&mut client, &id, args.of.into(), path)
    } else if let Some(path) = &args.timeline {
        write_timeline(&mut client, &id, args.window, path)
    } else if args.once || global.json {
        print(args, global, client, &id)
    } else {
        live::run(client, &id, args.interval, global)
    };
    done.map(|()| ExitCode::SUCCESS)
}

/// An error between us and the runtime.
fn failed(id: &str, error: &AskError) -> miette::Report {
    Failure(format!("{id}: {error}")).into()
}

fn write_hlog(client: &mut Client, id: &str, of: Metric, path: &Path) -> miette::Result<()> {
    writable(path)?;
    let log = client.hlog(of).map_err(|error| failed(id, &error))?;
    write_whole(path, &log)?;
    errln!("wrote {}", path.display());
    Ok(())
}

fn write_timeline(client: &mut Client, id: &str, window: Duration, path: &Path) -> miette::Result<()> {
    writable(path)?;
    let (trace, lost) = client.timeline(window).map_err(|error| failed(id, &error))?;
    std::fs::write(path, trace).map_err(|error| ResultsError::write(path, &error))?;
    let lost = match lost {
        0 => String::new(),
        lost => format!("; {lost} events of it found no room: ask for a shorter --window"),
    };
    errln!("wrote {}: open it at ui.perfetto.dev{lost}", path.display());
    Ok(())
}

/// Samples printed one after the other: with `--once` the first only.
fn print(args: &TopArgs, global: &Global, mut client: Client, id: &str) -> miette::Result<()> {
    let mut last = client.snapshot().map_err(|error| failed(id, &error))?;
    while wait(args.interval, global) {
        let now = match client.snapshot() {
            Ok(now) => now,
            Err(AskError::Gone) if !args.once => {
                errln!("{}", gone(&last));
                return Ok(());
            }
            Err(error) => return Err(failed(id, &error)),
        };
        let sample = now.since(&last);
        if global.json {
            outln!("{}", serde_json::to_string(&lines::json(id, &sample)).into_diagnostic()?);
        } else {
            out!("{}", lines::tables(&sample));
        }
        if args.once {
            return Ok(());
        }
        last = now;
    }
    Ok(())
}

/// The last words when the process has ended.
fn gone(last: &Snapshot) -> String {
    format!("{} ({}) is gone", last.runtime.name, last.runtime.pid)
}

/// Waits; `false` when we are to stop.
fn wait(span: Duration, global: &Global) -> bool {
    let begun = Instant::now();
    while !global.stop.load(Relaxed) {
        let left = span.saturating_sub(begun.elapsed());
        if left.is_zero() {
            return true;
        }
        std::thread::sleep(left.min(Duration::from_millis(50)));
    }
    false
}

/// Where stdout is no terminal there is nothing to draw on.
fn no_terminal() -> miette::Report {
    miette!(help = "say --once for a table, or --json for a line each --interval", "stdout is no terminal")
}
