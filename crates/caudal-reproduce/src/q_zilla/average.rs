//! Averages over services: the paper's improvements "on average". The figures with several services judge them by it. Pure.

use caudal_stats::Estimate;

use super::super::cell::Cell;
use super::super::claim::{Ask, Claim, Limit};
use super::super::measured::Measured;
use super::{P99, pairs};

/// The geometric mean of ratios that are independent of one another, as different services are: their logarithms' errors
/// add up as squares do.
pub(super) fn geometric_mean(ratios: &[Estimate]) -> Estimate {
    if ratios.is_empty() || ratios.iter().any(|ratio| ratio.is_missing() || ratio.estimate <= 0.0) {
        return Estimate::MISSING;
    }
    let n = ratios.len() as f64;
    let mean = ratios.iter().map(|ratio| ratio.estimate.ln()).sum::<f64>() / n;
    // Lower ends may be 0, upper ones without a bound.
    let far = |end: fn(&Estimate) -> f64| -> f64 {
        let squares = ratios.iter().map(|ratio| (end(ratio).ln() - ratio.estimate.ln()).powi(2));
        squares.sum::<f64>().sqrt() / n
    };
    let (down, up) = (far(|ratio| ratio.low), far(|ratio| ratio.high));
    Estimate { estimate: mean.exp(), low: (mean - down).exp(), high: (mean + up).exp() }
}

/// Services under which both systems carry the load: where one falls behind, there is no factor.
fn carried<'a>(measured: &'a Measured, first: &str, second: &str) -> Vec<(&'a Cell, &'a Cell)> {
    pairs(measured, first, second).into_iter().filter(|(a, b)| !a.overloaded && !b.overloaded).collect()
}

/// How many times the p99 of `second` that of `first` is, on average over the services, times `factor`.
pub(super) fn average<'a>(
    measured: &'a Measured,
    (first, second): (&str, &str),
    factor: f64,
    limit: Limit,
) -> Ask<'a> {
    let pairs = carried(measured, first, second);
    let place = format!("{first} over {second}, {} services", pairs.len());
    Box::new(move |confidence| {
        let ratios: Vec<Estimate> = pairs.iter().map(|(a, b)| P99.ratio(a, b, confidence)).collect();
        let cells: Vec<&Cell> = pairs.iter().flat_map(|&(a, b)| [a, b]).collect();
        let mean = geometric_mean(&ratios);
        Claim::new(place.clone(), scaled(mean, factor), limit).about(&cells)
    })
}

fn scaled(value: Estimate, factor: f64) -> Estimate {
    Estimate { estimate: factor * value.estimate, low: factor * value.low, high: factor * value.high }
}

/// Is `first` over `second` greater here than there, on average over the services of both?
pub(super) fn grows<'a>(
    (here, there): (&'a Measured, &'a Measured),
    (first, second): (&str, &str),
    place: &str,
) -> Ask<'a> {
    let (own, other) = (carried(here, first, second), carried(there, first, second));
    let both: Vec<[(&Cell, &Cell); 2]> = own
        .into_iter()
        .filter_map(|pair| {
            other.iter().find(|other| other.0.workload == pair.0.workload).map(|&it| [pair, it])
        })
        .collect();
    let place = format!("{place}, {} services", both.len());
    Box::new(move |confidence| {
        // Each of the two at half of what is allowed to go wrong.
        let each = 1.0 - (1.0 - confidence) / 2.0;
        let mean = |side: usize| {
            let ratios = both.iter().map(|sides| P99.ratio(sides[side].0, sides[side].1, each));
            geometric_mean(&ratios.collect::<Vec<_>>())
        };
        let value = super::super::cell::apart(mean(0), mean(1));
        let cells: Vec<&Cell> = both.iter().flatten().flat_map(|&(a, b)| [a, b]).collect();
        Claim::new(place.clone(), value, Limit::Above(1.0)).about(&cells)
    })
}

#[cfg(test)]
mod tests {
    use caudal_report::Outcome;

    use super::super::super::claim::all;
    use super::super::super::synthetic::{figure, overloaded, point};
    use super::*;

    fn of(workload: &'static str, system: &str, ns: f64) -> Cell {
        Cell { workload, ..point(system, 8, ns, 0.1) }
    }

    #[test]
    fn errors_of_services_add_up_as_squares() {
        let mean = geometric_mean(&[
            Estimate { estimate: 2.0, low: 2.0 / 1.1, high: 2.2 },
            Estimate { estimate: 8.0, low: 8.0 / 1.1, high: 8.8 },
        ]);
        let half = 1.1_f64.ln() / 2.0_f64.sqrt();
        assert!((mean.estimate - 4.0).abs() < 1e-12);
        assert!((mean.high / 4.0 - half.exp()).abs() < 1e-12 && (mean.low * half.exp() - 4.0).abs() < 1e-12);
        assert!(geometric_mean(&[Estimate::MISSING]).is_missing() && geometric_mean(&[]).is_missing());
        let open = geometric_mean(&[Estimate { estimate: 2.0, low: 0.0, high: f64::INFINITY }]);
        assert_eq!((open.low, open.high), (0.0, f64::INFINITY));
    }

    #[test]
    fn an_average_is_over_the_services_that_both_carry() {
        let cells = [("x", 1000.0, 500.0), ("y", 1000.0, 2000.0), ("z", 1000.0, 100.0)];
        let cells = cells.into_iter().flat_map(|(name, a, b)| [of(name, "a", a), of(name, "b", b)]);
        let mut measured = figure(cells.collect());
        let claim = average(&measured, ("a", "b"), 1.0, Limit::Above(1.0))(0.95);
        assert!((claim.value.estimate - 10.0_f64.powf(1.0 / 3.0)).abs() < 0.02, "{:?}", claim.value);
        assert_eq!(all(&[average(&measured, ("a", "b"), 1.0, Limit::Above(1.0))]).outcome, Outcome::Holds);
        measured.cells[5] = overloaded(measured.cells[5].clone());
        let claim = average(&measured, ("a", "b"), 1.0, Limit::Above(1.0))(0.95);
        assert!((claim.value.estimate - 1.0).abs() < 0.02, "{:?}", claim.value);
    }
}
