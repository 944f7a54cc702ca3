//! Tail-control, Figure 15: what tail-control does, request by request. `figures` lists it; `reproduction` simulates its file of
//! `experiments/`, and then asks here for statements, charts and tables.

use caudal_policy::Picos;
use caudal_report::chart::{Axis, Chart, Level, Plot, Point, Series, Spread, Unit};
use caudal_stats::Estimate;

use super::super::claim::{Ask, Claim, Finding, Limit, all};
use super::super::figure::{Figure, FigureKind, Source, Statement, Study};
use super::super::measured::Measured;
use super::super::sheet::Sheet;
use super::super::trace::Trace;
use super::super::words::SIMILAR;
use super::{CONTROL, STEAL};
use caudal_results::table::{digits, time};

pub(crate) const FIGURE_15: Figure = Figure {
    name: "tail-control-figure-15",
    title: "Tail-control, Figure 15: a pile-up, request by request",
    shows: "The 0.8 s with the most misses under steal-first in a run of 100,000 requests of Figure 6's work at 1200 \
            requests/s on 16 cores, and the same requests under tail-control with a target of 25 ms.",
    files: &[Source::alone(include_str!("../../../../experiments/tail-control-figure-15.toml"))],
    kind: FigureKind::Traces,
    statements: &STATEMENTS,
    charts: |measured| window(measured).map_or(Vec::new(), |seen| vec![chart(&seen)]),
    sheets: |measured| window(measured).map_or(Vec::new(), |seen| vec![sheet(&seen)]),
};

/// The window, and the steps in which it is looked for, drawn and looked at, in ps.
const WINDOW_PS: u64 = 800_000_000_000;
const SHIFT_PS: u64 = 100_000_000_000;
const DRAWN_PS: u64 = 10_000_000_000;
const STEP_PS: u64 = 1_000_000_000;
/// Active requests from which on the load is called high: more than cores.
const MANY: usize = 16;
/// Requests with a latency above this are those that were given up ("e.g. the ones with over 60 ms").
const GIVEN_UP: Picos = Picos::from_micros(60_000);

const fn statement(text: &'static str, reading: &'static str, judge: fn(&Study<'_>) -> Finding) -> Statement {
    Statement { text, source: "section 5.7, Figure 15", reading, needs: &[], judge }
}

/// One run: numbers without an interval.
static STATEMENTS: [Statement; 4] = [
    statement(
        "In a window of 0.8 s, far fewer requests miss the target under tail-control than under steal-first: 42 against 183",
        "in the window with the most misses under steal-first, at most half as many; one run, so there is no interval",
        |study| {
            judged(study.here(), |seen| {
                let [steal, control] = seen.both(|trace| trace.misses(seen.from_to, seen.late) as f64);
                vec![(format!("{control} against {steal}, ratio"), control / steal, Limit::Below(0.5))]
            })
        },
    ),
    statement(
        "When the instantaneous load is high, the queue is shorter under tail-control than under steal-first",
        "on average over the times when more than 16 requests are active under steal-first",
        |study| {
            judged(study.here(), |seen| {
                let (steal, control) = seen.active(|steal| steal > MANY);
                vec![(
                    format!("{control:.1} against {steal:.1} active, ratio"),
                    control / steal,
                    Limit::Below(1.0),
                )]
            })
        },
    ),
    statement(
        "Otherwise the numbers of active requests follow each other closely",
        "on average over the other times, within a quarter",
        |study| {
            judged(study.here(), |seen| {
                let (steal, control) = seen.active(|steal| steal <= MANY);
                let limit = Limit::Within(1.0 / (1.0 + SIMILAR), 1.0 + SIMILAR);
                vec![(format!("{control:.2} against {steal:.2} active, ratio"), control / steal, limit)]
            })
        },
    ),
    statement(
        "Tail-control increases the latency of a few requests by a large amount and reduces that of the others",
        "fewer than 5 % of the requests have more than 60 ms under tail-control, and the longest latency is higher than under \
         steal-first; without them, the mean is lower than that of the same requests under steal-first",
        |study| judged(study.here(), sacrificed),
    ),
];

/// A window of both runs.
struct Window<'a> {
    steal: &'a Trace,
    control: &'a Trace,
    late: Picos,
    from_to: (u64, u64),
}

impl Window<'_> {
    fn both(&self, of: impl Fn(&Trace) -> f64) -> [f64; 2] {
        [of(self.steal), of(self.control)]
    }

    /// Active requests under both, on average over the times when `when` is true of steal-first's.
    fn active(&self, when: impl Fn(usize) -> bool) -> (f64, f64) {
        let [steal, control] = [self.steal, self.control].map(|trace| trace.active(self.from_to, STEP_PS));
        let then: Vec<(usize, usize)> =
            steal.into_iter().zip(control).filter(|(steal, _)| when(*steal)).collect();
        let mean =
            |of: fn(&(usize, usize)) -> usize| then.iter().map(of).sum::<usize>() as f64 / then.len() as f64;
        (mean(|both| both.0), mean(|both| both.1))
    }

    /// Latencies of the requests that arrive in the window.
    fn latencies(&self, trace: &Trace) -> Vec<u64> {
        trace.arrived(self.from_to).iter().map(|(arrived, completed)| completed - arrived).collect()
    }
}

/// The window with the most misses under steal-first.
fn window(measured: &Measured) -> Option<Window<'_>> {
    let of = |system: &str| measured.traces.iter().find(|trace| trace.system == system);
    let (steal, control) = (of(STEAL)?, of(CONTROL)?);
    let late = *steal.late.first()?;
    let end = steal.requests.last()?.0.min(control.requests.last()?.0);
    let windows =
        (0..end.saturating_sub(WINDOW_PS)).step_by(SHIFT_PS as usize).map(|from| (from, from + WINDOW_PS));
    let most = windows.max_by_key(|window| steal.misses(*window, late))?;
    Some(Window { steal, control, late, from_to: most })
}

fn judged(measured: &Measured, of: impl Fn(&Window<'_>) -> Vec<(String, f64, Limit)>) -> Finding {
    let claims = window(measured).map_or(Vec::new(), |seen| of(&seen));
    let ask = |(place, value, limit): (String, f64, Limit)| -> Ask<'static> {
        Box::new(move |_| Claim::new(place.clone(), Estimate::exact(value), limit))
    };
    all(&claims.into_iter().map(ask).collect::<Vec<_>>())
}

fn sacrificed(seen: &Window<'_>) -> Vec<(String, f64, Limit)> {
    let (steal, control) = (seen.latencies(seen.steal), seen.latencies(seen.control));
    let longest = |of: &[u64]| of.iter().copied().max().unwrap_or(0) as f64 / 1e3;
    let kept: Vec<(u64, u64)> =
        steal.iter().copied().zip(control.iter().copied()).filter(|both| both.1 <= GIVEN_UP.0).collect();
    let mean = |of: fn(&(u64, u64)) -> u64| kept.iter().map(of).sum::<u64>() as f64 / kept.len() as f64 / 1e3;
    let (before, after) = (mean(|both| both.0), mean(|both| both.1));
    let few = (control.len() - kept.len()) as f64 / control.len() as f64;
    vec![
        ("share of requests with more than 60 ms".to_owned(), few, Limit::Below(0.05)),
        (
            format!("longest: {} against {}, ratio", time(longest(&control)), time(longest(&steal))),
            longest(&control) / longest(&steal),
            Limit::Above(1.0),
        ),
        (
            format!("mean of the others: {} against {}, ratio", time(after), time(before)),
            after / before,
            Limit::Below(1.0),
        ),
    ]
}

fn chart(seen: &Window<'_>) -> Chart {
    let across = Axis::new("time in the window", Unit::Nanoseconds, Spread::Linear);
    let late = seen.late;
    let mut latency = Plot::new(
        "Longest latency, by arrival",
        across.clone(),
        Axis::new("latency", Unit::Nanoseconds, Spread::Log),
    );
    latency.levels.push(Level { at: late.as_nanos_f64(), label: format!("target {late}") });
    let mut active =
        Plot::new("Most active requests", across, Axis::new("active requests", Unit::Count, Spread::Linear));
    for trace in [seen.steal, seen.control] {
        let (from, to) = seen.from_to;
        let slots: Vec<(u64, u64)> =
            (from..to).step_by(DRAWN_PS as usize).map(|at| (at, at + DRAWN_PS)).collect();
        let at = |slot: &(u64, u64)| (slot.0 - from) as f64 / 1e3;
        let longest = |slot: &(u64, u64)| {
            let longest =
                trace.arrived(*slot).iter().map(|(arrived, completed)| completed - arrived).max()?;
            Some(Point::new(at(slot), longest as f64 / 1e3))
        };
        let most = |slot: &(u64, u64)| {
            Some(Point::new(at(slot), trace.active(*slot, STEP_PS).into_iter().max()? as f64))
        };
        latency.series.push(Series::line(&trace.system, slots.iter().filter_map(longest).collect()));
        active.series.push(Series::line(&trace.system, slots.iter().filter_map(most).collect()));
    }
    let note = "Each point is the longest latency of the requests that arrive in 10 ms, or the most that are active in them.";
    Chart::single(FIGURE_15.title, note, vec![latency, active])
}

fn sheet(seen: &Window<'_>) -> Sheet {
    let row = |trace: &Trace| {
        let mut latencies = seen.latencies(trace);
        latencies.sort_unstable();
        let at = |share: f64| latencies[((latencies.len() - 1) as f64 * share) as usize] as f64 / 1e3;
        let active = trace.active(seen.from_to, STEP_PS);
        vec![
            trace.system.clone(),
            latencies.len().to_string(),
            trace.misses(seen.from_to, seen.late).to_string(),
            trace.misses(seen.from_to, GIVEN_UP).to_string(),
            time(at(0.5)),
            time(at(0.99)),
            time(at(1.0)),
            digits(active.iter().sum::<usize>() as f64 / active.len() as f64),
            active.iter().max().map_or(0, |most| *most).to_string(),
        ]
    };
    let head = [
        "system",
        "requests",
        "misses",
        "over 60 ms",
        "p50",
        "p99",
        "longest",
        "active, mean",
        "active, most",
    ];
    let (from, to) = seen.from_to;
    Sheet {
        title: format!("From {:.1} s to {:.1} s of the run", from as f64 / 1e12, to as f64 / 1e12),
        head: head.map(str::to_owned).to_vec(),
        rows: [seen.steal, seen.control].into_iter().map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(system: &str, latency_ps: impl Fn(u64) -> u64) -> Trace {
        let requests = (0..3_000).map(|i| (i * 1_000_000_000, i * 1_000_000_000 + latency_ps(i))).collect();
        Trace { system: system.to_owned(), late: vec![Picos::from_micros(25_000)], requests }
    }

    #[test]
    fn the_window_is_the_one_with_the_most_misses_of_steal_first() {
        let long = |i: u64| if (1_500..1_600).contains(&i) { 30_000_000_000 } else { 5_000_000_000 };
        let measured = Measured {
            traces: vec![
                trace(STEAL, long),
                trace(CONTROL, |i| if i == 1_500 { 90_000_000_000 } else { 5_000_000_000 }),
            ],
            ..Measured::default()
        };
        let seen = window(&measured).unwrap();
        assert_eq!(
            (seen.steal.misses(seen.from_to, seen.late), seen.control.misses(seen.from_to, seen.late)),
            (100, 1)
        );
        assert!(seen.from_to.0 <= 1_500_000_000_000 && seen.from_to.1 >= 1_600_000_000_000);
        let (steal, control) = seen.active(|steal| steal > MANY);
        assert!(steal > 16.0 && control < 8.0, "{steal} {control}");
        let found = sacrificed(&seen);
        assert!(found[0].1 < 0.01 && found[1].1 == 3.0 && found[2].1 < 1.0, "{found:?}");
    }
}
