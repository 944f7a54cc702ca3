//! The table of thresholds in a terminal: when a request is given up, on one screen, or every row. `threshold` calls [`print()`] once, when
//! the table is made. It only prints.

use caudal_stats::Estimate;
use caudal_tune::thresholds::{Refined, Row, ThresholdAnswer, changes};

use super::words::{all_given_up, refined_sentence, sentences};
use super::{Answered, ThresholdArgs};
use crate::answer::Screen;
use caudal_results::columns::Columns;
use caudal_results::table::{Table, digits, estimate, time};

/// Rows of the table that `--explain` shows, at most.
const SHOWN: usize = 100;
/// Rows that a reader takes in at a glance.
const FEW: usize = 5;
/// The meaning of the columns.
const MEANINGS: &str = "active: requests that are in the system. threshold: how much work a request may take until it is given \
                        up: nobody helps it any more. larger requests: those that take more. expected misses: requests that \
                        miss the target until a pile-up that a large one began is over.";

pub(super) fn print(args: &ThresholdArgs, answer: &Answered<'_>) {
    out!("{}", screen(Screen::new(), args, answer));
}

fn screen(mut screen: Screen, args: &ThresholdArgs, answer: &Answered<'_>) -> Screen {
    let (found, scale) = (answer.found, answer.scale());
    let mut said = sentences(args, found);
    screen.headline(&all_given_up(found, scale));
    let carries = said.remove(0);
    let sure = match (&answer.refined, &answer.requests_are) {
        (Some(refined), Some(graph)) => {
            format!("Simulated with {graph}. {}", refined_sentence(found, refined))
        }
        _ => {
            "By the formulas of the paper alone: --refine simulates the table and multiples of it.".to_owned()
        }
    };
    screen.facts([
        ("It carries", carries.as_str()),
        ("It costs", costs(found).as_str()),
        ("How sure", sure.as_str()),
    ]);
    screen.gap();
    let few = few(found, scale);
    let shown = few.cells().1.len();
    screen.table(few);
    screen.paragraph(MEANINGS);
    if let Some(refined) = &answer.refined {
        screen.gap();
        screen.table(judged(refined));
        screen.paragraph(
            "late: requests that miss the target. chosen over it: what is late with the chosen table, over what is late with \
             this. ±: half of the confidence interval.",
        );
    }
    screen.gap();
    // The second sentence is the headline.
    said.iter().skip(1).for_each(|sentence| screen.paragraph(sentence));
    screen.gap();
    if args.explain {
        all(&mut screen, answer);
        return screen;
    }
    let rows: usize = found.tables().iter().map(|(_, rows)| changes(rows).count()).sum();
    if rows > shown {
        screen.paragraph(&format!(
            "All {rows} rows at which the threshold changes: the same command with --explain, or thresholds.csv."
        ));
    }
    screen
}

/// The price: the share of the requests that are given up when few and when many are active.
fn costs(found: &ThresholdAnswer) -> String {
    let each = found.tables().into_iter().filter_map(|(class, rows)| {
        let (first, last) = (changes(rows).next()?, changes(rows).last()?);
        let class = class.map_or(String::new(), |class| format!("{class} "));
        Some(format!(
            "Given up are {} of the {class}requests when one is active, {} when {} are.",
            percent(first.large),
            percent(last.large),
            last.active,
        ))
    });
    each.collect::<Vec<_>>().join(" ")
}

fn percent(share: f64) -> String {
    format!("{:.3} %", 100.0 * share)
}

fn misses(row: &Row) -> String {
    row.misses.map_or_else(|| "no end".to_owned(), |misses| format!("{misses:.2}"))
}

/// A few rows from the first to the last, in even steps; of several classes, the first and the last of each.
fn few(found: &ThresholdAnswer, scale: f64) -> Columns {
    let tables = found.tables();
    let most = if tables.len() == 1 { FEW } else { 2 };
    let mut rows: Vec<(Option<&str>, &Row)> = Vec::new();
    for (class, all) in &tables {
        let all: Vec<&Row> = changes(all).collect();
        let count = all.len().min(most);
        let place = |n: usize| if count < 2 { 0 } else { n * (all.len() - 1) / (count - 1) };
        rows.extend((0..count).map(|n| (*class, all[place(n)])));
    }
    let mut columns = Columns::default();
    if tables.len() > 1 {
        columns.words("class", 0, rows.iter().map(|(class, _)| class.unwrap_or_default().to_owned()));
    }
    columns.words("active", 0, rows.iter().map(|(_, row)| row.active.to_string()));
    columns.numbers("threshold", 0, rows.iter().map(|(_, row)| time(row.threshold_ns * scale)));
    columns.numbers("larger requests", 1, rows.iter().map(|(_, row)| percent(row.large)));
    columns.numbers("expected misses", 2, rows.iter().map(|(_, row)| misses(row)));
    columns
}

/// The chosen table beside others, on fresh requests.
fn judged(refined: &Refined) -> Columns {
    let mut columns = Columns::default();
    columns.words("on fresh requests", 0, refined.judged.iter().map(|row| row.policy.clone()));
    let late =
        |of: &Estimate| estimate(of, |share| format!("{} %", digits(100.0 * share))).trim_end().to_owned();
    columns.numbers("late", 0, refined.judged.iter().map(|row| late(&row.late)));
    let over = |of: &Estimate| estimate(of, digits).trim_end().to_owned();
    let over = refined.judged.iter().map(|row| row.chosen_over.as_ref().map_or("chosen".to_owned(), over));
    columns.numbers("chosen over it", 1, over);
    columns
}

/// Every row, and every multiple that was simulated.
fn all(screen: &mut Screen, answer: &Answered<'_>) {
    for (class, rows) in answer.found.tables() {
        if let Some(class) = class {
            screen.paragraph(&format!("{class}:"));
        }
        every_row(screen, rows);
    }
    if let Some(refined) = &answer.refined {
        multiples(screen, refined);
    }
}

fn every_row(screen: &mut Screen, rows: &[Row]) {
    let changes: Vec<&Row> = changes(rows).collect();
    let every = changes.len().div_ceil(SHOWN).max(1);
    let mut table = Table::new(&["active", "threshold", "larger requests", "expected misses"]);
    let last = changes.len() - 1;
    for (_, row) in changes.iter().enumerate().filter(|(at, _)| at % every == 0 || *at == last) {
        table.row(vec![row.active.to_string(), time(row.threshold_ns), percent(row.large), misses(row)]);
    }
    screen.as_it_is(&table.to_string());
    if every > 1 {
        screen.paragraph(&format!(
            "(one in {every} of the {} numbers at which the threshold changes; thresholds.csv has all)",
            changes.len()
        ));
    }
    screen.gap();
}

fn multiples(screen: &mut Screen, refined: &Refined) {
    let share = |of: &Estimate| estimate(of, |share| format!("{} %", digits(100.0 * share)));
    let mut tried = Table::new(&["thresholds times", "replications", "late", "over the table's"]);
    for row in &refined.tried {
        let over = if row.scale == 1.0 { String::new() } else { estimate(&row.over_table, digits) };
        tried.row(vec![row.scale.to_string(), row.replications.to_string(), share(&row.late), over]);
    }
    screen.as_it_is(&tried.to_string());
}
