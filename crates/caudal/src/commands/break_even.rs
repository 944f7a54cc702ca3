//! `caudal break-even FILE`: how many hardware contexts of a core are best at which rate. The command's main calls `run` with the
//! arguments. It reads FILE, simulates, keeps a journal in the results directory, and writes the profile there.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use caudal_config::{ContextsConfig, File, LatencyStatistic, Metric, Options, Point, System, write_policy};
use caudal_policy::Picos;
use caudal_report::chart::{Axis, Chart, Level, Plot, Point as Dot, Series, Spread, Unit};
use caudal_report::{Answer, Report};
use caudal_tune::break_even::{Curve, Profile, ProfileQuestion, profile};
use caudal_tune::{Control, TuneError};
use clap::Args;
use miette::{IntoDiagnostic, miette};
use serde_json::{Value, json};

use super::journal::open_journal;
use crate::exit::Interrupted;
use crate::global::Global;
use crate::progress::ProgressLine;
use caudal_results::describe::{self, counted};
use caudal_results::files::{writable, write_whole};
use caudal_results::table::{Table, digits, estimate, time};
use caudal_results::{Meta, digest, digests};

/// Where it goes without `--out`.
const OUT: &str = "caudal-break-even";

#[derive(Args, Debug)]
pub(crate) struct BreakEvenArgs {
    /// A file with one workload and one system of cores with `contexts`
    file: PathBuf,
    /// Change a key of the file, as in --set system.contexts.count=4
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// The statistic to keep short, as in 'p99', 'get p99.9' or 'p99.9 slowdown'
    #[arg(long, short, default_value = "p99", value_name = "STATISTIC", value_parser = LatencyStatistic::parse)]
    target: LatencyStatistic,
    /// Numbers of contexts to choose among [default: 1, 2, 4, ... up to all]
    #[arg(long, value_delimiter = ',', value_name = "N,...")]
    counts: Vec<u32>,
    /// How long arrivals are counted before the table is applied
    #[arg(long, value_name = "TIME", value_parser = Picos::parse, default_value = "5ms", allow_hyphen_values = true)]
    window: Picos,
    /// Keep everything in this directory, and go on there if it has a part of this profile already [default:
    /// caudal-break-even; caudal-break-even-2, ... if that has another one]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write the policy file, with the table, here as well
    #[arg(long, value_name = "FILE")]
    policy_file: Option<PathBuf>,
}

pub(crate) fn run(args: &BreakEvenArgs, global: &Global) -> miette::Result<ExitCode> {
    let options = Options { overrides: args.set.clone(), ..Options::default() };
    let point = one(&File::read_with(&args.file, &options)?)?;
    let question = ProfileQuestion {
        workload: &point.workload,
        system: &point.system,
        costs: &point.costs,
        counts: if args.counts.is_empty() { powers(&point.system) } else { args.counts.clone() },
        window: args.window,
        target: &args.target,
        measure: &point.measure,
        quick: global.quick,
    };
    args.policy_file.as_deref().map_or(Ok(()), writable)?;
    let meta =
        Meta { command: "break-even", seed: point.measure.seed, points: None, asked: asked(&question)? };
    let (dir, kept) = open_journal(args.out.as_ref(), OUT, &meta)?;
    let bar = ProgressLine::new(global, 100, "profiling");
    let all = question.requests_about();
    let progress = |progress: caudal_tune::Progress| {
        bar.requests(progress.requests);
        let done = kept.recalled() + bar.requests_done();
        bar.set_done((100.0 * done as f64 / all as f64).min(99.0) as u64);
    };
    let control = Control { threads: global.threads, stop: &global.stop, progress: &progress };
    let found = profile(&question, &control, &kept);
    bar.finish();
    let found = found.map_err(|error| match error {
        TuneError::Interrupted => Interrupted(": nothing is known yet".to_owned()).into(),
        error => miette!("{error}"),
    })?;
    // What there is comes first, whatever goes wrong after it.
    if global.json {
        outln!("{}", serde_json::to_string(&found).into_diagnostic()?);
    } else {
        out!("{}", shown(&args.target, &found));
    }
    kept.written()?;
    if found.interrupted {
        let so_far = format!(
            ": {} of the curves {} done; the same command goes on from {}",
            counted(found.curves[0].points.len(), "rate"),
            if found.curves[0].points.len() == 1 { "is" } else { "are" },
            dir.display()
        );
        return Err(Interrupted(so_far).into());
    }
    args.write(&dir, &point, &found)?;
    errln!("wrote {}", dir.join("report.html").display());
    Ok(ExitCode::SUCCESS)
}

impl BreakEvenArgs {
    fn write(&self, dir: &Path, point: &Point, found: &Profile) -> miette::Result<()> {
        let policy = policy(point, found, &self.target);
        let json = serde_json::to_string_pretty(found).into_diagnostic()?;
        write_whole(&dir.join("break-even.json"), &(json + "\n"))?;
        write_whole(&dir.join("policy.toml"), &policy)?;
        write_whole(&dir.join("report.html"), &report(self, point, found, policy.clone()).to_html())?;
        Ok(self.policy_file.as_deref().map_or(Ok(()), |path: &Path| write_whole(path, &policy))?)
    }
}

/// Everything that a profile depends on.
fn asked(question: &ProfileQuestion<'_>) -> miette::Result<Vec<(String, Value)>> {
    let ProfileQuestion { workload, system, costs, counts, window, target, measure, quick } = question;
    let measure = serde_json::to_value(measure).into_diagnostic()?;
    let specs = json!([workload.service_spec, workload.arrival_spec, measure]);
    let written = write_policy(system, costs, "");
    let mut asked: Vec<(String, Value)> = vec![
        ("the workload".to_owned(), digest(specs.to_string().as_bytes()).into()),
        ("the system".to_owned(), digest(written.as_bytes()).into()),
        ("--counts".to_owned(), json!(counts)),
        ("--window".to_owned(), window.to_string().into()),
        ("the target".to_owned(), target.to_string().into()),
        ("--quick".to_owned(), (*quick).into()),
    ];
    asked.extend(digests(&workload.files)?);
    Ok(asked)
}

/// The only point of `file`, whatever its load.
fn one(file: &File) -> miette::Result<Point> {
    let points = file.points()?;
    match <[Point; 1]>::try_from(points) {
        Ok([point]) => Ok(point),
        Err(points) => Err(miette!(
            help = "leave one system, and one number of each list, as in --set workload.load=0.5",
            "the file asks for {} points, one core of one system is profiled",
            points.len()
        )),
    }
}

/// 1, 2, 4, ... and all.
fn powers(system: &System) -> Vec<u32> {
    let most = system.contexts.as_ref().map_or(1, |contexts| contexts.count);
    let below = (0..5).map(|power| 1 << power).take_while(|&count| count < most);
    below.chain([most]).collect()
}

fn policy(point: &Point, found: &Profile, target: &LatencyStatistic) -> String {
    let contexts = point.system.contexts.clone().unwrap_or_default();
    let contexts = ContextsConfig { adaptation: found.adaptation, ..contexts };
    let system = System { contexts: Some(contexts), ..point.system.clone() };
    write_policy(
        &system,
        &point.costs,
        &format!("As many contexts as keep the {target} shortest at each rate."),
    )
}

fn value(target: &LatencyStatistic, ns: f64) -> String {
    match target.metric {
        Metric::Slowdown => digits(ns),
        Metric::Latency | Metric::Wait => time(ns),
    }
}

/// `1.25 M/s`
fn rate(per_s: f64) -> String {
    Unit::PerSecond.show(per_s)
}

/// The best number of contexts, in a sentence a stretch of rates.
fn sentences(found: &Profile) -> Vec<String> {
    let Some(adaptation) = &found.adaptation else { return Vec::new() };
    let best = &adaptation.contexts;
    let contexts = |count: u32| format!("{count} context{}", if count == 1 { "" } else { "s" });
    if best.len() == 1 {
        return vec![format!("{} at all rates.", contexts(best[0]))];
    }
    let ends = |per_s: &caudal_stats::Estimate| {
        let low = (per_s.low > 0.0).then(|| format!("certainly not before {}", rate(per_s.low)));
        let high = per_s.high.is_finite().then(|| format!("certainly from {} on", rate(per_s.high)));
        let both: Vec<String> = [low, high].into_iter().flatten().collect();
        if both.is_empty() { String::new() } else { format!(" ({})", both.join(", ")) }
    };
    let step = |it: &caudal_tune::break_even::BreakEven| {
        format!("{} from {} a core on{}.", contexts(it.to), rate(it.per_s.estimate), ends(&it.per_s))
    };
    std::iter::once(format!("{} at low rates.", contexts(best[0])))
        .chain(found.break_even.iter().map(step))
        .collect()
}

fn shown(target: &LatencyStatistic, found: &Profile) -> String {
    let mut head = vec![format!("{target} of a core at")];
    head.extend(found.curves.iter().map(|curve| format!("{} active", curve.contexts)));
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let mut table = Table::new(&head);
    for (at, point) in found.curves[0].points.iter().enumerate() {
        let cell = |curve: &Curve| match &curve.points[at] {
            point if point.overloaded => "overload".to_owned(),
            point => estimate(&point.target, |ns| value(target, ns)),
        };
        let mut row = vec![rate(point.rate_per_s)];
        row.extend(found.curves.iter().map(cell));
        table.row(row);
    }
    if found.interrupted {
        return format!("{table}\n");
    }
    let adaptation = serde_json::to_value(found.adaptation).unwrap_or_default();
    format!(
        "{table}\n{}\n\nadaptation = {{ window = {}, contexts = {}, break_even_per_s = {} }}\n",
        sentences(found).join("\n"),
        adaptation["window"],
        adaptation["contexts"],
        adaptation["break_even_per_s"]
    )
}

fn report(args: &BreakEvenArgs, point: &Point, found: &Profile, policy_toml: String) -> Report {
    let unit = match args.target.metric {
        Metric::Slowdown => Unit::Times,
        Metric::Latency | Metric::Wait => Unit::Nanoseconds,
    };
    let across = Axis::new("Requests of a core", Unit::PerSecond, Spread::Linear);
    let mut plot = Plot::new("", across, Axis::new(args.target.to_string(), unit, Spread::Log));
    for curve in &found.curves {
        let dot = |point: &caudal_tune::break_even::LoadPoint| {
            Dot::new(point.rate_per_s, point.target.estimate).within(point.target.low, point.target.high)
        };
        let carried = curve.points.iter().filter(|point| !point.overloaded);
        plot.series.push(Series::line(format!("{} active", curve.contexts), carried.map(dot).collect()));
    }
    let upright = |it: &caudal_tune::break_even::BreakEven| Level {
        at: it.per_s.estimate,
        label: format!("{} to {}", it.from, it.to),
    };
    plot.uprights = found.break_even.iter().map(upright).collect();
    let sentences = sentences(found);
    Report {
        title: "Caudal break-even: contexts of a core".to_owned(),
        question: format!(
            "How many of the {} of a core ({}) keep the {} of {} shortest at which rate?",
            counted(point.system.contexts.as_ref().map_or(1, |contexts| contexts.count) as usize, "context"),
            describe::system(&point.system),
            args.target,
            describe::service(&point.workload.service_spec),
        ),
        answer: Some(Answer {
            headline: sentences.join(" "),
            sentences: vec!["All numbers of contexts saw the same requests.".to_owned()],
            policy_toml,
            ..Answer::default()
        }),
        charts: Some(vec![Chart::single(
            format!("{} along the rate", args.target),
            "Lower is better. Dashed: where one number of contexts becomes better than the one before.",
            vec![plot],
        )]),
        provenance: vec![
            ("version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
            ("seed".to_owned(), point.measure.seed.to_string()),
            ("simulated requests".to_owned(), found.simulated.to_string()),
        ],
        ..Report::default()
    }
}
