//! The questions that statements are made of: one system against another on the same requests, or a point against a curve. The files of
//! the figures make them, as closures ([`Ask`]) over simulated cells. The judge of statements (`claim/statement.rs`) calls each closure with a
//! confidence when the figure is judged. Pure.

use caudal_stats::{Estimate, Linear};

use super::cell::{Cell, Stat, common_replications, typical};
use super::claim::{Ask, Claim, Limit};
use super::ideal::{Direction, Ideal};
use super::measured::Measured;

/// The median and the tails that all figures of the policies paper report.
pub(crate) const LATENCIES: [Stat; 3] = [Stat::Latency(50.0), Stat::Latency(99.0), Stat::Latency(99.9)];
/// The tail that its figures draw.
pub(crate) const TAIL: Stat = Stat::Latency(99.9);
/// The median.
pub(crate) const MEDIAN: Stat = Stat::Latency(50.0);

/// Is `stat` of `a` over that of `b` where `limit` says?
pub(crate) fn ratio<'a>(place: String, stat: Stat, a: &'a Cell, b: &'a Cell, limit: Limit) -> Ask<'a> {
    Box::new(move |confidence| Claim::new(place.clone(), stat.ratio(a, b, confidence), limit).about(&[a, b]))
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

    /// The two points of the curve next to `cores`, and the position of `cores` between them, from 0 at the left one to 1 at the
    /// right one. Outside of the curve, both are its nearest end. So a point that holds fewer cores on average than any static system
    /// that carries the load is compared with the smallest such system: static allocation comes in whole cores.
    fn around(&self, cores: f64) -> Option<(&'a Cell, &'a Cell, f64)> {
        let (first, last) = (*self.cells.first()?, *self.cells.last()?);
        let held = |cell: &Cell| f64::from(cell.held);
        if cores <= held(first) {
            return Some((first, first, 0.0));
        }
        if cores >= held(last) {
            return Some((last, last, 0.0));
        }
        let after = self.cells.iter().position(|cell| held(cell) > cores)?;
        let (left, right) = (self.cells[after - 1], self.cells[after]);
        Some((left, right, (cores - held(left)) / (held(right) - held(left))))
    }

    /// The logarithm of a ratio, and the cells that it was computed from: `stat` of a point whose cores come and go, over the curve at as many
    /// cores as the point holds on average. Between two points of the curve, its logarithm is a straight line.
    fn log_ratio(&self, point: &'a Cell, stat: Stat) -> Option<(Linear, Vec<&'a Cell>)> {
        let (left, right, _) = self.around(point.cores(usize::MAX).value())?;
        let cells = if left.id == right.id { vec![point, left] } else { vec![point, left, right] };
        let n = common_replications(&cells);
        let (own, cores) = (stat.log(point, n)?, point.cores(n));
        let (from, to) = (stat.log(left, n)?, stat.log(right, n)?);
        let width = f64::from(right.held) - f64::from(left.held);
        let curve = match width {
            0.0 => from,
            width => {
                let share = (cores.value() - f64::from(left.held)) / width;
                let slope = (to.value() - from.value()) / width;
                let there = from.mapped(from.value() * (1.0 - share), 1.0 - share).plus(share, &to);
                // More cores are further down the curve.
                there.plus(1.0, &cores.mapped(0.0, slope))
            }
        };
        Some((own.plus(-1.0, &curve), cells))
    }

    /// The same ratio where too few values lie beyond the percentile for an interval: its median over the replications, which
    /// saw the same requests. The error of the cores held is left out, because it is small beside the others.
    fn typical_ratio(&self, point: &'a Cell, stat: Stat, confidence: f64) -> (Estimate, Vec<&'a Cell>) {
        let Some((left, right, share)) = self.around(point.cores(usize::MAX).value()) else {
            return (Estimate::MISSING, vec![point]);
        };
        let curve = stat.each(left).into_iter().zip(stat.each(right));
        let there = curve.map(|(left, right)| left.powf(1.0 - share) * right.powf(share));
        let ratios = stat.each(point).into_iter().zip(there).map(|(own, there)| own / there);
        (typical(ratios.collect(), confidence), vec![point, left, right])
    }
}

/// Is the point of `balancing` under `allocation`, over the curve called `curve`, where `limit` says?
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
    Some(Box::new(move |confidence| match curve.log_ratio(point, stat) {
        Some((log, cells)) => Claim::new(place.clone(), log.exp_interval(confidence), limit).about(&cells),
        None => {
            let (ratio, cells) = curve.typical_ratio(point, stat, confidence);
            Claim::new(place.clone(), ratio, limit).about(&cells)
        }
    }))
}

/// Is the ratio of two ratios where `limit` says: `first` over the curve, over `second` over the same curve?
pub(crate) fn curve_ratios<'a>(
    measured: &'a Measured,
    (first, second): (&'a Cell, &'a Cell),
    curve: &str,
    stat: Stat,
    (place, limit): (String, Limit),
) -> Ask<'a> {
    let curve = Curve::new(measured, curve);
    Box::new(move |confidence| {
        let (Some((a, mut cells)), Some((b, more))) =
            (curve.log_ratio(first, stat), curve.log_ratio(second, stat))
        else {
            return Claim::new(place.clone(), Estimate::MISSING, limit).about(&[first, second]);
        };
        cells.extend(more);
        // The errors that the two share cancel only if both have the same replications.
        let value = match a.replications() == b.replications() {
            true => a.plus(-1.0, &b).exp_interval(confidence),
            false => {
                let each = 1.0 - (1.0 - confidence) / 2.0;
                super::cell::apart(a.exp_interval(each), b.exp_interval(each))
            }
        };
        Claim::new(place.clone(), value, limit).about(&cells)
    })
}

/// Is the tail of the first system's point nearer to that of an ideal single queue than the second one's? The single queue is a formula
/// ([`Ideal`]), not simulated points as in [`Curve`].
pub(crate) fn nearer<'a>(
    measured: &'a Measured,
    allocation: &str,
    (first, second): (&str, &str),
    direction: Direction,
) -> Option<Ask<'a>> {
    let (a, b) = (measured.point(first, allocation)?, measured.point(second, allocation)?);
    let place = format!("{allocation}, against {second}:");
    Some(Box::new(move |confidence| {
        let n = common_replications(&[a, b]);
        let far = |point: &Cell| Ideal::of(point).log_distance(point, TAIL, direction, n);
        let value = match (a.overloaded, b.overloaded) {
            (true, true) => Estimate::MISSING,
            (true, false) => Estimate::exact(f64::INFINITY),
            (false, true) => Estimate::exact(0.0),
            (false, false) => match (far(a), far(b)) {
                (Some(a), Some(b)) => a.plus(-1.0, &b).exp_interval(confidence),
                _ => Estimate::MISSING,
            },
        };
        Claim::new(place.clone(), value, Limit::Below(1.0)).about(&[a, b])
    }))
}

/// The largest estimate over the smallest one. The interval holds whichever of them truly are the largest and the smallest.
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
        assert!(found.numbers.starts_with("true in all 4 comparisons"), "{}", found.numbers);
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
    fn with_curve(latency_ns: f64, cores: f64, spread: f64) -> Measured {
        let points = [(16, 2_000.0), (20, 1_681.8), (24, 1_414.2), (32, 1_000.0)];
        let mut cells: Vec<Cell> = points.iter().map(|&(held, ns)| point("a", held, ns, 0.01)).collect();
        cells.push(dynamic(point("a", 32, latency_ns, 0.01), "caladan", cores, spread));
        figure(cells)
    }

    fn beats(measured: &Measured) -> Outcome {
        let ask = against_curve(measured, ("a", "caladan"), "a", MEDIAN, FASTER);
        all(ask.as_slice()).outcome
    }

    #[test]
    fn a_point_is_held_against_the_curve_at_its_own_cores() {
        // The curve at 22 cores: 1.54 us.
        assert_eq!(beats(&with_curve(1_400.0, 22.0, 0.1)), Outcome::Holds);
        assert_eq!(beats(&with_curve(1_700.0, 22.0, 0.1)), Outcome::DoesNotHold);
        assert_eq!(beats(&with_curve(1_542.0, 22.0, 0.1)), Outcome::Undecided);
        assert_eq!(beats(&with_curve(1_480.0, 22.0, 4.0)), Outcome::Undecided, "many cores or few");
    }

    #[test]
    fn what_holds_fewer_cores_than_the_curve_is_held_against_its_first_point() {
        assert_eq!(beats(&with_curve(1_900.0, 15.5, 0.1)), Outcome::Holds);
        assert_eq!(beats(&with_curve(2_100.0, 15.5, 0.1)), Outcome::DoesNotHold);
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
