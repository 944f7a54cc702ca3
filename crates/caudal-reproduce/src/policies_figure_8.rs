//! Policies paper, section 6 and Figure 8: core-allocation policies in Caladan, which the paper measured. Its server is simulated here:
//! memcached's latency, and the cores that it leaves to others. `figures` lists it; `reproduction` simulates its file of `experiments/`,
//! and then asks here for statements, charts and tables.

use caudal_report::chart::{Axis, Chart, Plot, Point, Series, Spread, Unit};
use caudal_stats::{Estimate, Linear};

use super::cell::CONFIDENCE;
use super::cell::{Cell, Stat, common_replications};
use super::charts::{Axes, curves};
use super::claim::{Ask, Claim, Finding, Limit, Needs, all, judge, one};
use super::compare::{MEDIAN, TAIL, ratio};
use super::figure::{Figure, FigureKind, Source, Statement};
use super::measured::Measured;
use super::tables::dynamic_sheet;
use super::words::SIMILAR;

pub(crate) const FIGURE: Figure = Figure {
    name: "policies-figure-8",
    title: "Policies paper, Figure 8: core allocation for memcached in Caladan",
    shows: "Tail latency of memcached's requests of 1 us on 32 cores with work stealing, and the cores that each core-allocation \
            policy leaves to another program, at loads from 0.1 to 0.8.",
    files: &[Source::alone(include_str!("../../../experiments/policies-figure-8.toml"))],
    kind: FigureKind::Points,
    statements: &STATEMENTS,
    charts,
    sheets: |measured| vec![dynamic_sheet(measured)],
};

const STEALING: &str = "work-stealing";
/// Delay range with the wider range.
const WIDE: &str = "delay range 1-4 us";
const RANGES: [&str; 2] = ["delay-range", "utilization-range"];
const OTHERS: [&str; 2] = ["shenango", "caladan"];
const WHERE: &str = "section 6.1, Figure 8";

static STATEMENTS: [Statement; 9] = [
    Statement {
        text: "Utilization range and delay range have a tail latency similar to Caladan's and Shenango's",
        source: WHERE,
        reading: "p99.9 is at most a quarter above the higher one of the two at most loads",
        needs: &[],
        judge: |study| judge(Needs::Most, &beside_the_slower(study.here(), TAIL)),
    },
    Statement {
        text: "All of these policies have a similar median latency",
        source: WHERE,
        reading: "the median of both ranges is at most a quarter above the higher one of Caladan's and Shenango's at most loads",
        needs: &[],
        judge: |study| judge(Needs::Most, &beside_the_slower(study.here(), MEDIAN)),
    },
    Statement {
        text: "Utilization range and delay range leave more to the other program than Caladan and Shenango",
        source: WHERE,
        reading: "they hold fewer cores at every load",
        needs: &[],
        judge: |study| all(&fewer_cores(study.here())),
    },
    Statement {
        text: "Shenango is the least efficient overall",
        source: WHERE,
        reading: "of the four, it holds the most cores on average over the loads",
        needs: &[],
        judge: |study| least_efficient(study.here()),
    },
    Statement {
        text: "They leave up to 22 % of all throughput more than Shenango: 7 hyperthreads",
        source: WHERE,
        reading: "most cores that either range saves at any load are more than 1",
        needs: &[],
        judge: |study| most_saved(study.here(), "shenango"),
    },
    Statement {
        text: "They leave up to 13 % of all throughput more than Caladan: 4 hyperthreads",
        source: WHERE,
        reading: "most cores that either range saves at any load are more than 1",
        needs: &[],
        judge: |study| most_saved(study.here(), "caladan"),
    },
    Statement {
        text: "With utilization range, memcached spends less than 14 % of its time in the scheduler at all but the lowest loads",
        source: WHERE,
        reading: "share of the core time that is not spent on requests, cores on their way included, at loads from 0.2 on",
        needs: &[],
        judge: |study| all(&in_the_scheduler(study.here())),
    },
    Statement {
        text: "Delay range with 1-4 us leaves more than with 0.5-1 us: about 2 hyperthreads",
        source: WHERE,
        reading: "most cores that it saves at any load are more than half a core",
        needs: &[],
        judge: |study| wider_saves(study.here()),
    },
    Statement {
        text: "Delay range with 1-4 us has a longer tail than with 0.5-1 us: by 10-15 us",
        source: WHERE,
        reading: "largest difference of p99.9 at any load is above 0",
        needs: &[],
        judge: |study| wider_waits(study.here()),
    },
];

/// Points of two policies at the same loads.
fn same_load<'a>(a: &[&'a Cell], b: &[&'a Cell]) -> Vec<(&'a Cell, &'a Cell)> {
    let pair = |&a: &&'a Cell| b.iter().find(|b| b.load == a.load).map(|&b| (a, b));
    a.iter().filter_map(pair).collect()
}

fn under<'a>(measured: &'a Measured, allocation: &str) -> Vec<&'a Cell> {
    measured.under(STEALING, allocation)
}

fn wide(measured: &Measured) -> Vec<&Cell> {
    measured.under(WIDE, "delay-range")
}

/// Both ranges over the higher one of the two others, by the estimates.
fn beside_the_slower(measured: &Measured, stat: Stat) -> Vec<Ask<'_>> {
    let rivals = same_load(&under(measured, OTHERS[0]), &under(measured, OTHERS[1]));
    let estimate = |cell: &Cell| stat.of(cell, CONFIDENCE).estimate;
    let slower = |(a, b)| if estimate(a) >= estimate(b) { a } else { b };
    let slower: Vec<&Cell> = rivals.into_iter().map(slower).collect();
    let mut asks = Vec::new();
    for range in RANGES {
        for (a, b) in same_load(&under(measured, range), &slower) {
            let place = format!("{range} over {} at load {}", b.allocation, a.load);
            asks.push(ratio(place, stat, a, b, Limit::Below(1.0 + SIMILAR)));
        }
    }
    asks
}

fn fewer_cores(measured: &Measured) -> Vec<Ask<'_>> {
    let mut asks: Vec<Ask<'_>> = Vec::new();
    for range in RANGES {
        for other in OTHERS {
            for (a, b) in same_load(&under(measured, range), &under(measured, other)) {
                asks.push(Box::new(move |confidence| {
                    let n = common_replications(&[a, b]);
                    let log = a.cores(n).ln().plus(-1.0, &b.cores(n).ln());
                    let place = format!("cores of {range} over {other}'s at load {}", a.load);
                    Claim::new(place, log.exp_interval(confidence), Limit::Below(1.0)).about(&[a, b])
                }));
            }
        }
    }
    asks
}

/// Cores that the second holds and the first does not.
fn saved(a: &Cell, b: &Cell) -> Linear {
    let n = common_replications(&[a, b]);
    b.cores(n).plus(-1.0, &a.cores(n))
}

fn most<'a>(
    pairs: Vec<(&'a Cell, &'a Cell)>,
    of: impl Fn(&Cell, &Cell) -> f64,
) -> Option<(&'a Cell, &'a Cell)> {
    let carried = pairs.into_iter().filter(|(a, b)| !a.overloaded && !b.overloaded);
    carried.max_by(|x, y| of(x.0, x.1).total_cmp(&of(y.0, y.1)))
}

fn most_saved(measured: &Measured, other: &str) -> Finding {
    let pairs = RANGES.iter().flat_map(|range| same_load(&under(measured, range), &under(measured, other)));
    let Some((a, b)) = most(pairs.collect(), |a, b| saved(a, b).value()) else { return all(&[]) };
    one(move |confidence| {
        let place = format!("cores that {} saves against {} at load {}:", a.allocation, b.allocation, a.load);
        Claim::new(place, saved(a, b).interval(confidence), Limit::Above(1.0)).about(&[a, b])
    })
}

fn least_efficient(measured: &Measured) -> Finding {
    let over = |other: &'static str| -> Ask<'_> {
        let pairs = same_load(&under(measured, "shenango"), &under(measured, other));
        Box::new(move |confidence| {
            let sum = pairs.iter().map(|(a, b)| saved(b, a)).reduce(|sum, more| sum.plus(1.0, &more));
            let mean = sum.map_or(Estimate::MISSING, |sum| {
                sum.mapped(sum.value() / pairs.len() as f64, 1.0 / pairs.len() as f64).interval(confidence)
            });
            let cells: Vec<&Cell> = pairs.iter().flat_map(|&(a, b)| [a, b]).collect();
            let place = format!("cores that it holds more than {other}, on average:");
            Claim::new(place, mean, Limit::Above(0.0)).about(&cells)
        })
    };
    all(&["caladan", "delay-range", "utilization-range"].map(over))
}

fn in_the_scheduler(measured: &Measured) -> Vec<Ask<'_>> {
    let cells = under(measured, "utilization-range").into_iter().filter(|cell| cell.load > 0.15);
    let ask = |cell: &'_ Cell| -> Ask<'_> {
        // The closure outlives the loop, its cell is the figure's.
        let (efficiency, load) = (cell.clone(), cell.load);
        Box::new(move |confidence| {
            let Estimate { estimate, low, high } = efficiency.efficiency(confidence);
            let share = Estimate { estimate: 1.0 - estimate, low: 1.0 - high, high: 1.0 - low };
            Claim::new(format!("share at load {load}"), share, Limit::Below(0.14)).about(&[&efficiency])
        })
    };
    cells.map(ask).collect()
}

fn wider_saves(measured: &Measured) -> Finding {
    let pairs = same_load(&wide(measured), &under(measured, "delay-range"));
    let Some((a, b)) = most(pairs, |a, b| saved(a, b).value()) else { return all(&[]) };
    one(move |confidence| {
        let place = format!("cores that 1-4 us saves at load {}:", a.load);
        Claim::new(place, saved(a, b).interval(confidence), Limit::Above(0.5)).about(&[a, b])
    })
}

fn wider_waits(measured: &Measured) -> Finding {
    let pairs = same_load(&wide(measured), &under(measured, "delay-range"));
    let estimate = |cell: &Cell| TAIL.of(cell, CONFIDENCE).estimate;
    let Some((a, b)) = most(pairs, |a, b| estimate(a) - estimate(b)) else { return all(&[]) };
    one(move |confidence| {
        // The two saw the same requests; taken as independent, the interval is wider than it has to be.
        let each = 1.0 - (1.0 - confidence) / 2.0;
        let (wide, narrow) = (TAIL.of(a, each), TAIL.of(b, each));
        let us = Estimate {
            estimate: (wide.estimate - narrow.estimate) / 1e3,
            low: (wide.low - narrow.high) / 1e3,
            high: (wide.high - narrow.low) / 1e3,
        };
        let place = format!("p99.9 with 1-4 us less that with 0.5-1 us at load {}, in us:", a.load);
        Claim::new(place, us, Limit::Above(0.0)).about(&[a, b])
    })
}

fn name(cell: &Cell) -> String {
    if cell.system == WIDE { "delay-range 1-4 us".to_owned() } else { cell.allocation.to_owned() }
}

fn charts(measured: &Measured) -> Vec<Chart> {
    let axes = Axes { across: ("load", Unit::Plain, |cell| cell.load), stat: TAIL, most: None };
    let tail = curves(&measured.cells, "p99.9 latency of memcached", axes, |cell| Some(name(cell)));
    let across = Axis::new("load", Unit::Plain, Spread::Linear);
    let upwards = Axis::new("cores left to the other program", Unit::Plain, Spread::Linear).from(0.0);
    let mut left = Plot::new("Cores that are left", across, upwards);
    for name_of in measured.values(name) {
        let points = measured.cells.iter().filter(|cell| name(cell) == name_of).map(|cell| {
            let (all, held) = (f64::from(cell.cores), cell.cores_mean(CONFIDENCE));
            Point::new(cell.load, all - held.estimate).within(all - held.high, all - held.low)
        });
        left = left.with(Series::line(&name_of, points.collect()));
    }
    vec![Chart::single(
        FIGURE.title,
        "Lower is better on the one side, higher on the other.",
        vec![tail, left],
    )]
}
