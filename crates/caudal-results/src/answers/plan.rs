//! A plan in its directory: what it depends on, its answer, its rows, its policy and its report. `caudal plan` writes it, `caudal report`
//! makes the report anew.

#[cfg(feature = "host")]
use std::path::Path;

use caudal_config::{LatencyTarget, Limit, Statistic};
use caudal_report::{Answer, Counted, PlainTable, Reach, Report, RowMetric, TargetLine};
#[cfg(feature = "host")]
use caudal_row::Row;
use caudal_tune::{Goal, Machine, Plan, Question, spelled};
#[cfg(feature = "host")]
use serde_json::{Value, json};

pub use super::plan_table::{few, meanings};
#[cfg(feature = "host")]
use crate::error::ResultsError;
#[cfg(feature = "host")]
use crate::files::{json_lines, write_whole};
#[cfg(feature = "host")]
use crate::meta::{digest, digests};

/// The report of `plan`; `command` is the one that asks the same again.
#[must_use]
pub fn report(question: &Question, plan: &Plan, command: &str) -> Report {
    let targets: Vec<String> = question.targets.iter().map(|target| spelled(&target.to_string())).collect();
    let on = question.machine;
    let (asks, within) = match question.goal {
        Goal::HighestLoad => (format!("Which system carries the most load of {on}"), targets.join(" and ")),
        Goal::FewestCores(_) => (format!("Which system needs the fewest of {on}"), targets.join(" and ")),
    };
    let summary = &plan.summary;
    Report {
        title: format!("Caudal plan: {}", question.workload_name),
        question: format!("{asks} for {} within {within}?", question.workload_name),
        answer: Some(Answer {
            headline: summary.run.clone(),
            facts: summary.facts.iter().map(|fact| (fact.about.to_owned(), fact.text.clone())).collect(),
            few: (!summary.shown.is_empty()).then(|| few_lines(question, plan)),
            sentences: summary.why.clone(),
            more: plan.explanation.clone(),
            policy_toml: plan.winner.as_ref().map_or(String::new(), |winner| winner.policy_toml.clone()),
            system: plan.winner.as_ref().map(|winner| winner.system.clone()),
        }),
        reaches: plan.systems.iter().filter_map(|it| Some((it.system.clone(), reach(&it.reach)?))).collect(),
        shown: summary.shown.iter().map(|it| it.system.clone()).collect(),
        counted: match question.machine {
            Machine::Cores(_) => Counted::Cores,
            Machine::Runtime { .. } => Counted::Workers,
        },
        targets: question.targets.iter().map(line).collect(),
        config_toml: format!("# {command}\n"),
        provenance: vec![
            ("version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
            ("seed".to_owned(), question.measure.seed.to_string()),
            ("simulated requests".to_owned(), plan.simulated.to_string()),
        ],
        ..Report::default()
    }
}

/// The few systems that the command prints.
fn few_lines(question: &Question, plan: &Plan) -> PlainTable {
    let table = few(question, plan);
    let note = meanings(question, plan, &table.lines().join("\n"));
    let (head, lines) = table.cells();
    PlainTable { title: String::new(), note, head, lines, marked: vec![0] }
}

/// The same as in the table that the command prints.
fn reach(reach: &caudal_tune::Reach) -> Option<Reach> {
    Some(Reach {
        value: reach.pass?,
        certain: reach.certain,
        undecided: reach.fail.filter(|_| !reach.fail_certain),
        missed: reach.missed,
    })
}

fn line(target: &LatencyTarget) -> TargetLine {
    let metric = match target.limit {
        Limit::Latency(_) => RowMetric::Latency,
        Limit::Slowdown(_) => RowMetric::Slowdown,
        Limit::Wait(_) => RowMetric::Wait,
        Limit::Share(_) => RowMetric::Miss,
    };
    let percentile = match target.statistic {
        Statistic::Mean => "mean".to_owned(),
        Statistic::Percentile(percentile) => caudal_stats::percentile_label(percentile),
        Statistic::Miss(late) => caudal_report::miss_name(late.as_nanos_f64()),
    };
    let value = target.limit.value();
    TargetLine { label: spelled(&target.to_string()), class: target.class.clone(), metric, percentile, value }
}

/// File of a plan's directory with what its report says besides its rows.
pub const REPORT: &str = "report.json";
/// File of a plan's directory with the answer.
pub const ANSWER: &str = "plan.json";

/// Writes a plan into its directory: rows, answer, report and policy. `command` is the one that asks the same again.
///
/// # Errors
/// If a file can not be written.
#[cfg(feature = "host")]
pub fn write(dir: &Path, question: &Question, plan: &Plan, command: &str) -> Result<(), ResultsError> {
    write_whole(&dir.join("rows.jsonl"), &json_lines(&plan.rows)?)?;
    write_whole(&dir.join(ANSWER), &(serde_json::to_string_pretty(plan)? + "\n"))?;
    let report = report(question, plan, command);
    write_whole(&dir.join(REPORT), &(serde_json::to_string_pretty(&report)? + "\n"))?;
    write_report(dir, report, plan.rows.clone())?;
    match &plan.winner {
        Some(winner) => write_whole(&dir.join("policy.toml"), &winner.policy_toml),
        None => Ok(()),
    }
}

/// Writes a plan's report into its directory.
///
/// # Errors
/// If it can not be written.
#[cfg(feature = "host")]
pub fn write_report(dir: &Path, report: Report, rows: Vec<Row>) -> Result<(), ResultsError> {
    write_whole(&dir.join("report.html"), &Report { rows, ..report }.to_html())
}

/// Everything that a plan depends on, by what users call it.
///
/// # Errors
/// If a file of the workload can not be read any more.
#[cfg(feature = "host")]
pub fn asked(question: &Question) -> Result<Vec<(String, Value)>, ResultsError> {
    let Question { workload, machine, goal, budget, quick, .. } = question;
    let measure = serde_json::to_value(&question.measure)?;
    let mut specs = json!([workload.service_spec, workload.arrival_spec, question.workload_name, measure]);
    if let (Some(dag), Some(specs)) = (&workload.dag_spec, specs.as_array_mut()) {
        specs.push(json!(dag));
    }
    let targets: Vec<String> = question.targets.iter().map(ToString::to_string).collect();
    let mut asked: Vec<(String, Value)> = vec![
        ("the workload".to_owned(), digest(specs.to_string().as_bytes()).into()),
        ("the targets".to_owned(), targets.into()),
        ("the machine".to_owned(), machine.to_string().into()),
        ("the load or rate".to_owned(), format!("{goal:?}").into()),
        ("--systems".to_owned(), question.systems.clone().into()),
        ("the budget".to_owned(), budget.requests.into()),
        ("--quick".to_owned(), (*quick).into()),
    ];
    if !question.costs.is_empty() {
        asked.push(("the costs".to_owned(), question.costs.clone().into()));
    }
    asked.extend(digests(&workload.files)?);
    Ok(asked)
}
