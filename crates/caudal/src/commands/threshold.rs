//! `caudal threshold`: from how much work on tail-control gives a parallel request up, by the number of active requests.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use caudal_config::Rate;
use caudal_policy::Picos;
use caudal_policy::parallelism::thresholds::Knowledge;
use caudal_report::chart::{Axis, Chart, Level, Plot, Point as Dot, Series, Spread, Unit};
use caudal_report::{Answer, Report};
use caudal_tune::TuneError;
use caudal_tune::thresholds::{Binning, Row, ThresholdAnswer, ThresholdQuestion, thresholds};
use clap::Args;
use miette::{IntoDiagnostic, miette};

use super::arrives::Arrives;
use crate::exit;
use crate::global::Global;
use crate::numbers;
use crate::results::{make_dir, writable, write_whole};
use crate::table::{Table, digits, time};

/// Rows of the table that a terminal shows, at most.
const SHOWN: usize = 24;

#[derive(Args, Debug)]
pub(crate) struct ThresholdArgs {
    /// Work of the requests, run on one core: a workload's name, a file (.csv, .hlog, .hgrm), or a TOML file with a
    /// workload table
    #[arg(long, short, visible_alias = "workload", value_name = "NAME|FILE")]
    work_distribution: String,
    /// Shares of the classes of a file of service times, instead of the file's own
    #[arg(long, value_delimiter = ',', value_name = "CLASS=SHARE,...")]
    weights: Vec<String>,
    /// Target latency, as in 25ms
    #[arg(long, short, value_name = "TIME", value_parser = Picos::parse, allow_hyphen_values = true)]
    target: Picos,
    /// Requests that arrive, as in 1200/s
    #[arg(long, value_name = "RATE", value_parser = Rate::parse, allow_hyphen_values = true)]
    rate: Rate,
    /// Cores that a request can run on
    #[arg(long, default_value_t = 16, value_name = "N", value_parser = numbers::cores, allow_hyphen_values = true)]
    cores: u32,
    /// Share of each request's work that only one core can do at a time [default: what the workload's `dag` says, or none]
    #[arg(long, value_name = "SHARE", value_parser = numbers::share, allow_hyphen_values = true)]
    serial: Option<f64>,
    /// Bins of the work, equal on a logarithmic scale
    #[arg(long, default_value_t = 1_000, value_name = "N", value_parser = numbers::count, allow_hyphen_values = true)]
    bins: u32,
    /// Bins as the paper has them: equal ones, of which all requests count with the most work
    #[arg(long, value_name = "N", value_parser = numbers::count, allow_hyphen_values = true, conflicts_with = "bins")]
    paper_bins: Option<u32>,
    /// Rows of the table; the last one counts for more active requests as well
    #[arg(long, default_value_t = 200, value_name = "N", value_parser = numbers::count, allow_hyphen_values = true)]
    most_active: u32,
    /// Requests are known to be large when they arrive: a line to compare with
    #[arg(long)]
    clairvoyant: bool,
    /// Keep the table (thresholds.csv), its system (policy.toml), its numbers (threshold.json) and a report in this directory
    #[arg(long, default_value = "caudal-threshold", value_name = "DIR")]
    out: PathBuf,
    /// Write the table here as well: active,threshold_ns
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
    /// Write a file of the system that follows the table here as well
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
}

pub(crate) fn run(args: &ThresholdArgs, global: &Global) -> miette::Result<ExitCode> {
    let arrives = Arrives { workload: args.work_distribution.clone(), weights: args.weights.clone() };
    let (workload, _) = arrives.read()?;
    for finding in workload.service.findings() {
        errln!("note: {finding}");
    }
    for path in args.table.iter().chain(&args.policy) {
        writable(path)?;
    }
    let question = ThresholdQuestion {
        service: &workload.service,
        target: args.target,
        rate_per_s: args.rate.per_s(),
        cores: args.cores,
        binning: args.paper_bins.map_or(Binning::Log(args.bins), Binning::Paper),
        most_active: args.most_active,
        serial: args
            .serial
            .unwrap_or(workload.dag_spec.as_ref().map_or(0.0, |_| workload.service.dag().span())),
        knowledge: if args.clairvoyant { Knowledge::Clairvoyant } else { Knowledge::Processed },
    };
    let found = match thresholds(&question) {
        Err(unreachable @ TuneError::Unreachable(_)) => {
            outln!("{unreachable}");
            return Ok(ExitCode::from(exit::NO));
        }
        found => found.map_err(|error| miette!("{error}"))?,
    };
    if global.json {
        outln!("{}", serde_json::to_string(&found).into_diagnostic()?);
    } else {
        print(args, &found);
    }
    args.write(&question, &found)?;
    errln!("wrote {}", args.out.join("report.html").display());
    Ok(ExitCode::SUCCESS)
}

fn print(args: &ThresholdArgs, found: &ThresholdAnswer) {
    let changes: Vec<&Row> = found.changes().collect();
    let every = changes.len().div_ceil(SHOWN).max(1);
    let mut table = Table::new(&["active", "threshold", "larger requests", "expected misses"]);
    let last = changes.len() - 1;
    for (_, row) in changes.iter().enumerate().filter(|(at, _)| at % every == 0 || *at == last) {
        table.row(vec![
            row.active.to_string(),
            time(row.threshold_ns),
            format!("{:.3} %", 100.0 * row.large),
            row.misses.map_or_else(|| "no end".to_owned(), |misses| format!("{misses:.2}")),
        ]);
    }
    out!("{table}");
    outln!();
    for sentence in sentences(args, found) {
        outln!("{sentence}");
    }
}

fn sentences(args: &ThresholdArgs, found: &ThresholdAnswer) -> Vec<String> {
    let mut said = vec![format!(
        "{} requests/s of {} on average keep {} of {} cores busy.",
        digits(args.rate.per_s()),
        time(found.mean_ns.1),
        digits(found.busy),
        args.cores
    )];
    if let (Some(first), Some(last)) = (found.rows.first(), found.rows.last()) {
        said.push(format!(
            "A request is given up after {} of work when it is alone, after {} when {} are active or more.",
            time(first.threshold_ns),
            time(last.threshold_ns),
            found.changes().last().map_or(1, |row| row.active),
        ));
    }
    if found.hopeless > 0.0 {
        said.push(format!(
            "{:.3} % of the requests miss {} even alone on all cores.",
            100.0 * found.hopeless,
            args.target
        ));
    }
    if !found.is_monotone() {
        said.push(
            "The threshold does not fall throughout: where next to all active requests miss the target anyway, one more may \
             raise it."
                .to_owned(),
        );
    }
    said
}

impl ThresholdArgs {
    fn write(&self, question: &ThresholdQuestion<'_>, found: &ThresholdAnswer) -> miette::Result<()> {
        make_dir(&self.out)?;
        let csv = found.csv();
        write_whole(&self.out.join("thresholds.csv"), &csv)?;
        let json = serde_json::to_string_pretty(found).into_diagnostic()?;
        write_whole(&self.out.join("threshold.json"), &(json + "\n"))?;
        write_whole(&self.out.join("report.html"), &report(self, found).to_html())?;
        let policy = found.policy_toml(question);
        write_whole(&self.out.join("policy.toml"), &policy)?;
        for (path, text) in [(&self.table, &csv), (&self.policy, &policy)] {
            path.as_deref().map_or(Ok(()), |path: &Path| write_whole(path, text))?;
        }
        Ok(())
    }
}

/// Each threshold holds from its number of active requests to the next one's.
fn steps(rows: &[Row]) -> Vec<Dot> {
    let mut dots: Vec<Dot> = Vec::new();
    for row in rows {
        if let Some(before) = dots.last().map(|dot| dot.y).filter(|&before| before != row.threshold_ns) {
            dots.push(Dot::new(f64::from(row.active), before));
        }
        dots.push(Dot::new(f64::from(row.active), row.threshold_ns));
    }
    dots
}

fn report(args: &ThresholdArgs, found: &ThresholdAnswer) -> Report {
    // Beyond the last change there is a straight line.
    let end = found.changes().last().map_or(1, |row| row.active) as usize;
    let shown = &found.rows[..(end + end / 4 + 2).min(found.rows.len())];
    let across = Axis::new("Active requests", Unit::Count, Spread::Linear);
    let mut plot =
        Plot::new("", across.clone(), Axis::new("Large-request threshold", Unit::Nanoseconds, Spread::Log));
    plot.series.push(Series::line("threshold", steps(shown)));
    plot.levels.push(Level { at: args.target.as_nanos_f64(), label: format!("target {}", args.target) });
    let mut misses = Plot::new("", across, Axis::new("Expected misses", Unit::Plain, Spread::Log));
    let expected = shown.iter().filter_map(|row| Some(Dot::new(f64::from(row.active), row.misses?)));
    misses.series.push(Series::line("in a pile-up", expected.collect()));
    let said = sentences(args, found);
    Report {
        title: "Caudal threshold: when a parallel request is large".to_owned(),
        question: format!(
            "From how much work on is a request of {} run on one core, so that the fewest of {}/s miss {} on {} cores?",
            args.work_distribution,
            digits(args.rate.per_s()),
            args.target,
            args.cores
        ),
        answer: Some(Answer {
            headline: said.get(1).cloned().unwrap_or_default(),
            sentences: said
                .into_iter()
                .enumerate()
                .filter(|(at, _)| *at != 1)
                .map(|(_, text)| text)
                .collect(),
            policy_toml: String::new(),
            system: None,
        }),
        charts: Some(vec![
            Chart::single(
                "Threshold by active requests",
                "A request that has been processed for longer is not stolen from any more, and ends on the cores that it has.",
                vec![plot],
            ),
            Chart::single(
                "Expected misses",
                "Requests that are expected to miss the target until the pile-up is over that a large request began.",
                vec![misses],
            ),
        ]),
        provenance: vec![
            ("version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
            ("source".to_owned(), "Li et al., PPoPP 2016, section 4.1".to_owned()),
        ],
        ..Report::default()
    }
}
