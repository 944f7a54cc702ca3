//! A plan as text.

use caudal_config::Limit;
use caudal_tune::{Goal, Plan, Question, SystemResult};

use crate::table::{Table, digits, estimate, time};

/// The table, the answer and the reasons.
pub(super) fn print(question: &Question, plan: &Plan) {
    out!("{}", table(question, plan));
    for out in plan.left_out.iter().filter(|_| !question.systems.is_empty()) {
        outln!("left out: {}: {}", out.system, out.reason);
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

fn table(question: &Question, plan: &Plan) -> Table {
    let cores = question.goal != Goal::HighestLoad;
    let statistics: Vec<String> = question
        .targets
        .iter()
        .map(|target| target.to_string().split(" <").next().unwrap_or_default().to_owned())
        .collect();
    let mut head = vec!["system", if cores { "cores" } else { "load" }, "fails at", "M requests/s"];
    head.extend(statistics.iter().map(String::as_str));
    head.extend(["efficiency", "preempt/req", "note"]);
    let mut table = Table::new(&head);
    for line in &plan.systems {
        table.row(cells(question, line));
    }
    table
}

fn cells(question: &Question, line: &SystemResult) -> Vec<String> {
    let dash = || "–".to_owned();
    let cores = question.goal != Goal::HighestLoad;
    let place = |value: f64| if cores { format!("{value}") } else { format!("{value:.3}") };
    let uncertain = if line.reach.fail_certain { "" } else { "?" };
    let mut cells = vec![
        line.system.clone(),
        line.reach.pass.map_or_else(dash, place),
        line.reach.fail.map_or_else(dash, |fail| format!("{}{uncertain}", place(fail))),
        line.rate_per_s.map_or_else(dash, |rate| digits(rate / 1e6)),
    ];
    for (index, target) in question.targets.iter().enumerate() {
        let show = |value: f64| match target.limit {
            Limit::Latency(_) => time(value),
            Limit::Slowdown(_) => digits(value),
        };
        cells.push(line.targets.get(index).map_or_else(dash, |result| estimate(&result.estimate, show)));
    }
    cells.push(line.efficiency.map_or_else(dash, |share| format!("{:.1} %", 100.0 * share.estimate)));
    cells.push(line.preemptions_per_request.map_or_else(dash, |count| digits(count.estimate)));
    cells.push(note(line));
    cells
}

fn note(line: &SystemResult) -> String {
    let mut notes = Vec::new();
    if line.reference_only.is_some() {
        notes.push("reference line".to_owned());
    }
    if let Some(tuning) = line.tuning.as_ref().filter(|tuning| tuning.chosen != tuning.published) {
        notes.push(format!("{} {}", tuning.parameter, tuning.chosen));
    }
    if line.screened_only {
        notes.push("screened only".to_owned());
    }
    if line.budget_ended {
        notes.push("budget ended".to_owned());
    }
    notes.extend(line.failed.clone());
    notes.join(", ")
}
