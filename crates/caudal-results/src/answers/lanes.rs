//! A search for lanes in its directory: what it depends on, its answer, its rows, its policy and its report. `caudal lanes` writes it,
//! `caudal report` makes the report anew.

#[cfg(feature = "host")]
use std::path::Path;

use caudal_config::Metric as Of;
use caudal_report::chart::{Axis, Chart, Level, Mark, Plot, Point, Series, Spread, Unit};
use caudal_report::{Answer, PlainTable, Report};
use caudal_tune::lanes::{JudgedSystem, LanesAnswer, LanesQuestion, Step};
use caudal_tune::spelled;
#[cfg(feature = "host")]
use serde::{Deserialize, Serialize};
#[cfg(feature = "host")]
use serde_json::{Value, json};

pub use super::lane_classes::classes;
use super::lane_table::{DRIFT_HEAD, drift_cells};
pub use super::lane_table::{HEAD, cells, drifts, few, meanings};
use crate::describe::counted;
#[cfg(feature = "host")]
use crate::error::ResultsError;
#[cfg(feature = "host")]
use crate::files::{json_lines, write_whole};
#[cfg(feature = "host")]
use crate::meta::{digest, digests};
use crate::table::{digits, time};

/// The report of `answer`; `command` is the one that asks the same again.
#[must_use]
pub fn report(question: &LanesQuestion, answer: &LanesAnswer, command: &str) -> Report {
    let servers = match question.contexts {
        Some(_) => format!("{} of a core", counted(question.cores as usize, "context")),
        None => counted(question.cores as usize, "server"),
    };
    let mut tables = Vec::new();
    if !answer.judged.is_empty() {
        tables.push(systems(question, answer));
        tables.extend(classes(answer));
    }
    tables.extend(drift_table(question, answer));
    tables.push(path(question, answer));
    let mut charts = Vec::new();
    charts.extend(tails(&answer.judged));
    charts.push(services(question, answer));
    charts.extend(search(question, &answer.steps));
    let summary = &answer.summary;
    Report {
        title: format!("Caudal lanes: {}", question.workload_name),
        question: format!(
            "Which lanes keep the {} of {} shortest on {servers} at load {}?",
            question.target, question.workload_name, question.load
        ),
        answer: Some(Answer {
            headline: summary.run.clone(),
            facts: summary.facts.iter().map(|fact| (fact.about.to_owned(), fact.text.clone())).collect(),
            few: (!answer.judged.is_empty()).then(|| few_lines(question, answer)),
            sentences: summary.why.clone(),
            more: answer.explanation.clone(),
            policy_toml: if answer.layout.lanes() > 1 { answer.policy_toml.clone() } else { String::new() },
            ..Answer::default()
        }),
        config_toml: format!("# {command}\n"),
        provenance: vec![
            ("version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
            ("seed".to_owned(), question.measure.seed.to_string()),
            ("simulated requests".to_owned(), answer.simulated.to_string()),
        ],
        tables,
        charts: Some(charts),
        ..Report::default()
    }
}

/// The few systems that the command prints.
fn few_lines(question: &LanesQuestion, answer: &LanesAnswer) -> PlainTable {
    let table = few(question, answer);
    let note = meanings(question, &table.lines().join("\n"));
    let (head, lines) = table.cells();
    PlainTable { title: String::new(), note, head, lines, marked: vec![0] }
}

fn systems(question: &LanesQuestion, answer: &LanesAnswer) -> PlainTable {
    let target = question.target.to_string();
    PlainTable {
        title: "Systems on fresh requests".to_owned(),
        note: "All at the same load and the same cost of a preemption.".to_owned(),
        head: HEAD.map(|head| if head.is_empty() { target.clone() } else { head.to_owned() }).to_vec(),
        lines: answer.judged.iter().map(|judged| cells(question, judged)).collect(),
        marked: vec![0],
    }
}

/// The worth of the lanes when the workload is another one.
fn drift_table(question: &LanesQuestion, answer: &LanesAnswer) -> Option<PlainTable> {
    let halves = answer.drifts.iter().any(|drift| drift.halves);
    (!answer.drifts.is_empty()).then(|| PlainTable {
        title: "When the workload changes".to_owned(),
        note: format!(
            "The {} with the lanes of the answer, with one queue, and with lanes that were made for the other workload; the \
             ratio is that of the same requests{}.",
            question.target,
            if halves { ", of measured values that lanes made for it were not fitted to" } else { "" }
        ),
        head: DRIFT_HEAD.map(ToOwned::to_owned).to_vec(),
        lines: answer.drifts.iter().map(|drift| drift_cells(question, drift)).collect(),
        marked: Vec::new(),
    })
}

/// The way to the answer, step by step.
fn path(question: &LanesQuestion, answer: &LanesAnswer) -> PlainTable {
    let target = |value: Option<f64>| match value {
        Some(value) if question.target.metric == Of::Slowdown => digits(value),
        Some(value) => time(value),
        None => "–".to_owned(),
    };
    let line = |(number, step): (usize, &Step)| {
        let leader = step.leader.as_ref();
        let of = leader.and_then(|leader| step.tried.iter().find(|tried| tried.layout == *leader));
        let refused = step.tried.iter().filter(|tried| tried.refused.is_some()).count();
        vec![
            format!("{number}. {}", step.kind.name()),
            leader.map_or("–".to_owned(), ToString::to_string),
            target(of.and_then(|tried| tried.target)),
            of.and_then(|tried| tried.slowdown).map_or("–".to_owned(), digits),
            step.tried.len().to_string(),
            refused.to_string(),
            if step.taken { "yes" } else { "no" }.to_owned(),
        ]
    };
    PlainTable {
        title: "The search".to_owned(),
        note: "Each step races all layouts that one move leads to, on the same requests. It is taken if the best of them is \
               certainly better; layouts with a lane that would be nearly or more than full are not simulated."
            .to_owned(),
        head: ["step", "best of it", &question.target.to_string(), "p99.9 slowdown", "tried", "of them full", "taken"]
            .map(ToOwned::to_owned)
            .to_vec(),
        marked: answer.steps.iter().enumerate().filter(|(_, step)| step.taken).map(|(at, _)| at).collect(),
        lines: answer.steps.iter().enumerate().map(line).collect(),
    }
}

/// Latency by percentile.
fn tails(judged: &[JudgedSystem]) -> Option<Chart> {
    let series = |(at, judged): (usize, &JudgedSystem)| {
        let point = |(percentile, estimate): &(f64, caudal_stats::Estimate)| {
            let point = Point::new(1.0 - percentile / 100.0, estimate.estimate);
            let interval = (estimate.low.is_finite() && estimate.high.is_finite())
                .then_some((estimate.low, estimate.high));
            (!estimate.is_missing()).then_some(Point {
                y_interval: interval,
                note: caudal_stats::percentile_label(*percentile),
                ..point
            })
        };
        let points: Vec<Point> = judged.row.latency_ns.percentiles.iter().filter_map(point).collect();
        Series { emphasis: at == 0, ..Series::line(spelled(&judged.system), points) }
    };
    let x = Axis::new("Share of requests that are slower", Unit::Percent, Spread::Log);
    let y = Axis::new("Latency", Unit::Nanoseconds, Spread::Log);
    let mut plot = Plot::new("", x, y);
    plot.series = judged.iter().filter(|judged| !judged.row.overloaded).enumerate().map(series).collect();
    (!plot.series.is_empty()).then(|| {
        let note = "The tail is to the left: at 0.01 stands the p99, at 0.001 the p99.9.";
        Chart::single("Latency by percentile", note, vec![plot])
    })
}

/// The service times, with the ends of the lanes.
fn services(question: &LanesQuestion, answer: &LanesAnswer) -> Chart {
    const PARTS: i32 = 120;
    let service = &question.workload.service;
    let (low, high) = (service.quantile(0.001).max(1) as f64, service.quantile(0.9999) as f64);
    let at = |part: i32| low / 2.0 * (4.0 * high / low).powf(f64::from(part) / f64::from(PARTS));
    let point = |part: i32| {
        let ps = at(part);
        Point::new(ps / 1e3, 1.0 - service.cdf(ps as u64))
    };
    let points = (0..=PARTS).map(point).filter(|point| point.y > 0.0).collect();
    let x = Axis::new("Service time", Unit::Nanoseconds, Spread::Log);
    let y = Axis::new("Share of requests that are longer", Unit::Percent, Spread::Log);
    let mut plot = Plot::new("", x, y).with(Series::line("service times", points));
    plot.uprights = answer
        .layout
        .cutoffs
        .iter()
        .map(|end| Level { at: end.0 as f64 / 1e3 / question.stretch(), label: spelled(&end.to_string()) })
        .collect();
    Chart::single("Service times and the ends of lanes", "", vec![plot])
}

/// The layouts that each step tried, and the one that it took.
fn search(question: &LanesQuestion, steps: &[Step]) -> Option<Chart> {
    let (mut all, mut taken) = (Vec::new(), Vec::new());
    for (number, step) in steps.iter().enumerate() {
        let x = number as f64;
        for tried in &step.tried {
            let Some(value) = tried.target else { continue };
            let point = Point { note: tried.layout.to_string(), ..Point::new(x, value) };
            if step.taken && step.leader.as_ref() == Some(&tried.layout) {
                taken.push(point.clone());
            }
            all.push(point);
        }
    }
    let unit = if question.target.metric == Of::Slowdown { Unit::Times } else { Unit::Nanoseconds };
    let y = Axis::new(question.target.to_string(), unit, Spread::Log);
    let tried = Series { mark: Mark::Points, ..Series::line("tried", all) };
    let best = Series { emphasis: true, ..Series::line("taken", taken) };
    let plot = Plot::new("", Axis::new("Step", Unit::Plain, Spread::Linear), y).with(tried).with(best);
    let note =
        "Layouts that fall behind early are dropped after a few replications, so their values are rough.";
    (steps.len() > 1).then(|| Chart::single("The search, step by step", note, vec![plot]))
}

/// File of the directory with the answer.
pub const ANSWER: &str = "lanes.json";
/// File of the directory with what the report says.
#[cfg(feature = "host")]
const REPORT: &str = "report.json";

/// Writes the answer into its directory: rows, answer, report and policy. `command` is the one that asks the same again.
///
/// # Errors
/// If a file can not be written.
#[cfg(feature = "host")]
pub fn write(
    dir: &Path,
    question: &LanesQuestion,
    answer: &LanesAnswer,
    command: &str,
) -> Result<(), ResultsError> {
    let rows: Vec<_> = answer.judged.iter().map(|judged| &judged.row).collect();
    write_whole(&dir.join("rows.jsonl"), &json_lines(&rows)?)?;
    write_whole(&dir.join(ANSWER), &(serde_json::to_string_pretty(answer)? + "\n"))?;
    let report = report(question, answer, command);
    let kept = KeptReport { charts: report.charts.clone(), report };
    write_whole(&dir.join(REPORT), &(serde_json::to_string_pretty(&kept)? + "\n"))?;
    write_whole(&dir.join("report.html"), &kept.whole().to_html())?;
    if answer.layout.lanes() > 1 {
        write_whole(&dir.join("policy.toml"), &answer.policy_toml)
    } else {
        Ok(())
    }
}

/// A report with its charts, which a report by itself leaves out where it is kept.
#[derive(Serialize, Deserialize)]
#[cfg(feature = "host")]
struct KeptReport {
    report: Report,
    charts: Option<Vec<Chart>>,
}

#[cfg(feature = "host")]
impl KeptReport {
    fn whole(self) -> Report {
        Report { charts: self.charts, ..self.report }
    }
}

/// Writes the report of the search in `dir` anew.
///
/// # Errors
/// If what it says is not there, or not as this version writes it.
#[cfg(feature = "host")]
pub fn write_report(dir: &Path) -> Result<(), ResultsError> {
    let path = dir.join(REPORT);
    let wrong = |problem: &dyn std::fmt::Display| ResultsError::Report {
        path: path.clone(),
        problem: problem.to_string(),
    };
    let text = std::fs::read_to_string(&path).map_err(|error| wrong(&error))?;
    let kept: KeptReport = serde_json::from_str(&text).map_err(|error| wrong(&error))?;
    write_whole(&dir.join("report.html"), &kept.whole().to_html())
}

/// Everything that an answer depends on, by what users call it.
///
/// # Errors
/// If a file of a workload can not be read any more.
#[cfg(feature = "host")]
pub fn asked(question: &LanesQuestion) -> Result<Vec<(String, Value)>, ResultsError> {
    let LanesQuestion { workload, also, costs, .. } = question;
    let measure = serde_json::to_value(&question.measure)?;
    let specs = json!([workload.service_spec, workload.arrival_spec, question.workload_name, measure]);
    let also: Vec<String> = also.iter().map(ToString::to_string).collect();
    let drifts: Vec<Value> = question
        .drifts
        .iter()
        .map(|drift| {
            json!([drift.name, drift.load, drift.workload.service_spec, drift.workload.arrival_spec])
        })
        .collect();
    let mut asked: Vec<(String, Value)> = vec![
        ("the workload".to_owned(), digest(specs.to_string().as_bytes()).into()),
        ("the target".to_owned(), question.target.to_string().into()),
        ("--also".to_owned(), also.into()),
        ("--policy".to_owned(), question.family.name().into()),
        ("--cores".to_owned(), question.cores.into()),
        ("--contexts".to_owned(), json!(question.contexts)),
        ("the load or rate".to_owned(), question.load.into()),
        ("--reservations".to_owned(), json!(question.reservations)),
        ("--max-lanes".to_owned(), question.lanes_max.into()),
        ("the costs".to_owned(), serde_json::to_value(costs)?),
        ("--check-against".to_owned(), drifts.into()),
        ("the budget".to_owned(), question.budget.requests.into()),
        ("--quick".to_owned(), question.quick.into()),
    ];
    asked.extend(digests(&workload.files)?);
    for drift in &question.drifts {
        asked.extend(digests(&drift.workload.files)?);
    }
    Ok(asked)
}
