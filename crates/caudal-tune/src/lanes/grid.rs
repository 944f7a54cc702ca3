//! The grid of cutoffs: high quantiles of the service times (Mirhosseini et al., HPCA 2020, section 5), and values between them where
//! they lie far apart. The question of a search makes it once; `climb` takes its steps on it. Pure.

use caudal_policy::Picos;
use caudal_workload::Service;

/// Shares of the requests that are longer than a cutoff.
const BEYOND: [f64; 15] =
    [0.5, 0.3, 0.2, 0.1, 0.05, 0.03, 0.02, 0.01, 0.005, 0.003, 0.002, 0.001, 5e-4, 2e-4, 1e-4];
/// Cutoffs that are further apart than this factor get others between them.
const FAR: f64 = 3.0;
/// Digits of a cutoff: it is written into files and read by people.
const DIGITS: i32 = 3;

/// Cutoffs to consider, increasing, in time on a core that probes stretch by `stretch`. No request is longer than the last
/// quantile, so that is not one of them.
pub(crate) fn grid(service: &Service, stretch: f64) -> Vec<Picos> {
    let quantile = |&beyond: &f64| rounded_up(service.quantile(1.0 - beyond) as f64 * stretch);
    let mut ends: Vec<u64> = BEYOND.iter().map(quantile).collect();
    ends.dedup();
    let longest = service.max_ps().map_or(f64::INFINITY, |max| max as f64 * stretch);
    let last = *ends.last().expect("there are quantiles");
    let mut grid: Vec<u64> = Vec::new();
    for pair in ends.windows(2) {
        grid.push(pair[0]);
        grid.extend(between(pair[0], pair[1]));
    }
    grid.push(last);
    // What is a little longer than most is as good an end as the quantile itself.
    let first = ends[0] as f64;
    grid.extend(between(ends[0], rounded_up(first * FAR * FAR)).into_iter().filter(|_| ends.len() == 1));
    grid.sort_unstable();
    grid.dedup();
    grid.into_iter().filter(|&end| (end as f64) < longest).map(Picos).collect()
}

/// Geometric means that leave no gap wider than [`FAR`].
fn between(low: u64, high: u64) -> Vec<u64> {
    let ratio = high as f64 / low as f64;
    let steps = (ratio.ln() / FAR.ln()).ceil().max(1.0) as u32;
    (1..steps).map(|step| rounded_up(low as f64 * ratio.powf(f64::from(step) / f64::from(steps)))).collect()
}

/// Rounds up to a few digits: a request that is as long as the cutoff has to complete before it.
pub(crate) fn rounded_up(ps: f64) -> u64 {
    let unit = 10_f64.powi((ps.max(1.0).log10().floor() as i32 + 1 - DIGITS).max(0));
    // A number that has no more digits stays what it is.
    ((ps / unit - 1e-9).ceil() * unit) as u64
}

/// Halfway, on a logarithmic scale, from `own` to its neighbours in `known`.
pub(crate) fn around(own: Picos, known: &[Picos]) -> Vec<Picos> {
    let below = known.iter().filter(|&&it| it < own).max();
    let above = known.iter().filter(|&&it| it > own).min();
    let halfway = |other: &Picos| Picos(rounded_up((own.0 as f64 * other.0 as f64).sqrt()));
    let mut found: Vec<Picos> = [below, above].into_iter().flatten().map(halfway).collect();
    found.retain(|it| *it != own && !known.contains(it));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, stretch: f64) -> Vec<f64> {
        let service = caudal_workload::ServiceSpec::named(name).compile(".".as_ref()).unwrap();
        grid(&service, stretch).iter().map(|end| end.0 as f64 / 1e6).collect()
    }

    #[test]
    fn cutoffs_are_quantiles_and_fill_the_gaps_between() {
        let found = of("extreme-bimodal", 1.0);
        assert_eq!((found[0], *found.last().unwrap() < 500.0), (0.5, true), "{found:?}");
        assert!(
            found.windows(2).all(|pair| pair[0] < pair[1] && pair[1] / pair[0] <= FAR * 1.02),
            "{found:?}"
        );
        assert!(of("extreme-bimodal", 1.05)[0] >= 0.525, "who takes 0.5 us of work completes before it");
        let exponential = of("exp-1us", 1.0);
        assert!(exponential.len() == BEYOND.len() && exponential[14] > 9.0, "{exponential:?}");
    }

    #[test]
    fn neighbours_are_halfway() {
        let known = [1_000_000, 4_000_000, 9_000_000].map(Picos);
        assert_eq!(around(Picos(4_000_000), &known), [Picos(2_000_000), Picos(6_000_000)]);
        assert_eq!(around(Picos(9_000_000), &known), [Picos(6_000_000)]);
    }
}
