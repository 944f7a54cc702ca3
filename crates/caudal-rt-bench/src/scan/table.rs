//! The tables: medians over the rounds and their intervals, in µs; or JSON lines, in ns.
//! `caudal-rt-bench scan` prints them when all rounds are over.

use caudal_measure::filter::Latency;
use caudal_stats::Median;
use serde_json::{Value, json};

use super::turn::{OfClass, Turn};
use super::{Alone, Series};

/// Everything at one load.
pub(super) struct AtLoad<'a> {
    pub(super) load: f64,
    /// Share of the requests.
    pub(super) scans: f64,
    /// By program; the first one is what others are compared with.
    pub(super) series: &'a [Series],
}

type Class = fn(&Turn) -> OfClass;
type Kind = fn(OfClass) -> Latency;
type Statistic = fn(Latency) -> u64;

const CLASSES: [(&str, Class); 2] = [("gets", |turn| turn.gets), ("scans", |turn| turn.scans)];
const KINDS: [(&str, Kind); 2] = [("raw", |class| class.raw), ("filtered", |class| class.filtered)];
const STATISTICS: [(&str, Statistic); 3] = [
    ("p50", |latency| latency.p50_ns),
    ("p99", |latency| latency.p99_ns),
    ("p99.9", |latency| latency.p999_ns),
];

/// One statistic of one class in all turns of a program, in ns; turns of which nothing was kept have none.
fn values(series: &Series, class: Class, kind: Kind, statistic: Statistic) -> Vec<f64> {
    let latencies = series.turns.iter().map(|turn| kind(class(turn)));
    latencies.map(|latency| if latency.count == 0 { f64::NAN } else { statistic(latency) as f64 }).collect()
}

/// Medians of those that are there.
fn median(values: &[f64]) -> Option<Median> {
    Median::of(&values.iter().copied().filter(|value| !value.is_nan()).collect::<Vec<f64>>())
}

impl AtLoad<'_> {
    /// How many times as long as `other` the first program takes, turn by turn.
    fn first_over(&self, other: &Series, class: Class, kind: Kind, statistic: Statistic) -> Option<Median> {
        let first = values(&self.series[0], class, kind, statistic);
        let other = values(other, class, kind, statistic);
        median(&first.iter().zip(&other).map(|(first, other)| first / other).collect::<Vec<f64>>())
    }

    pub(super) fn print(&self) {
        println!(
            "\nload {}, {} % scans: microseconds from arrival to completion; median of {} rounds and its 95 % interval",
            self.load,
            number(self.scans * 100.0),
            self.series[0].turns.len()
        );
        for (name, class) in CLASSES {
            print!("{name:<22}");
            STATISTICS.iter().for_each(|(title, _)| print!("{title:>24}"));
            println!();
            for series in self.series {
                for (kind_name, kind) in KINDS {
                    print!("{:<22}", format!("{} {kind_name}", series.program.name));
                    for (_, statistic) in STATISTICS {
                        print!("{:>24}", in_us(median(&values(series, class, kind, statistic))));
                    }
                    println!();
                }
            }
        }
        self.print_ratios();
        for series in self.series {
            let Alone { get_ns, scan_ns } = series.alone;
            println!(
                "{}: alone, a get takes {} us and a scan {}; {} yields and {} % kept by the filter a round",
                series.program.name,
                number(get_ns as f64 * 1e-3),
                number(scan_ns as f64 * 1e-3),
                number(of_turns(series, |turn| turn.yields as f64).map_or(0.0, |all| all.value)),
                number(of_turns(series, |turn| turn.kept_share * 100.0).map_or(0.0, |all| all.value)),
            );
        }
    }

    fn print_ratios(&self) {
        let [(_, gets), _] = CLASSES;
        for series in &self.series[1..] {
            print!("{:<22}", format!("{} : {}, gets", self.series[0].program.name, series.program.name));
            for (_, statistic) in STATISTICS {
                let ratio = self.first_over(series, gets, KINDS[0].1, statistic);
                print!("{:>24}", with_interval(ratio, 1.0));
            }
            println!();
        }
    }

    pub(super) fn print_json(&self) {
        for series in self.series {
            let mut row = json!({
                "load": self.load, "scan_share": self.scans, "program": series.program.name,
                "rounds": series.turns.len(),
                "alone": { "get_ns": series.alone.get_ns, "scan_ns": series.alone.scan_ns },
                "yields": as_json(of_turns(series, |turn| turn.yields as f64)),
                "kept_share": as_json(of_turns(series, |turn| turn.kept_share)),
            });
            for (name, class) in CLASSES {
                for (kind_name, kind) in KINDS {
                    for (statistic_name, statistic) in STATISTICS {
                        let found = median(&values(series, class, kind, statistic));
                        row[name][kind_name][format!("{statistic_name}_ns")] = as_json(found);
                        let over = self.first_over(series, class, kind, statistic);
                        row[name]["first_over_this"][kind_name][statistic_name] = as_json(over);
                    }
                }
            }
            println!("{row}");
        }
    }
}

fn of_turns(series: &Series, value: fn(&Turn) -> f64) -> Option<Median> {
    Median::of(&series.turns.iter().map(value).collect::<Vec<f64>>())
}

fn in_us(median: Option<Median>) -> String {
    with_interval(median, 1e-3)
}

fn with_interval(median: Option<Median>, unit: f64) -> String {
    median.map_or("-".to_owned(), |Median { value, low, high }| {
        let [value, low, high] = [value, low, high].map(|each| number(each * unit));
        format!("{value} [{low}, {high}]")
    })
}

fn as_json(median: Option<Median>) -> Value {
    median.map_or(
        Value::Null,
        |Median { value, low, high }| json!({ "median": value, "low": low, "high": high }),
    )
}

/// With three digits.
fn number(value: f64) -> String {
    let decimals = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(name: &str, p99_ns: &[u64]) -> Series {
        let turn = |&p99_ns| {
            let raw = Latency { count: 1, p99_ns, ..Latency::default() };
            let class = OfClass { raw, filtered: Latency::default() };
            Turn { gets: class, scans: class, kept_share: 1.0, checksum: String::new(), yields: 1 }
        };
        Series {
            program: format!("{name}=/").parse().unwrap(),
            alone: Alone { get_ns: 1, scan_ns: 2 },
            turns: p99_ns.iter().map(turn).collect(),
        }
    }

    #[test]
    fn ratios_are_taken_within_a_round() {
        let series = [series("without", &[800, 600, 1000]), series("with", &[10, 20, 10])];
        let at = AtLoad { load: 0.4, scans: 0.1, series: &series };
        let (gets, [_, (_, p99), _]) = (CLASSES[0].1, STATISTICS);
        let ratio = at.first_over(&series[1], gets, KINDS[0].1, p99).unwrap();
        assert_eq!((ratio.value, ratio.low, ratio.high), (80.0, 30.0, 100.0));
        assert_eq!(at.first_over(&series[1], gets, KINDS[1].1, p99), None, "nothing was kept");
    }

    #[test]
    fn figures_have_three_digits_and_their_interval() {
        assert_eq!([1234.6, 12.34, 0.567].map(number), ["1235", "12.3", "0.57"]);
        assert_eq!(in_us(Median::of(&[2_000.0, 1_000.0, 30_000.0])), "2.00 [1.00, 30.0]");
        assert_eq!(in_us(None), "-");
    }
}
