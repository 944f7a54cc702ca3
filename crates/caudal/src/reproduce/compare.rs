//! Questions that statements are made of: one system against another, a point against a curve.

use caudal_stats::Estimate;

use super::cell::{Cell, Stat, apart, typical, widened};
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

    /// A statistic of every replication of every point of the curve.
    fn traced(&self, stat: Stat) -> Vec<(f64, Vec<f64>)> {
        self.cells.iter().map(|cell| (f64::from(cell.held), stat.each(cell))).collect()
    }

    /// `stat` of a point whose cores come and go, over the curve at as many cores as it holds on average: the
    /// median over the replications, which saw the same requests. What is not known of its cores is added.
    pub(crate) fn ratio_of(&self, point: &Cell, stat: Stat, confidence: f64) -> Estimate {
        let traced = self.traced(stat);
        Curve::over_replications(point, stat, confidence, |own, cores, replication, side| {
            own / side.of(at(&traced, cores, replication))
        })
    }

    /// By which factor both the latency and the cores of a point would have to shrink to reach the curve; again
    /// the median over the replications.
    ///
    /// Fewer cores than the load takes can be on no curve; between there and the first point it is known from
    /// below only.
    pub(crate) fn distance(&self, point: &Cell, stat: Stat, confidence: f64) -> Estimate {
        let traced = self.traced(stat);
        let work = point.load * f64::from(point.cores);
        Curve::over_replications(point, stat, confidence, |own, cores, replication, side| {
            let above = |factor: f64| {
                let there = cores / factor;
                there > work && own / factor > side.of(at(&traced, there, replication))
            };
            // The factor at which the point is no longer above the curve, by bisection.
            let (mut low, mut high) = (1.0 / 1024.0_f64, 1024.0_f64);
            for _ in 0..60 {
                let middle = (low * high).sqrt();
                if above(middle) { low = middle } else { high = middle }
            }
            low
        })
    }

    /// The median of what `of` says of each replication: from its statistic, the cores held, its number, and
    /// which side of the curve to take where it is not known. With the fewest cores and the highest curve for
    /// the lower end, and the other way round for the upper one.
    fn over_replications(
        point: &Cell,
        stat: Stat,
        confidence: f64,
        of: impl Fn(f64, f64, usize, Side) -> f64,
    ) -> Estimate {
        let each = 1.0 - (1.0 - confidence) / 2.0;
        let (own, cores) = (stat.each(point), widened(point.cores_mean, each));
        let median = |cores: f64, side: Side| {
            let values = own.iter().enumerate().map(|(replication, &own)| of(own, cores, replication, side));
            typical(values.filter(|value| !value.is_nan()).collect(), each)
        };
        let (low, high) = (median(cores.low, Side::High), median(cores.high, Side::Low));
        Estimate { estimate: median(cores.estimate, Side::Low).estimate, low: low.low, high: high.high }
    }
}

/// Which end to take of what is not known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Low,
    High,
}

impl Side {
    fn of(self, (low, high): (f64, f64)) -> f64 {
        if self == Side::Low { low } else { high }
    }
}

/// A curve in one replication on so many cores, between two points along the straight line of its logarithm.
/// Below its first point it is at least as high as there, and may be anything above.
fn at(traced: &[(f64, Vec<f64>)], cores: f64, replication: usize) -> (f64, f64) {
    let value = |(_, values): &(f64, Vec<f64>)| values.get(replication).copied().unwrap_or(f64::NAN);
    let (Some(first), Some(last)) = (traced.first(), traced.last()) else { return (f64::NAN, f64::NAN) };
    if cores < first.0 {
        return (value(first), f64::INFINITY);
    }
    if cores >= last.0 {
        return (value(last), value(last));
    }
    let after = traced.iter().position(|(held, _)| *held > cores).unwrap_or(1);
    let (left, right) = (&traced[after - 1], &traced[after]);
    let share = (cores - left.0) / (right.0 - left.0);
    let between = (value(left).ln() * (1.0 - share) + value(right).ln() * share).exp();
    (between, between)
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
    Some(Box::new(move |confidence| {
        Claim::new(place.clone(), curve.ratio_of(point, stat, confidence), limit)
    }))
}

/// Is the tail of the first system's point nearer to the single queue's curve than that of the second one: in
/// latency on as many cores, or in latency and cores at once ([`Curve::distance`])?
pub(crate) fn nearer<'a>(
    measured: &'a Measured,
    allocation: &str,
    (first, second): (&str, &str),
    both_ways: bool,
) -> Option<Ask<'a>> {
    let (a, b) = (measured.point(first, allocation)?, measured.point(second, allocation)?);
    let curve = Curve::new(measured, "single-queue");
    let place = format!("{allocation}, against {second}:");
    Some(Box::new(move |confidence| {
        let value = match (a.overloaded, b.overloaded) {
            (true, true) => Estimate::MISSING,
            (true, false) => Estimate::exact(f64::INFINITY),
            (false, true) => Estimate::exact(0.0),
            (false, false) => {
                let each = 1.0 - (1.0 - confidence) / 2.0;
                let far = |point: &Cell| match both_ways {
                    true => curve.distance(point, TAIL, each),
                    false => curve.ratio_of(point, TAIL, each),
                };
                apart(far(a), far(b))
            }
        };
        Claim::new(place.clone(), value, Limit::Below(1.0))
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

#[cfg(test)]
mod tests {
    use caudal_report::Outcome;

    use super::super::claim::{Finding, all};
    use super::super::synthetic::{dynamic, figure, overloaded, point};
    use super::*;

    const FASTER: Limit = Limit::Below(1.0);

    fn faster(measured: &Measured) -> Finding {
        all(&along_cores(measured, ("a", "b"), &[MEDIAN, Stat::Latency(75.0)], FASTER))
    }

    #[test]
    fn a_system_that_is_faster_everywhere_is() {
        let cells = vec![point("a", 17, 900.0, 0.1), point("a", 18, 800.0, 0.1), point("b", 17, 1000.0, 0.1)];
        let holds = figure([cells, vec![point("b", 18, 900.0, 0.1)]].concat());
        let found = faster(&holds);
        assert_eq!(found.outcome, Outcome::Holds, "{}", found.numbers);
        assert!(found.numbers.starts_with("4 of 4 comparisons"), "{}", found.numbers);
    }

    #[test]
    fn a_system_that_is_slower_somewhere_is_not() {
        let cells = [point("a", 17, 900.0, 0.1), point("b", 17, 1000.0, 0.1)].into_iter();
        let cells = cells.chain([point("a", 18, 900.0, 0.1), point("b", 18, 800.0, 0.1)]);
        let found = faster(&figure(cells.collect()));
        assert_eq!(found.outcome, Outcome::DoesNotHold, "{}", found.numbers);
        assert!(found.numbers.contains("on 18 cores"), "{}", found.numbers);
    }

    #[test]
    fn a_difference_within_the_noise_is_undecided() {
        // Noise that the two do not share: the one has it, the other one has it the other way round.
        let found = faster(&figure(vec![point("a", 17, 995.0, 0.05), point("b", 17, 1000.0, -0.05)]));
        assert_eq!(found.outcome, Outcome::Undecided, "{}", found.numbers);
    }

    #[test]
    fn noise_that_is_shared_cancels() {
        let found = faster(&figure(vec![point("a", 17, 950.0, 0.2), point("b", 17, 1000.0, 0.2)]));
        assert_eq!(found.outcome, Outcome::Holds, "{}", found.numbers);
    }

    #[test]
    fn falling_behind_loses_and_both_falling_behind_says_nothing() {
        let a = || point("a", 17, 900.0, 0.1);
        let b = || point("b", 17, 1000.0, 0.1);
        assert_eq!(faster(&figure(vec![a(), overloaded(b())])).outcome, Outcome::Holds);
        assert_eq!(faster(&figure(vec![overloaded(a()), b()])).outcome, Outcome::DoesNotHold);
        assert_eq!(faster(&figure(vec![overloaded(a()), overloaded(b())])).outcome, Outcome::Undecided);
        let carried = figure(vec![overloaded(a()), b()]);
        assert!(where_both_carry(&carried, ("a", "b"), &LATENCIES, FASTER).is_empty());
    }

    /// A curve that halves from 16 to 32 cores, and a point of so many cores on average.
    fn with_curve(latency_ns: f64, cores: Estimate) -> Measured {
        let points = [(16, 2_000.0), (20, 1_681.8), (24, 1_414.2), (32, 1_000.0)];
        let mut cells: Vec<Cell> = points.iter().map(|&(held, ns)| point("a", held, ns, 0.01)).collect();
        cells.extend(
            points
                .iter()
                .map(|&(held, ns)| Cell { system: "single-queue".to_owned(), ..point("", held, ns, 0.01) }),
        );
        cells.push(dynamic(point("a", 32, latency_ns, 0.01), "caladan", cores));
        figure(cells)
    }

    fn beats(measured: &Measured) -> Outcome {
        let ask = against_curve(measured, ("a", "caladan"), "a", MEDIAN, FASTER);
        all(ask.as_slice()).outcome
    }

    #[test]
    fn a_point_is_held_against_the_curve_at_its_own_cores() {
        let cores = Estimate::symmetric(22.0, 0.1);
        // The curve at 22 cores: 1.54 us.
        assert_eq!(beats(&with_curve(1_400.0, cores)), Outcome::Holds);
        assert_eq!(beats(&with_curve(1_700.0, cores)), Outcome::DoesNotHold);
        assert_eq!(beats(&with_curve(1_542.0, cores)), Outcome::Undecided);
        assert_eq!(
            beats(&with_curve(1_400.0, Estimate::symmetric(22.0, 6.0))),
            Outcome::Undecided,
            "any cores"
        );
    }

    #[test]
    fn below_its_first_point_a_curve_is_known_from_below_only() {
        let cores = Estimate::symmetric(15.5, 0.1);
        assert_eq!(beats(&with_curve(1_900.0, cores)), Outcome::Holds);
        assert_eq!(beats(&with_curve(2_500.0, cores)), Outcome::Undecided);
    }

    #[test]
    fn distance_is_the_factor_to_the_curve_in_both_directions() {
        let measured = with_curve(2_200.0, Estimate::exact(26.4));
        let point = measured.point("a", "caladan").unwrap();
        let distance = Curve::new(&measured, "single-queue").distance(point, MEDIAN, 0.95);
        // Twenty cores and 1.68 us lie on the curve; both 1.32 and 1.308 times as much.
        assert!((distance.estimate - 1.31).abs() < 0.02, "{distance:?}");
        assert!(distance.low <= distance.estimate && distance.estimate <= distance.high, "{distance:?}");
    }

    #[test]
    fn spread_holds_whichever_is_the_largest() {
        let spread = spread(&[
            Estimate::symmetric(10.0, 1.0),
            Estimate::symmetric(20.0, 2.0),
            Estimate::symmetric(19.0, 2.0),
        ]);
        assert_eq!(spread.estimate, 2.0);
        assert_eq!((spread.low, spread.high), (18.0 / 11.0, 22.0 / 9.0));
    }
}
