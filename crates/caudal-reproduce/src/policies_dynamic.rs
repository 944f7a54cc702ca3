//! Policies paper, Figures 5, 6 and 9: load balancing together with core allocation. These figures differ only in the task length, the
//! cores and the load, so their files share the statements, charts and tables of this one. Pure, from simulated points.

use super::charts;
use super::claim::{Ask, Claim, Finding, Limit, Needs, all, judge, prefixed};
use super::compare::{LATENCIES, MEDIAN, TAIL, against_curve, along_cores, nearer};
use super::figure::{Statement, Study};
use super::ideal::Direction;
use super::measured::Measured;
use super::sheet::Sheet;
use super::tables::{authors_sheet, dynamic_sheet, static_sheets};
use super::words::UNCHANGED;
use caudal_report::chart::Chart;

/// Load-balancing policies that the paper pairs with core allocation.
pub(super) const BALANCING: [&str; 4] = ["no-balancing", "enqueue-choice", "work-shedding", "work-stealing"];
/// Core-allocation policies that go with all of them.
pub(super) const ALLOCATION: [&str; 4] = ["shenango", "caladan", "delay-range", "utilization-range"];
const STEALING: &str = "work-stealing";
/// A point does not beat its curve.
pub(super) const NOT_BEATEN: Limit = Limit::Above(1.0 - UNCHANGED);

const CURVE_READING: &str = "at as many cores as the point holds on average, on the logarithm's straight line \
     between simulated numbers of cores; points that hold fewer than any static allocation that carries the load are \
     held against the smallest that does";

/// Finding 1 on the static curves of a figure.
pub(super) const STATIC_STEALING: Statement = Statement {
    text: "With static core allocations, work stealing has the lowest latency of the practical policies",
    source: "section 4.2.1, Finding 1 and its robustness",
    reading: "p50, p99 and p99.9, against no balancing, choice and shedding, on every number of cores",
    needs: &[],
    judge: |study| static_stealing(study.here()),
};

/// Finding 3, upwards.
pub(super) const LOWEST: Statement = Statement {
    text: "Work stealing performs best with every core-allocation policy: latency over the single queue's",
    source: "section 4.2.2, Finding 3",
    reading: "\"proximity to the single-queue curve\" upwards: p99.9 over the single queue's on as many cores is \
              lower with stealing than with choice or shedding under the same allocation policy",
    needs: &[],
    judge: |study| nearest(study.here(), Direction::Latency),
};

/// Finding 3, in both directions.
pub(super) const NEAREST: Statement = Statement {
    text: "Work stealing performs best with every core-allocation policy: distance to the single queue's curve",
    source: "section 4.2.2, Finding 3",
    reading: "the same in both directions: the factor by which both p99.9 and cores held would have to shrink to \
              reach the curve",
    needs: &[],
    judge: |study| nearest(study.here(), Direction::Both),
};

/// Finding 4 for short tasks, at the tail.
pub(super) const NONE_BEATS_TAIL: Statement = Statement {
    text: "No core-allocation policy beats static allocation with the same load balancing: p99.9",
    source: "section 4.3, Finding 4",
    reading: CURVE_READING,
    needs: &[],
    judge: |study| all(&points_against_curves(study.here(), NOT_BEATEN, TAIL, true)),
};

/// The same for the median.
pub(super) const NONE_BEATS_MEDIAN: Statement = Statement {
    text: "No core-allocation policy beats static allocation with the same load balancing: median",
    source: "section 4.3, Finding 4",
    reading: CURVE_READING,
    needs: &[],
    judge: |study| all(&points_against_curves(study.here(), NOT_BEATEN, MEDIAN, true)),
};

/// Finding 4 for longer tasks.
pub(super) const ONLY_STEALING_BEATS: Statement = Statement {
    text: "The only combinations that beat their static curve include work stealing",
    source: "section 4.3",
    reading: "p99.9, no other combination is below its curve",
    needs: &[],
    judge: |study| all(&points_against_curves(study.here(), NOT_BEATEN, TAIL, false)),
};

/// A statement that the point of an allocation policy with stealing lies below (or not) the static curve.
macro_rules! beats {
    ($text:literal, $allocation:literal, $stat:expr, $limit:expr) => {
        $crate::figure::Statement {
            text: $text,
            source: "section 4.3",
            reading: "at as many cores as the point holds on average",
            needs: &[],
            judge: |study| {
                let names = ("work-stealing", $allocation);
                let ask = $crate::compare::against_curve(study.here(), names, names.0, $stat, $limit);
                $crate::claim::all(ask.as_slice())
            },
        }
    };
}
pub(super) use beats;

/// A statement that a point with stealing is near the bend of the static curve.
pub(super) const NEAR_BEND: Statement = Statement {
    text: "Delay range and utilization range operate near the bend of the work-stealing curve",
    source: "section 4.3, Finding 6",
    reading: "they hold at most three quarters of the cores, and p99.9 is at most twice that of all cores",
    needs: &[],
    judge: |study| near_bend(study.here()),
};

fn static_stealing(measured: &Measured) -> Finding {
    let mut asks = Vec::new();
    for other in &BALANCING[..3] {
        let more = along_cores(measured, (STEALING, other), &LATENCIES, Limit::Below(1.0));
        asks.extend(more.into_iter().map(|ask| prefixed(format!("against {other}: "), ask)));
    }
    all(&asks)
}

fn nearest(measured: &Measured, direction: Direction) -> Finding {
    let mut asks = Vec::new();
    for allocation in ALLOCATION {
        for other in ["enqueue-choice", "work-shedding"] {
            asks.extend(nearer(measured, allocation, (STEALING, other), direction));
        }
    }
    all(&asks)
}

fn points_against_curves<'a>(
    measured: &'a Measured,
    limit: Limit,
    stat: super::cell::Stat,
    stealing_too: bool,
) -> Vec<Ask<'a>> {
    let mut asks = Vec::new();
    for balancing in BALANCING.into_iter().filter(|&name| stealing_too || name != STEALING) {
        for allocation in ALLOCATION.into_iter().chain(["per-task"]) {
            let overloaded = measured.point(balancing, allocation).is_some_and(|point| point.overloaded);
            if !overloaded {
                asks.extend(against_curve(measured, (balancing, allocation), balancing, stat, limit));
            }
        }
    }
    asks
}

fn near_bend(measured: &Measured) -> Finding {
    let mut asks: Vec<Ask<'_>> = Vec::new();
    for allocation in ["delay-range", "utilization-range"] {
        let Some(point) = measured.point(STEALING, allocation) else { continue };
        asks.push(share_of_cores(point, allocation, Limit::Below(0.75)));
        if let Some(all_cores) = measured.held(STEALING, point.cores) {
            let place = format!("p99.9 with {allocation} over that of all cores");
            asks.push(super::compare::ratio(place, TAIL, point, all_cores, Limit::Below(2.0)));
        }
    }
    all(&asks)
}

/// How many of the machine's cores a point holds.
pub(super) fn share_of_cores<'a>(point: &'a super::cell::Cell, name: &str, limit: Limit) -> Ask<'a> {
    let place = format!("share of cores held with {name}");
    Box::new(move |confidence| {
        let share = point.cores_mean(confidence).divided_by(f64::from(point.cores));
        Claim::new(place.clone(), share, limit).about(&[point])
    })
}

/// Does per-task allocation stay below T/(T+R) wherever it applies: where fewer than 1 % of the arrivals find
/// no free core?
pub(super) fn efficiency_bound(study: &Study<'_>, mean_us: f64) -> Finding {
    const ALLOCATION_US: f64 = 5.0;
    let bound = mean_us / (mean_us + ALLOCATION_US);
    let points = study.here().under(STEALING, "per-task");
    let asks: Vec<Ask<'_>> = points
        .into_iter()
        .filter(|point| point.refused.high < 0.01)
        .map(|point| -> Ask<'_> {
            Box::new(move |confidence| {
                let place = format!("efficiency at load {}, bound {bound:.3}:", point.load);
                Claim::new(place, point.efficiency(confidence), Limit::Below(bound)).about(&[point])
            })
        })
        .collect();
    all(&asks)
}

/// At least one point is at `limit` times its curve.
pub(super) fn any_against(
    measured: &Measured,
    points: &[(&str, &str)],
    curve: &str,
    limit: Limit,
) -> Finding {
    let asks = points.iter().filter_map(|&point| against_curve(measured, point, curve, TAIL, limit));
    judge(Needs::Any, &asks.collect::<Vec<_>>())
}

/// The points among the curves.
pub(super) fn charts(measured: &Measured, title: &str) -> Vec<Chart> {
    let note = "Lines: static allocation. Points: cores come and go, drawn at the number held on average.";
    vec![charts::among_curves(measured, title, note, &[TAIL, MEDIAN])]
}

/// Points first, then the curves.
pub(super) fn sheets(measured: &Measured) -> Vec<Sheet> {
    let mut sheets = vec![dynamic_sheet(measured)];
    sheets.extend(static_sheets(measured));
    sheets.extend(authors_sheet(measured));
    sheets
}
