//! Lanes as text.

use caudal_tune::lanes::{Drifted, Judged, LanesAnswer, LanesQuestion};

use crate::table::{Table, digits, estimate, time};

/// The table, the answer and the reasons.
pub(super) fn print(question: &LanesQuestion, answer: &LanesAnswer) {
    if !answer.judged.is_empty() {
        out!("{}", table(question, answer));
        outln!();
    }
    if let Some(classes) = super::report::classes(answer) {
        let head: Vec<&str> = classes.head.iter().map(String::as_str).collect();
        let mut table = Table::new(&head);
        classes.lines.into_iter().for_each(|line| table.row(line));
        out!("{table}");
        outln!();
    }
    if !answer.drifts.is_empty() {
        let mut table = Table::new(&DRIFT_HEAD);
        for drift in &answer.drifts {
            table.row(drift_cells(question, drift));
        }
        out!("{table}");
        outln!();
    }
    outln!("{}\n", answer.headline);
    for sentence in &answer.explanation {
        outln!("- {sentence}");
    }
}

fn table(question: &LanesQuestion, answer: &LanesAnswer) -> Table {
    let target = question.target.to_string();
    let mut table = Table::new(&HEAD.map(|head| if head.is_empty() { target.as_str() } else { head }));
    for judged in &answer.judged {
        table.row(cells(question, judged));
    }
    table
}

/// Three digits, also of what is rare.
fn few(value: f64) -> String {
    if value > 0.0 && value < 0.1 { format!("{value:.2e}") } else { digits(value) }
}

/// `447 k/s`
fn rate(per_s: f64) -> String {
    match per_s {
        rate if rate >= 1e6 => format!("{} M/s", digits(rate / 1e6)),
        rate if rate >= 1e3 => format!("{} k/s", digits(rate / 1e3)),
        rate => format!("{}/s", digits(rate)),
    }
}

/// Heads of the table; the empty one is the target.
pub(super) const HEAD: [&str; 7] =
    ["system", "lanes", "", "p99.9 slowdown", "efficiency", "preempt/req", "preemptions"];

/// Heads of the table of what may become of the workload.
pub(super) const DRIFT_HEAD: [&str; 6] =
    ["with", "load", "these lanes", "one queue", "lanes made for it", "these / those"];

/// A line of that.
pub(super) fn drift_cells(question: &LanesQuestion, drift: &Drifted) -> Vec<String> {
    let of = |judged: &Judged| target(question, judged);
    let times = |ratio: f64| format!("{}x", digits(ratio));
    vec![
        drift.name.clone(),
        format!("{:.3}", drift.load),
        of(&drift.kept),
        of(&drift.one_queue),
        of(&drift.refitted),
        drift.loss.map_or_else(dash, |loss| estimate(&loss, times)),
    ]
}

fn dash() -> String {
    "–".to_owned()
}

fn target(question: &LanesQuestion, judged: &Judged) -> String {
    let show = |value: f64| {
        if question.target.metric == caudal_config::Metric::Slowdown { digits(value) } else { time(value) }
    };
    if judged.row.overloaded { "overloaded".to_owned() } else { estimate(&judged.target, show) }
}

/// A line of the table of systems.
pub(super) fn cells(question: &LanesQuestion, judged: &Judged) -> Vec<String> {
    let row = &judged.row;
    let slowdown = if row.overloaded { dash() } else { estimate(&judged.slowdown, digits) };
    let layout = judged.layout.as_ref().filter(|layout| layout.lanes() > 1);
    vec![
        judged.system.clone(),
        layout.map_or_else(dash, ToString::to_string),
        target(question, judged),
        slowdown,
        format!("{:.1} %", 100.0 * row.efficiency.estimate),
        estimate(&judged.preemptions_per_request, few),
        estimate(&judged.preemptions_per_s, rate),
    ]
}
