//! Tail-control, Figure 4: thresholds by the number of active requests. `figures` lists it; `reproduction` simulates its file of
//! `experiments/`, and then asks here for statements, charts and tables.

use caudal_policy::Picos;
use caudal_report::chart::{Axis, Chart, Plot, Point, Series, Spread, Unit};
use caudal_stats::Estimate;

use super::super::claim::{Ask, Claim, Finding, Limit, all};
use super::super::figure::{Figure, FigureKind, Source, Statement, Study};
use super::super::measured::Measured;
use super::super::sheet::Sheet;
use super::super::thresholds::Thresholds;
use caudal_results::table::{digits, time};

pub(crate) const FIGURE_4: Figure = Figure {
    name: "tail-control-figure-4",
    title: "Tail-control, Figure 4: large-request thresholds",
    shows: "From how much work on tail-control gives a request up, by the number of active requests, for log-normal work of \
            10 ms on average on 16 cores: three targets at three rates. Worked out by the formulas of section 4.1, not \
            simulated.",
    files: &[Source::alone(include_str!("../../../../experiments/tail-control-figure-4.toml"))],
    kind: FigureKind::Thresholds,
    statements: &STATEMENTS,
    charts: |measured| vec![chart(measured)],
    sheets: |measured| vec![sheet(measured)],
};

/// Numbers of active requests that are judged and drawn: by far more than there are on average (3 to 4 at the highest
/// rate), and as many as there are in the worst pile-ups.
const ACTIVE_MAX: u32 = 60;
/// The numbers of active requests that the table shows.
const SHOWN: [u32; 10] = [1, 5, 10, 15, 20, 25, 30, 40, 50, 60];

const fn statement(text: &'static str, reading: &'static str, judge: fn(&Study<'_>) -> Finding) -> Statement {
    Statement { text, source: "section 4.1, Figure 4", reading, needs: &[], judge }
}

static STATEMENTS: [Statement; 2] = [
    statement(
        "As the number of active requests increases, the large-request threshold decreases",
        "from 1 to 60 active requests it never rises with one more, and it is smaller with 60 than with 1, for every target \
         at every rate",
        |study| falls(study.here()),
    ),
    statement(
        "Given the same number of active requests, the threshold is larger when the target is longer",
        "from 1 to 60 active requests it is nowhere smaller than with the next shorter target, at every rate",
        |study| shorter(study.here()),
    ),
];

fn limit(table: &Thresholds, active: u32) -> Picos {
    table.table.at(active)
}

fn over(own: Picos, other: Picos) -> f64 {
    own.0 as f64 / other.0 as f64
}

fn rate(table: &Thresholds) -> String {
    format!("{}/s", digits(table.rate_per_s))
}

/// Is this ratio, which has no error, within the limit?
fn ratio(place: String, ratio: f64, limit: Limit) -> Ask<'static> {
    Box::new(move |_| Claim::new(place.clone(), Estimate::exact(ratio), limit))
}

/// In each table: does no threshold rise with one more active request, and do they fall at all?
fn falls(measured: &Measured) -> Finding {
    let of = |table: &Thresholds| {
        let rise = (1..ACTIVE_MAX).map(|active| over(limit(table, active + 1), limit(table, active)));
        let place = format!("{}, {}", rate(table), table.target);
        // A threshold that stays where it is has not fallen: what is exactly 1 is to count as above it.
        let whole = over(limit(table, ACTIVE_MAX), limit(table, 1)).next_up();
        [
            ratio(format!("{place}, one more:"), rise.fold(0.0, f64::max), Limit::Within(0.0, 1.0)),
            ratio(format!("{place}, {ACTIVE_MAX} over 1:"), whole, Limit::Below(1.0)),
        ]
    };
    all(&measured.thresholds.iter().flat_map(of).collect::<Vec<_>>())
}

/// At each rate: is no threshold above that of the next longer target?
fn shorter(measured: &Measured) -> Finding {
    let mut sorted: Vec<&Thresholds> = measured.thresholds.iter().collect();
    sorted.sort_by(|a, b| a.rate_per_s.total_cmp(&b.rate_per_s).then(b.target.cmp(&a.target)));
    let pairs = sorted.windows(2).filter(|pair| pair[0].rate_per_s == pair[1].rate_per_s);
    let asks = pairs.map(|pair| {
        let most = (1..=ACTIVE_MAX).map(|active| over(limit(pair[1], active), limit(pair[0], active)));
        let place = format!("{}, {} over {}:", rate(pair[0]), pair[1].target, pair[0].target);
        ratio(place, most.fold(0.0, f64::max), Limit::Within(0.0, 1.0))
    });
    all(&asks.collect::<Vec<_>>())
}

fn chart(measured: &Measured) -> Chart {
    let mut plots: Vec<Plot> = Vec::new();
    for table in &measured.thresholds {
        let title = rate(table);
        if plots.iter().all(|plot| plot.title != title) {
            let across = Axis::new("active requests", Unit::Count, Spread::Linear);
            let upwards = Axis::new("large-request threshold", Unit::Nanoseconds, Spread::Log);
            plots.push(Plot::new(title.clone(), across, upwards));
        }
        let points =
            (1..=ACTIVE_MAX).map(|active| Point::new(f64::from(active), limit(table, active).as_nanos_f64()));
        let series = Series::line(format!("target {}", table.target), points.collect());
        plots.iter_mut().filter(|plot| plot.title == title).for_each(|plot| plot.series.push(series.clone()));
    }
    let note = "A request that has been processed for longer is not stolen from any more.";
    Chart::single(FIGURE_4.title, note, plots)
}

fn sheet(measured: &Measured) -> Sheet {
    let mut head = vec!["rate, target \\ active requests".to_owned()];
    head.extend(SHOWN.map(|active| active.to_string()));
    let row = |table: &Thresholds| {
        let mut row = vec![format!("{}, {}", rate(table), table.target)];
        row.extend(SHOWN.map(|active| time(limit(table, active).as_nanos_f64())));
        row
    };
    let rows = measured.thresholds.iter().map(row).collect();
    Sheet { title: "Large-request thresholds".to_owned(), head, rows }
}

#[cfg(test)]
mod tests {
    use caudal_policy::parallelism::ThresholdTable;
    use caudal_report::Outcome;

    use super::*;

    fn measured(limits: [[u64; 2]; 2]) -> Measured {
        let table = |(target, limits): (Picos, [u64; 2])| Thresholds {
            rate_per_s: 800.0,
            target,
            table: ThresholdTable::new(limits.map(Picos)),
        };
        let thresholds = [Picos(2), Picos(1)].into_iter().zip(limits).map(table).collect();
        Measured { thresholds, ..Measured::default() }
    }

    #[test]
    fn a_shorter_target_with_a_larger_threshold_anywhere_is_found() {
        assert_eq!(shorter(&measured([[9, 5], [9, 4]])).outcome, Outcome::Holds);
        assert_eq!(shorter(&measured([[9, 5], [8, 6]])).outcome, Outcome::DoesNotHold);
    }

    #[test]
    fn a_threshold_that_rises_is_found() {
        let judged = |limits| {
            let measured = measured([limits, [2, 1]]);
            falls(&measured).outcome
        };
        assert_eq!([judged([9, 5]), judged([5, 9])], [Outcome::Holds, Outcome::DoesNotHold]);
        // Nor is one that stays where it is a falling one.
        assert_eq!(judged([9, 9]), Outcome::DoesNotHold);
    }
}
