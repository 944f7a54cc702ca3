//! The table of the systems that lanes are held against, and the meaning of its words and marks. `caudal lanes` prints it, and `lanes`
//! puts it into the report. Pure.

use caudal_stats::Estimate;
use caudal_tune::lanes::{Drifted, JudgedSystem, LanesAnswer, LanesQuestion};
use caudal_tune::spelled;

use crate::columns::Columns;
use crate::table::{digits, estimate, time};

/// The answer beside what came second, one queue, the best discipline without lanes, and what nobody can build.
#[must_use]
pub fn few(question: &LanesQuestion, answer: &LanesAnswer) -> Columns {
    let shown = shown(answer);
    let mut columns = Columns::default();
    columns.words("", 4, shown.iter().map(|(role, _)| (*role).to_owned()));
    columns.words("system", 0, shown.iter().map(|(_, it)| spelled(&it.system)));
    let layout =
        |it: &JudgedSystem| it.layout.as_ref().filter(|layout| layout.lanes() > 1).map(ToString::to_string);
    columns.words("lanes", 2, shown.iter().map(|(_, it)| layout(it).unwrap_or_else(|| "none".to_owned())));
    columns.numbers(
        &question.target.to_string(),
        1,
        shown.iter().map(|(_, it)| target(question, it).trim_end().to_owned()),
    );
    let slowdown = |it: &JudgedSystem| match it.row.overloaded {
        true => "none".to_owned(),
        false => estimate(&it.slowdown, digits).trim_end().to_owned(),
    };
    columns.numbers("p99.9 slowdown", 5, shown.iter().map(|(_, it)| slowdown(it)));
    let share = |it: &JudgedSystem| format!("{:.0} %", 100.0 * it.row.efficiency.estimate);
    columns.numbers("work", 6, shown.iter().map(|(_, it)| share(it)));
    columns
}

/// The few, with what each is shown for.
fn shown(answer: &LanesAnswer) -> Vec<(&'static str, &JudgedSystem)> {
    let Some((own, others)) = answer.judged.split_first() else { return Vec::new() };
    let one_queue = others.iter().find(|it| it.system == "one queue");
    let second = others.iter().find(|it| it.layout.as_ref().is_some_and(|layout| layout.lanes() > 1));
    let bound = others.iter().find(|it| it.system.starts_with("SRPT"));
    let rest = others.iter().filter(|it| it.layout.is_none() && !it.system.starts_with("SRPT"));
    let rest = rest.filter(|it| it.system != "one queue" && !it.row.overloaded);
    let best = rest.min_by(|a, b| a.target.estimate.total_cmp(&b.target.estimate));
    let first = if answer.layout.lanes() == 1 { "answer, today" } else { "answer" };
    let rows = [
        (first, Some(own)),
        ("runner-up", second),
        ("today", one_queue),
        ("no lanes", best),
        ("bound", bound),
    ];
    rows.into_iter().filter_map(|(role, it)| Some((role, it?))).collect()
}

/// The meaning of the words and marks of the small table, of those that stand in `table`.
#[must_use]
pub fn meanings(question: &LanesQuestion, table: &str) -> String {
    let confidence = format!("{} %", (1000.0 * question.measure.stop.confidence).round() / 10.0);
    let open = if table.contains("±?") { "; ? where it is not known" } else { "" };
    let marks = [
        (" at ", "lanes: servers of each, and after how much service a request moves on.".to_owned()),
        ("slowdown", "slowdown: time in the system over service time.".to_owned()),
        ("±", format!("±: half of the {confidence} interval{open}.")),
        ("≤", format!("≤: the upper end of the {confidence} interval.")),
        ("work", "work: the part of the core time that is work.".to_owned()),
        ("today", "today: first come first served, nothing is interrupted.".to_owned()),
        ("no lanes", "no lanes: the best other way to interrupt requests.".to_owned()),
        ("bound", "bound: nobody can build it, it knows sizes in advance.".to_owned()),
    ];
    let said = marks.into_iter().filter(|(mark, _)| table.contains(mark)).map(|(_, meaning)| meaning);
    said.collect::<Vec<_>>().join(" ")
}

/// The worth of the lanes when the workload is another one.
#[must_use]
pub fn drifts(question: &LanesQuestion, answer: &LanesAnswer) -> Columns {
    let of = |judged: &JudgedSystem| target(question, judged).trim_end().to_owned();
    let drifts = &answer.drifts;
    let mut columns = Columns::default();
    columns.words("with", 0, drifts.iter().map(|drift| drift.name.clone()));
    columns.numbers("load", 1, drifts.iter().map(|drift| format!("{:.3}", drift.load)));
    columns.numbers("these lanes", 2, drifts.iter().map(|drift| of(&drift.kept)));
    columns.numbers("one queue", 3, drifts.iter().map(|drift| of(&drift.one_queue)));
    columns.numbers("lanes made for it", 5, drifts.iter().map(|drift| of(&drift.refitted)));
    let loss = |loss: &Estimate| estimate(loss, |ratio| format!("{}x", digits(ratio))).trim_end().to_owned();
    columns.numbers(
        "loss",
        4,
        drifts.iter().map(|drift| drift.loss.as_ref().map_or("unknown".to_owned(), loss)),
    );
    columns
}

/// Three digits, also of what is rare.
fn few_digits(value: f64) -> String {
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

/// Heads of the table of all; the empty one is the target.
pub const HEAD: [&str; 7] =
    ["system", "lanes", "", "p99.9 slowdown", "work", "preemptions a request", "preemptions"];

/// Heads of the report's table of workloads that this one may become.
pub(super) const DRIFT_HEAD: [&str; 6] =
    ["with", "load", "these lanes", "one queue", "lanes made for it", "these / those"];

/// A line of the table under [`DRIFT_HEAD`].
#[must_use]
pub(super) fn drift_cells(question: &LanesQuestion, drift: &Drifted) -> Vec<String> {
    let of = |judged: &JudgedSystem| target(question, judged);
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

fn target(question: &LanesQuestion, judged: &JudgedSystem) -> String {
    let show = |value: f64| {
        if question.target.metric == caudal_config::Metric::Slowdown { digits(value) } else { time(value) }
    };
    if judged.row.overloaded { "overloaded".to_owned() } else { estimate(&judged.target, show) }
}

/// A line of the table of systems.
#[must_use]
pub fn cells(question: &LanesQuestion, judged: &JudgedSystem) -> Vec<String> {
    let row = &judged.row;
    let slowdown = if row.overloaded { dash() } else { estimate(&judged.slowdown, digits) };
    let layout = judged.layout.as_ref().filter(|layout| layout.lanes() > 1);
    vec![
        spelled(&judged.system),
        layout.map_or_else(dash, ToString::to_string),
        target(question, judged),
        slowdown,
        format!("{:.1} %", 100.0 * row.efficiency.estimate),
        estimate(&judged.preemptions_per_request, few_digits),
        estimate(&judged.preemptions_per_s, rate),
    ]
}
