//! A plan as text.

use caudal_config::Limit;
use caudal_tune::{Goal, Plan, Question, SystemResult};

use crate::table::{Table, digits, estimate, time};

/// The table, the answer and the reasons.
pub(super) fn print(question: &Question, plan: &Plan) {
    out!("{}", table(question, plan));
    for (reason, systems) in left_out(plan) {
        outln!("left out: {}: {reason}", systems.join(", "));
    }
    outln!("\n{}\n", plan.headline);
    for sentence in &plan.explanation {
        outln!("- {sentence}");
    }
    if plan.winner.as_ref().is_some_and(|winner| !winner.confirmed) {
        outln!(
            "- It was not confirmed with requests that it was not chosen by: the budget, or the interruption, ended that."
        );
    }
}

/// Systems that were not tried, by reason.
fn left_out(plan: &Plan) -> Vec<(&str, Vec<&str>)> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for out in &plan.left_out {
        match reasons.iter_mut().find(|(reason, _)| *reason == out.reason) {
            Some((_, systems)) => systems.push(&out.system),
            None => reasons.push((&out.reason, vec![&out.system])),
        }
    }
    reasons
}

fn table(question: &Question, plan: &Plan) -> Table {
    let cores = question.goal != Goal::HighestLoad;
    let statistics: Vec<String> = question
        .targets
        .iter()
        .map(|target| target.to_string().split(" <").next().unwrap_or_default().to_owned())
        .collect();
    let unit = rate_unit(plan);
    let mut head = vec!["system", if cores { "cores" } else { "load" }, "undecided at", "missed at", unit.1];
    head.extend(statistics.iter().map(String::as_str));
    head.extend(["efficiency", "preempt/req", "note"]);
    let mut table = Table::new(&head);
    for line in &plan.systems {
        table.row(cells(question, line, unit.0));
    }
    table
}

fn cells(question: &Question, line: &SystemResult, unit: f64) -> Vec<String> {
    let dash = || "–".to_owned();
    let cores = question.goal != Goal::HighestLoad;
    let place = |value: f64| if cores { format!("{value}") } else { format!("{value:.3}") };
    let unsure = if line.reach.confirmed { "" } else { "?" };
    let undecided = line.reach.fail.filter(|_| !line.reach.fail_certain);
    let mut cells = vec![
        line.system.clone(),
        line.reach.pass.map_or_else(dash, |pass| format!("{}{unsure}", place(pass))),
        undecided.map_or_else(dash, place),
        line.reach.missed.map_or_else(dash, place),
        line.rate_per_s.map_or_else(dash, |rate| digits(rate / unit)),
    ];
    for (index, target) in question.targets.iter().enumerate() {
        let show = |value: f64| match target.limit {
            Limit::Latency(_) | Limit::Wait(_) => time(value),
            Limit::Slowdown(_) => digits(value),
            Limit::Share(_) => format!("{} %", digits(100.0 * value)),
        };
        cells.push(line.targets.get(index).map_or_else(dash, |result| estimate(&result.estimate, show)));
    }
    cells.push(line.efficiency.map_or_else(dash, |share| format!("{:.1} %", 100.0 * share.estimate)));
    cells.push(line.preemptions_per_request.map_or_else(dash, |count| digits(count.estimate)));
    cells.push(note(line));
    cells
}

/// What rates are divided by, and the name of that: what suits the largest of them.
fn rate_unit(plan: &Plan) -> (f64, &'static str) {
    let largest = plan.systems.iter().filter_map(|line| line.rate_per_s).fold(0.0, f64::max);
    match largest {
        rate if rate >= 1e6 => (1e6, "M requests/s"),
        rate if rate >= 1e3 => (1e3, "k requests/s"),
        _ => (1.0, "requests/s"),
    }
}

fn note(line: &SystemResult) -> String {
    let mut notes = Vec::new();
    if line.reference_only.is_some() {
        notes.push("reference line".to_owned());
    }
    if let Some(tuning) = line.tuning.as_ref().filter(|tuning| tuning.chosen != tuning.published) {
        notes.push(format!("{} {}", tuning.parameter, tuning.chosen));
    }
    let unconfirmed = line.reach.pass.is_some() && !line.reach.confirmed;
    match line.reach.certain {
        _ if line.untried => notes.push("nothing known".to_owned()),
        _ if line.screened_only => notes.push("screened only, not confirmed".to_owned()),
        Some(certain) if unconfirmed => notes.push(format!("confirmed to {certain}")),
        None if unconfirmed => notes.push("not confirmed".to_owned()),
        _ => {}
    }
    if line.budget_ended {
        notes.push("budget ended".to_owned());
    }
    notes.extend(line.failed.clone());
    notes.join(", ")
}
