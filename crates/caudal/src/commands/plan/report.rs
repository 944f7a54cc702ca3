//! The report of a plan.

use caudal_config::{LatencyTarget, Limit, Statistic};
use caudal_report::{Answer, Counted, Metric, PlainTable, Reach, Report, TargetLine};
use caudal_tune::{Goal, Machine, Plan, Question, spelled};

use super::show;
use crate::describe::counted;

/// The report of `plan`; `command` is the one that asks the same again.
pub(super) fn report(question: &Question, plan: &Plan, command: &str) -> Report {
    let targets: Vec<String> = question.targets.iter().map(|target| spelled(&target.to_string())).collect();
    let on = match question.machine {
        Machine::Cores(cores) => counted(cores as usize, "core"),
        Machine::Runtime { workers } => counted(workers as usize, "worker"),
    };
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
            few: (!summary.shown.is_empty()).then(|| few(question, plan)),
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
fn few(question: &Question, plan: &Plan) -> PlainTable {
    let table = show::few(question, plan);
    let note = show::meanings(question, plan, &table.lines().join("\n"));
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
        Limit::Latency(_) => Metric::Latency,
        Limit::Slowdown(_) => Metric::Slowdown,
        Limit::Wait(_) => Metric::Wait,
        Limit::Share(_) => Metric::Miss,
    };
    let percentile = match target.statistic {
        Statistic::Mean => "mean".to_owned(),
        Statistic::Percentile(percentile) => caudal_stats::percentile_label(percentile),
        Statistic::Miss(late) => caudal_report::miss_name(late.as_nanos_f64()),
    };
    let value = target.limit.value();
    TargetLine { label: spelled(&target.to_string()), class: target.class.clone(), metric, percentile, value }
}
