//! The table in a terminal.

use caudal_stats::Estimate;
use caudal_tune::thresholds::{Judged, Refined, Row, ThresholdAnswer, changes};

use super::{Answered, ThresholdArgs};
use crate::table::{Table, digits, estimate, time};

/// Rows of the table that a terminal shows, at most.
const SHOWN: usize = 24;

pub(super) fn print(args: &ThresholdArgs, answer: &Answered<'_>) {
    for (class, rows) in answer.found.tables() {
        if let Some(class) = class {
            outln!("{class}:");
        }
        print_rows(rows);
    }
    for sentence in sentences(args, answer.found) {
        outln!("{sentence}");
    }
    if let Some(refined) = &answer.refined {
        print_refined(refined);
    }
}

fn print_rows(rows: &[Row]) {
    let changes: Vec<&Row> = changes(rows).collect();
    let every = changes.len().div_ceil(SHOWN).max(1);
    let mut table = Table::new(&["active", "threshold", "larger requests", "expected misses"]);
    let last = changes.len() - 1;
    for (_, row) in changes.iter().enumerate().filter(|(at, _)| at % every == 0 || *at == last) {
        table.row(vec![
            row.active.to_string(),
            time(row.threshold_ns),
            format!("{:.3} %", 100.0 * row.large),
            row.misses.map_or_else(|| "no end".to_owned(), |misses| format!("{misses:.2}")),
        ]);
    }
    out!("{table}");
    outln!();
}

fn print_refined(refined: &Refined) {
    outln!();
    let share = |of: &Estimate| estimate(of, |share| format!("{} %", digits(100.0 * share)));
    let ratio = |of: &Estimate| estimate(of, digits);
    let mut tried = Table::new(&["thresholds times", "replications", "late", "over the table's"]);
    for row in &refined.tried {
        let over = if row.scale == 1.0 { String::new() } else { ratio(&row.over_table) };
        tried.row(vec![row.scale.to_string(), row.replications.to_string(), share(&row.late), over]);
    }
    out!("{tried}");
    outln!();
    let mut judged = Table::new(&["on fresh requests", "late", "chosen over it"]);
    for row in &refined.judged {
        let over = row.chosen_over.as_ref().map_or_else(|| "chosen".to_owned(), ratio);
        judged.row(vec![row.policy.clone(), share(&row.late), over]);
    }
    out!("{judged}");
    outln!();
    outln!("{}", refined_sentence(refined));
}

/// What simulation says of the table, in words.
pub(super) fn refined_sentence(refined: &Refined) -> String {
    let simulated = format!("{} M requests simulated", digits(refined.requests as f64 / 1e6));
    let known = |judged: &Judged| judged.chosen_over.is_some_and(|over| !over.is_missing());
    if !refined.judged.iter().any(known) {
        return format!(
            "Too few requests are late to tell anything apart: the table stays ({simulated}; --requests takes more)."
        );
    }
    let table = match refined.scale {
        1.0 => {
            "No multiple of the table's thresholds is certainly better than the table: it stays".to_owned()
        }
        scale => format!(
            "The table's thresholds times {scale} let certainly fewer requests be late than the table: they are written"
        ),
    };
    let rivals: Vec<String> = refined.judged.iter().filter_map(against).collect();
    format!("{table} ({simulated}).{}", rivals.concat())
}

/// What is said of a rival that is certainly better, or not certainly worse.
fn against(rival: &Judged) -> Option<String> {
    let over = rival.chosen_over.filter(|_| !rival.policy.starts_with("the table"))?;
    let policy = &rival.policy;
    match () {
        () if over.is_missing() => None,
        () if over.low > 1.0 => Some(format!(
            " But {policy} lets fewer be late than any of them: theirs are {} times its.",
            estimate(&over, digits).trim_end()
        )),
        () if over.high >= 1.0 => Some(format!(" They are not certainly better than {policy}.")),
        () => None,
    }
}

/// What the table says, in words.
pub(super) fn sentences(args: &ThresholdArgs, found: &ThresholdAnswer) -> Vec<String> {
    let mut said = vec![format!(
        "{} requests/s of {} on average keep {} of {} cores busy.",
        digits(args.rate.per_s()),
        time(found.mean_ns.1),
        digits(found.busy),
        args.cores
    )];
    if let (Some(first), Some(last)) = (found.rows.first(), found.rows.last()) {
        said.push(format!(
            "A request is given up after {} of work when it is alone, after {} when {} are active or more.",
            time(first.threshold_ns),
            time(last.threshold_ns),
            found.changes().last().map_or(1, |row| row.active),
        ));
    }
    if found.hopeless > 0.0 {
        said.push(format!(
            "{:.3} % of the requests miss {} even alone on all cores.",
            100.0 * found.hopeless,
            args.targets()
        ));
    }
    if !found.is_monotone() {
        said.push(
            "The threshold does not fall throughout: where next to all active requests miss the target anyway, one more may \
             raise it."
                .to_owned(),
        );
    }
    said
}
