//! The report of a plan.

use caudal_config::{LatencyTarget, Limit, Statistic};
use caudal_report::{Answer, Counted, Metric, Reach, Report, TargetLine};
use caudal_tune::{Goal, Machine, Plan, Question};

use crate::describe::counted;

/// The report of `plan`; `command` is the one that asks the same again.
pub(super) fn report(question: &Question, plan: &Plan, command: &str) -> Report {
    let targets: Vec<String> = question.targets.iter().map(ToString::to_string).collect();
    let on = match question.machine {
        Machine::Cores(cores) => counted(cores as usize, "core"),
        Machine::Runtime { workers } => counted(workers as usize, "worker"),
    };
    let (asks, within) = match question.goal {
        Goal::HighestLoad => (format!("Which system carries the most load of {on}"), targets.join(" and ")),
        Goal::FewestCores(_) => (format!("Which system needs the fewest of {on}"), targets.join(" and ")),
    };
    Report {
        title: format!("Caudal plan: {}", question.workload_name),
        question: format!("{asks} for {} within {within}?", question.workload_name),
        answer: Some(Answer {
            headline: plan.headline.clone(),
            sentences: plan.explanation.clone(),
            policy_toml: plan.winner.as_ref().map_or(String::new(), |winner| winner.policy_toml.clone()),
            system: plan.winner.as_ref().map(|winner| winner.system.clone()),
        }),
        reaches: plan.systems.iter().filter_map(|it| Some((it.system.clone(), reach(&it.reach)?))).collect(),
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
    TargetLine { label: target.to_string(), class: target.class.clone(), metric, percentile, value }
}
