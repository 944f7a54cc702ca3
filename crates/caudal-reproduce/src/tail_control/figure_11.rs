//! Tail-control, Figure 11: thresholds that were worked out for other work than there is. `figures` lists it; `reproduction` simulates
//! its file of `experiments/`, and then asks here for statements, charts and tables.

use caudal_report::chart::{Axis, Chart, Plot, Point, Series, Spread, Unit};
use caudal_stats::Estimate;

use super::super::cell::CONFIDENCE;
use super::super::claim::{Ask, Finding, Limit, Needs, all, interval, judge};
use super::super::figure::{Figure, FigureKind, Source, Statement, Study};
use super::super::measured::Measured;
use super::super::sheet::Sheet;
use super::super::words::{MARGINAL, UNCHANGED};
use super::setting::{Setting, settings};
use super::{ADMIT, FEWER, MORE, STEAL};
use caudal_results::table::estimate;

pub(crate) const FIGURE_11: Figure = Figure {
    name: "tail-control-figure-11",
    title: "Tail-control, Figure 11: thresholds for other work",
    shows: "Share of requests that take longer than 28 ms on 16 cores, for log-normal work of 10 ms on average with a standard \
            deviation of 13 ms at 1200 requests/s, when tail-control's thresholds were worked out for another standard \
            deviation or another mean.",
    files: &[Source::alone(include_str!("../../../../experiments/tail-control-figure-11.toml"))],
    kind: FigureKind::Points,
    statements: &STATEMENTS,
    charts: |measured| vec![chart(measured)],
    sheets: |measured| vec![sheet(measured)],
};

/// Tail-control with the right table, and with those for other standard deviations and other means.
const RIGHT: &str = "sd 13 ms (right)";
const SPREADS: [&str; 4] = ["sd 5 ms", "sd 10 ms", "sd 17 ms", "sd 25 ms"];
const MEANS: [&str; 4] = ["mean 0.5 ms", "mean 2 ms", "mean 13 ms", "mean 20 ms"];

const fn statement(text: &'static str, reading: &'static str, judge: fn(&Study<'_>) -> Finding) -> Statement {
    Statement { text, source: "section 5.4, Figure 11", reading, needs: &[], judge }
}

static STATEMENTS: [Statement; 5] = [
    statement(
        "With a standard deviation of 10 or 17 ms instead of 13 ms, tail-control has comparable performance",
        "at most a tenth more misses than with the right one",
        |study| all(&held(study.here(), &[SPREADS[1], SPREADS[2]], RIGHT, Limit::Below(1.0 + MARGINAL))),
    ),
    statement(
        "With a standard deviation of 10 or 17 ms instead of 13 ms, tail-control is still ahead of both rivals",
        "fewer misses than either",
        |study| {
            let over = |rival| held(study.here(), &[SPREADS[1], SPREADS[2]], rival, FEWER);
            all(&[over(STEAL), over(ADMIT)].into_iter().flatten().collect::<Vec<_>>())
        },
    ),
    statement(
        "Tail-control is less sensitive to too large a standard deviation than to too small a one",
        "fewer misses with 17 ms than with 10 ms, and with 25 ms than with 5 ms",
        |study| {
            let pairs = [(SPREADS[2], SPREADS[1]), (SPREADS[3], SPREADS[0])];
            let asks =
                pairs.into_iter().flat_map(|(large, small)| held(study.here(), &[large], small, FEWER));
            all(&asks.collect::<Vec<_>>())
        },
    ),
    statement(
        "When the standard deviation is too small, tail-control performs similarly to steal-first",
        "with 5 ms, its misses are nearer to steal-first's than with the right one: more than with the right one, and no \
         more than 2 % above steal-first's",
        |study| {
            let more = held(study.here(), &[SPREADS[0]], RIGHT, MORE);
            let within = held(study.here(), &[SPREADS[0]], STEAL, Limit::Below(1.0 + UNCHANGED));
            all(&[more, within].into_iter().flatten().collect::<Vec<_>>())
        },
    ),
    statement(
        "When the mean is significantly inaccurate, tail-control can be worse than steal-first and admit-first",
        "more misses than the worse of the two with one of four wrong means",
        |study| {
            let worse = settings(study.here()).first().and_then(|setting| {
                let better = setting.better([STEAL, ADMIT])?;
                Some(if better == STEAL { ADMIT } else { STEAL })
            });
            judge(Needs::Any, &worse.map_or(Vec::new(), |rival| held(study.here(), &MEANS, rival, MORE)))
        },
    ),
];

/// Are the misses of `systems` over those of `other` where `limit` says?
fn held<'a>(
    measured: &'a Measured,
    systems: &[&'static str],
    other: &'static str,
    limit: Limit,
) -> Vec<Ask<'a>> {
    let Some(&here) = settings(measured).first() else { return Vec::new() };
    let ask = |&system: &&'static str| {
        Some(here.ratio((system, other))?.ask(format!("{system} over {other}:"), limit))
    };
    systems.iter().filter_map(ask).collect()
}

fn chart(measured: &Measured) -> Chart {
    let names = measured.values(|cell| cell.system.clone());
    let upwards = Axis::new("misses of 28 ms", Unit::Percent, Spread::Linear).from(0.0);
    let here = settings(measured);
    let point = |(place, name): (usize, &String)| {
        let Estimate { estimate, low, high } = here.first()?.aim(name)?.share(CONFIDENCE);
        Some(Point::new(place as f64, estimate).within(low, high))
    };
    let points = names.iter().enumerate().filter_map(point).collect();
    let series = Series { mark: caudal_report::chart::Mark::Points, ..Series::line("miss ratio", points) };
    let plot = Plot::new("", Axis::of_names("thresholds for", names), upwards).with(series);
    Chart::single(FIGURE_11.title, "Lower is better; all but the first two are tail-control.", vec![plot])
}

fn sheet(measured: &Measured) -> Sheet {
    let row = |here: Setting<'_>, name: &str| -> Option<Vec<String>> {
        let share = here.aim(name)?.share(CONFIDENCE);
        let mut row = vec![name.to_owned(), estimate(&share, |share| format!("{:.3} %", 100.0 * share))];
        for other in [STEAL, ADMIT, RIGHT] {
            row.push(interval(here.ratio((name, other))?.estimate(CONFIDENCE)));
        }
        Some(row)
    };
    let here = settings(measured).first().copied();
    let names = measured.values(|cell| cell.system.clone());
    let rows = here.map_or(Vec::new(), |here| names.iter().filter_map(|name| row(here, name)).collect());
    let head = ["thresholds for", "misses", "over steal-first", "over admit-first", "over the right ones"];
    let title =
        "Misses of 28 ms (± half-width of the 95 % interval; ratios with their 95 % intervals)".to_owned();
    Sheet { title, head: head.map(str::to_owned).to_vec(), rows }
}
