//! All that a plan found, as text: every system, every reason, what was tuned from what. `show` adds it to the screen when the user asks
//! for it by `--explain`.

use caudal_config::Limit;
use caudal_tune::{Goal, Plan, Question, SystemResult, spelled};

use crate::answer::Screen;
use caudal_results::table::{Table, digits, estimate, time};

/// The meaning of the table's marks.
const MARKS: &str = "A load or a number of cores with a ? was met in short runs only, which are too optimistic near saturation; the \
                     note says how far it was confirmed. undecided at: the next one where the simulation could not tell, if it \
                     is nearer than missed at, the next one at which a target is certainly missed. ±: half of the confidence \
                     interval, in percent; ±?: no upper end is known; ≤: the upper end, where the interval is wider than \
                     the number. efficiency: share of the core time held that is the requests' work. preempt/req: preemptions \
                     a request. A dash: nothing is known, or there is nothing.";

/// Adds the table of all systems, what was left out, and all reasons.
pub(super) fn add(screen: &mut Screen, question: &Question, plan: &Plan) {
    screen.as_it_is(&table(question, plan).to_string());
    screen.gap();
    screen.paragraph(MARKS);
    for (reason, systems) in left_out(plan) {
        screen.paragraph(&format!("Left out: {}: {}", systems.join(", "), spelled(reason)));
    }
    screen.gap();
    plan.explanation.iter().for_each(|sentence| screen.point(sentence));
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
        .map(|target| spelled(target.to_string().split(" <").next().unwrap_or_default()))
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

/// The unit that suits the largest of the rates: its size and its name.
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
        notes.push(format!(
            "{} {}, published with {}",
            tuning.parameter,
            spelled(&tuning.chosen),
            spelled(&tuning.published)
        ));
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
