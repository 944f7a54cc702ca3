//! Questions that statements are made of: one system against another, a point against a curve.

use caudal_stats::Estimate;

use super::cell::{Cell, Stat, apart};
use super::claim::{Ask, Claim, Limit};
use super::figure::Measured;

/// The median and the tails that all figures of the policies paper report.
pub(crate) const LATENCIES: [Stat; 3] = [Stat::Latency(50.0), Stat::Latency(99.0), Stat::Latency(99.9)];
/// The tail that its figures draw.
pub(crate) const TAIL: Stat = Stat::Latency(99.9);
/// The median.
pub(crate) const MEDIAN: Stat = Stat::Latency(50.0);

/// Is `stat` of `a` over that of `b` where `limit` says?
pub(crate) fn ratio<'a>(place: String, stat: Stat, a: &'a Cell, b: &'a Cell, limit: Limit) -> Ask<'a> {
    Box::new(move |confidence| Claim::new(place.clone(), stat.ratio(a, b, confidence), limit))
}

/// The same at every number of cores and for every one of `stats`.
pub(crate) fn along_cores<'a>(
    measured: &'a Measured,
    (first, second): (&str, &str),
    stats: &[Stat],
    limit: Limit,
) -> Vec<Ask<'a>> {
    let pairs = measured.pairs(first, second);
    let ask = |&stat: &Stat| {
        let of = move |&(a, b): &(&'a Cell, &'a Cell)| {
            ratio(format!("{} on {} cores", stat.label(), a.held), stat, a, b, limit)
        };
        pairs.iter().map(of).collect::<Vec<_>>()
    };
    stats.iter().flat_map(ask).collect()
}

/// As [`along_cores`], only where both carry the load.
pub(crate) fn where_both_carry<'a>(
    measured: &'a Measured,
    (first, second): (&str, &str),
    stats: &[Stat],
    limit: Limit,
) -> Vec<Ask<'a>> {
    let mut asks = Vec::new();
    for &stat in stats {
        let pairs = measured.pairs(first, second).into_iter().filter(|(a, b)| !a.overloaded && !b.overloaded);
        let ask = |(a, b): (&'a Cell, &'a Cell)| {
            ratio(format!("{} on {} cores", stat.label(), a.held), stat, a, b, limit)
        };
        asks.extend(pairs.map(ask));
    }
    asks
}

/// A statistic along the number of cores that are held all the time: the curve of a load-balancing policy.
pub(crate) struct Curve<'a> {
    /// Points that carry the load, by increasing number of cores.
    cells: Vec<&'a Cell>,
}

impl<'a> Curve<'a> {
    pub(crate) fn new(measured: &'a Measured, system: &str) -> Curve<'a> {
        let mut cells: Vec<_> = measured.curve(system).into_iter().filter(|cell| !cell.overloaded).collect();
        cells.sort_by_key(|cell| cell.held);
        Curve { cells }
    }

    /// The curve on so many cores, between two points along the straight line of its logarithm. Below its
    /// first point it is at least as high as there, and may be anything above.
    fn at(&self, cores: f64, stat: Stat, confidence: f64) -> Estimate {
        let value = |cell: &Cell| stat.of(cell, confidence);
        let (Some(first), Some(last)) = (self.cells.first(), self.cells.last()) else { return Estimate::MISSING };
        if cores < f64::from(first.held) {
            return Estimate { high: f64::INFINITY, ..value(first) };
        }
        if cores >= f64::from(last.held) {
            return value(last);
        }
        let after = self.cells.iter().position(|cell| f64::from(cell.held) > cores).unwrap_or(1);
        let (left, right) = (self.cells[after - 1], self.cells[after]);
        let share = (cores - f64::from(left.held)) / f64::from(right.held - left.held);
        let between = |a: f64, b: f64| (a.ln() * (1.0 - share) + b.ln() * share).exp();
        let (a, b) = (value(left), value(right));
        Estimate {
            estimate: between(a.estimate, b.estimate),
            low: between(a.low, b.low),
            high: between(a.high, b.high),
        }
    }

    /// `stat` of a point whose cores come and go, over the curve at as many cores as it holds on average. The
    /// errors of the point, its cores and the curve are added up, not averaged out.
    pub(crate) fn ratio_of(&self, point: &Cell, stat: Stat, confidence: f64) -> Estimate {
        let each = 1.0 - (1.0 - confidence) / 3.0;
        let own = stat.of(point, each);
        let cores = point.cores_mean;
        let (fewest, most) = (self.at(cores.low, stat, each), self.at(cores.high, stat, each));
        let curve =
            Estimate { estimate: self.at(cores.estimate, stat, each).estimate, low: most.low, high: fewest.high };
        apart(own, curve)
    }
}

impl Curve<'_> {
    /// By which factor both the latency and the cores of a point would have to shrink to reach the curve.
    ///
    /// Fewer cores than the load takes can be on no curve; between there and the first point it is known from
    /// below only.
    pub(crate) fn distance(&self, point: &Cell, stat: Stat, confidence: f64) -> Estimate {
        let each = 1.0 - (1.0 - confidence) / 3.0;
        let own = stat.of(point, each);
        let cores = point.cores_mean;
        let work = point.load * f64::from(point.cores);
        let factor = |latency: f64, cores: f64, of: fn(&Estimate) -> f64| {
            let above = |factor: f64| {
                let there = cores / factor;
                there > work && latency / factor > of(&self.at(there, stat, each))
            };
            // The factor at which the point is no longer above the curve, by bisection.
            let (mut low, mut high) = (1.0 / 1024.0_f64, 1024.0_f64);
            for _ in 0..60 {
                let middle = (low * high).sqrt();
                if above(middle) { low = middle } else { high = middle }
            }
            low
        };
        if own.is_missing() || self.cells.is_empty() {
            return Estimate::MISSING;
        }
        Estimate {
            estimate: factor(own.estimate, cores.estimate, |value| value.estimate),
            low: factor(own.low, cores.low, |value| value.high),
            high: factor(own.high, cores.high, |value| value.low),
        }
    }
}

/// Is the point of `balancing` under `allocation` at `limit` times the curve called `curve`?
pub(crate) fn against_curve<'a>(
    measured: &'a Measured,
    (balancing, allocation): (&str, &str),
    curve: &str,
    stat: Stat,
    limit: Limit,
) -> Option<Ask<'a>> {
    let point = measured.point(balancing, allocation)?;
    let curve = Curve::new(measured, curve);
    let place = format!("{} of {balancing} with {allocation}", stat.label());
    Some(Box::new(move |confidence| Claim::new(place.clone(), curve.ratio_of(point, stat, confidence), limit)))
}

/// How near two points are to the single queue's curve: the ratio of their distances is to be at `limit`.
pub(crate) fn nearer<'a>(
    measured: &'a Measured,
    allocation: &str,
    (first, second): (&str, &str),
    stat: Stat,
    limit: Limit,
) -> Option<Ask<'a>> {
    let (a, b) = (measured.point(first, allocation)?, measured.point(second, allocation)?);
    let curve = Curve::new(measured, "single-queue");
    let place = format!("{} with {allocation}, against {second}", stat.label());
    Some(Box::new(move |confidence| {
        let value = match (a.overloaded, b.overloaded) {
            (true, true) => Estimate::MISSING,
            (true, false) => Estimate::exact(f64::INFINITY),
            (false, true) => Estimate::exact(0.0),
            (false, false) => {
                let each = 1.0 - (1.0 - confidence) / 2.0;
                apart(curve.distance(a, stat, each), curve.distance(b, stat, each))
            }
        };
        Claim::new(place.clone(), value, limit)
    }))
}

/// The logarithm of the largest over the smallest of some estimates would hide the errors: this is the spread
/// as a ratio with bounds that hold whichever of them is truly the largest and the smallest.
pub(crate) fn spread(values: &[Estimate]) -> Estimate {
    let most = |of: fn(&Estimate) -> f64| values.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
    let least = |of: fn(&Estimate) -> f64| values.iter().map(of).fold(f64::INFINITY, f64::min);
    let estimate = most(|value| value.estimate) / least(|value| value.estimate);
    let low = most(|value| value.low) / least(|value| value.high);
    let high = most(|value| value.high) / least(|value| value.low).max(0.0);
    Estimate { estimate, low: low.max(1.0).min(estimate), high }
}
