//! The table in a terminal.

use caudal_stats::Estimate;
use caudal_tune::thresholds::{Refined, Row, ThresholdAnswer, changes};

use super::words::{refined_sentence, sentences};
use super::{Answered, ThresholdArgs};
use crate::table::{Table, digits, estimate, time};

/// Rows of the table that a terminal shows, at most.
const SHOWN: usize = 100;

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
        outln!();
        outln!("Simulated requests: {}.", answer.requests_are.as_deref().unwrap_or_default());
        print_refined(answer.found, refined);
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
    if every > 1 {
        outln!(
            "(one in {every} of the {} numbers at which the threshold changes; thresholds.csv has all)",
            changes.len()
        );
    }
    outln!();
}

fn print_refined(found: &ThresholdAnswer, refined: &Refined) {
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
    outln!("{}", refined_sentence(found, refined));
}
