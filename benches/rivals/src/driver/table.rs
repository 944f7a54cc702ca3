//! The tables: medians over the rounds, in µs; as JSON lines with the spread.

use caudal_measure::compare::{Spread, ratio};
use caudal_measure::filter::{ClassReport, Latency, Report};
use serde_json::{Value, json};

use super::theory::{QUANTUM_NS, Theory};
use super::turn::Reports;
use super::{AtLoad, Series, beside};

/// A column: its title, and its value in a round.
type Column = (&'static str, fn(&Reports) -> f64);

/// A mix begins with its short class and ends with its long one.
pub(super) fn short(report: &Report) -> &ClassReport {
    report.classes.first().expect("a mix has a class")
}

pub(super) fn long(report: &Report) -> &ClassReport {
    report.classes.last().expect("a mix has a class")
}

pub(super) const fn us(ns: u64) -> f64 {
    ns as f64 * 1e-3
}

/// In the order in which they are printed: raw, f without stalls in the work, g also without those of the generator.
const COLUMNS: [Column; 14] = [
    ("p50", |turn| us(short(&turn.work).raw.p50_ns)),
    ("p99", |turn| us(short(&turn.work).raw.p99_ns)),
    ("p99.9", |turn| us(short(&turn.work).raw.p999_ns)),
    ("mean", |turn| short(&turn.work).raw.mean_ns * 1e-3),
    ("p50 f", |turn| us(short(&turn.work).filtered.p50_ns)),
    ("p99 f", |turn| us(short(&turn.work).filtered.p99_ns)),
    ("p99.9 f", |turn| us(short(&turn.work).filtered.p999_ns)),
    ("mean f", |turn| short(&turn.work).filtered.mean_ns * 1e-3),
    ("p99 g", |turn| us(short(&turn.generator).filtered.p99_ns)),
    ("p99.9 g", |turn| us(short(&turn.generator).filtered.p999_ns)),
    ("mean g", |turn| short(&turn.generator).filtered.mean_ns * 1e-3),
    ("long p50", |turn| us(long(&turn.work).raw.p50_ns)),
    ("kept %", |turn| turn.work.kept_share * 100.0),
    ("stalls/s", |turn| turn.work.stalls.per_second),
];
/// Of them those in which contestants are compared with the first one.
pub(super) const COMPARED: [usize; 3] = [1, 5, 8];
/// And the means, filtered.
const COMPARED_MEANS: [usize; 2] = [7, 10];

/// Prints the table of a load; with a reference, how many times as high the others' p99 and means are as those of the first
/// contestant.
pub(crate) fn print(at: &AtLoad) {
    let with_reference = at.given > 0;
    println!(
        "\nload {}: sojourn of the short requests in us, raw and filtered (f); medians over the rounds",
        at.load
    );
    print!("{:<18}", "contestant");
    COLUMNS.iter().for_each(|(title, _)| print!("{title:>9}"));
    println!("{}", if with_reference { "    p99 ×  p99 f ×  p99 g × mean f × mean g ×" } else { "" });
    for series in &at.series {
        print!("{:<18}", series.contestant.name);
        if let Some(reason) = &series.failed {
            println!("  failed: {reason}");
            continue;
        }
        for (_, value) in COLUMNS {
            print!("{:>9}", number(Spread::of(&values(series, value)).map(|spread| spread.median)));
        }
        if with_reference {
            for column in COMPARED.into_iter().chain(COMPARED_MEANS) {
                print!("{:>9}", number(against_first(at, series, column).map(|spread| spread.median)));
            }
        }
        println!("{}", remarks(series));
    }
    let machine = |value: fn(&caudal_measure::stalls::StallStats) -> f64| {
        number(Spread::of(&at.machine.iter().map(value).collect::<Vec<f64>>()).map(|spread| spread.median))
    };
    if !at.machine.is_empty() {
        println!(
            "bare core: {} stalls/s, {} % of the time, p50 {} us, p99 {} us",
            machine(|stalls| stalls.per_second),
            machine(|stalls| stalls.share * 100.0),
            machine(|stalls| us(stalls.p50_ns)),
            machine(|stalls| us(stalls.p99_ns))
        );
    }
    beside::print(at);
}

/// Prints an object a contestant and one for the machine.
pub(crate) fn json(at: &AtLoad) {
    let with_reference = at.given > 0;
    for series in &at.series {
        let mut row = json!({ "load": at.load, "contestant": series.contestant.name });
        if let Some(reason) = &series.failed {
            row["failed"] = json!(reason);
        } else {
            row["rounds"] = json!(series.reports.len());
            row["repeated_turns"] = json!(series.repeated);
            row["short"] = class(series, short);
            row["long"] = class(series, long);
            row["kept_share"] = spread(&values(series, |turn| turn.work.kept_share));
            row["kept_share_generator"] = spread(&values(series, |turn| turn.generator.kept_share));
            row["stalls_per_s"] = spread(&values(series, |turn| turn.work.stalls.per_second));
            row["stalled_share"] = spread(&values(series, |turn| turn.work.stalls.share));
            row["stall_p50_ns"] = spread(&values(series, |turn| turn.work.stalls.p50_ns as f64));
            row["stall_p99_ns"] = spread(&values(series, |turn| turn.work.stalls.p99_ns as f64));
            if with_reference {
                let [raw, filtered, generator] =
                    COMPARED.map(|column| as_json(against_first(at, series, column)));
                row["p99_over_first"] =
                    json!({ "raw": raw, "filtered": filtered, "filtered_generator": generator });
                let [filtered, generator] =
                    COMPARED_MEANS.map(|column| as_json(against_first(at, series, column)));
                row["mean_over_first"] = json!({ "filtered": filtered, "filtered_generator": generator });
            }
        }
        println!("{row}");
    }
    let machine: Vec<Value> = at
        .machine
        .iter()
        .map(|one| json!({ "per_s": one.per_second, "share": one.share, "p50_ns": one.p50_ns, "p99_ns": one.p99_ns }))
        .collect();
    println!("{}", json!({ "load": at.load, "bare_core": machine }));
    let theory = Theory::of(&at.mix, at.load, QUANTUM_NS);
    println!(
        "{}",
        json!({ "load": at.load, "theory": {
            "sharing_mean_ns": theory.sharing_us * 1e3, "fresh_first_mean_ns": theory.fresh_first_us * 1e3,
            "quantum_ns": QUANTUM_NS, "long_ns": theory.long_us * 1e3,
        } })
    );
}

/// Which class of a report.
type Of = fn(&Report) -> &ClassReport;

fn class(series: &Series, of: Of) -> Value {
    let latency = |which: fn(&Reports, Of) -> Latency| {
        let value = |pick: fn(Latency) -> f64| {
            let all: Vec<f64> = series.reports.iter().map(|turn| pick(which(turn, of))).collect();
            spread(&all)
        };
        json!({
            "p50_ns": value(|latency| latency.p50_ns as f64),
            "p99_ns": value(|latency| latency.p99_ns as f64),
            "p99.9_ns": value(|latency| latency.p999_ns as f64),
            "mean_ns": value(|latency| latency.mean_ns),
            "count": value(|latency| latency.count as f64),
        })
    };
    let unfinished: Vec<u64> = series.reports.iter().map(|turn| of(&turn.work).unfinished).collect();
    json!({
        "raw": latency(|turn, of| of(&turn.work).raw),
        "filtered": latency(|turn, of| of(&turn.work).filtered),
        "filtered_generator": latency(|turn, of| of(&turn.generator).filtered),
        "unfinished": unfinished,
    })
}

pub(super) fn values(series: &Series, of: fn(&Reports) -> f64) -> Vec<f64> {
    series.reports.iter().map(of).collect()
}

/// A column's ratio to the first contestant's, round by round.
pub(super) fn against_first(at: &AtLoad, series: &Series, column: usize) -> Option<Spread> {
    let value = COLUMNS[column].1;
    ratio(&values(series, value), &values(at.series.first()?, value))
}

fn spread(trials: &[f64]) -> Value {
    as_json(Spread::of(trials))
}

fn as_json(spread: Option<Spread>) -> Value {
    spread.map_or(
        Value::Null,
        |spread| json!({ "median": spread.median, "low": spread.low, "high": spread.high }),
    )
}

/// What a reader of the row must know.
fn remarks(series: &Series) -> String {
    let mut remarks = String::new();
    let unfinished: u64 =
        series.reports.iter().flat_map(|turn| &turn.work.classes).map(|class| class.unfinished).sum();
    if unfinished > 0 {
        remarks += &format!("  {unfinished} requests never completed");
    }
    let bad = series.reports.iter().filter(|turn| turn.work.must_be_repeated()).count();
    if bad > 0 {
        remarks += &format!("  too little kept in {bad} of {} rounds", series.reports.len());
    }
    remarks
}

pub(super) fn number(value: Option<f64>) -> String {
    match value {
        None => "-".to_owned(),
        Some(value) if value >= 100.0 => format!("{value:.0}"),
        Some(value) if value >= 10.0 => format!("{value:.1}"),
        Some(value) => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        assert_eq!(number(Some(1234.6)), "1235");
        assert_eq!(number(Some(12.34)), "12.3");
        assert_eq!(number(Some(0.567)), "0.57");
        assert_eq!(number(None), "-");
    }
}
