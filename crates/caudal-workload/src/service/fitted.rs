//! A distribution of service times of which only percentiles are known.
//!
//! On the scale of the standard normal quantile *z*, the logarithm of a log-normal time is a straight line. Two percentiles
//! give the line; more of them a polygon, whose ends go on as steeply as the pieces next to them, up to the longest time if
//! that is known. It is a guess as good as its percentiles, and said to be one.

use std::sync::Arc;

use statrs::function::erf::{erfc, erfc_inv};

use super::shape::{LogNormal, Shape};
use super::table::{Bucket, Buckets};
use crate::LONGEST_PS;

/// How far the tails go: one request in 10^7.
const END_Z: f64 = 5.2;
/// Steps on the scale of *z*.
const STEP_Z: f64 = 0.02;
/// Parts into which probabilities are rounded.
const PARTS: f64 = 1e12;

/// The shape with these percentiles (0 to 100, and the time in ps).
///
/// # Errors
/// What is wrong with them, in words.
pub(crate) fn fitted(points: &[(f64, u64)]) -> Result<Shape, String> {
    let mut points = points.to_vec();
    points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    points.dedup();
    if let Some(two) = points.windows(2).find(|two| two[0].0 == two[1].0 || two[0].1 > two[1].1) {
        return Err(format!(
            "p{} is {} and p{} is {}: times must not decrease from one percentile to the next",
            two[0].0,
            crate::show::time(two[0].1 as f64),
            two[1].0,
            crate::show::time(two[1].1 as f64)
        ));
    }
    let end = |p: f64| points.iter().find(|(percentile, _)| *percentile == p).map(|(_, ps)| *ps);
    let (shortest_ps, longest_ps) = (end(0.0), end(100.0));
    let inner: Vec<(f64, f64)> = points
        .iter()
        .filter(|(percentile, ps)| (0.0..100.0).contains(percentile) && *percentile > 0.0 && *ps > 0)
        .map(|&(percentile, ps)| (normal_quantile(percentile / 100.0), (ps as f64).ln()))
        .collect();
    let [first, .., last] = inner[..] else {
        return Err("at least two percentiles between the shortest and the longest time are needed, such as p50 and p99".to_owned());
    };
    if inner.len() == 2 && shortest_ps.is_none() && longest_ps.is_none() && last.1 > first.1 {
        let sigma = (last.1 - first.1) / (last.0 - first.0);
        return Ok(Shape::LogNormal(LogNormal { mu: first.1 - sigma * first.0, sigma }));
    }
    let at = |z: f64| {
        let piece = inner.partition_point(|point| point.0 <= z).clamp(1, inner.len() - 1);
        let (from, to) = (inner[piece - 1], inner[piece]);
        let log = from.1 + (to.1 - from.1) * (z - from.0) / (to.0 - from.0);
        let longest = longest_ps.unwrap_or(LONGEST_PS).min(LONGEST_PS) as f64;
        log.exp().clamp(shortest_ps.unwrap_or(1).max(1) as f64, longest) as u64
    };
    // The corners of the polygon are ends of steps, so that each percentile is the one that was given.
    let steps = (2.0 * END_Z / STEP_Z).round() as usize;
    let mut cuts: Vec<f64> = (0..=steps).map(|step| -END_Z + step as f64 * STEP_Z).collect();
    cuts.extend(inner.iter().map(|(z, _)| *z).filter(|z| z.abs() < END_Z));
    cuts.sort_by(f64::total_cmp);
    let mut buckets: Vec<Bucket> = Vec::new();
    let mut carried = 0.0;
    for two in cuts.windows(2) {
        let share = normal_cdf(two[1]) - normal_cdf(two[0]) + carried;
        let count = (share * PARTS).round() as u64;
        carried = share - count as f64 / PARTS;
        let high_ps = at(two[1]).max(1);
        let low_ps = buckets.last().map_or_else(|| at(two[0]).max(1), |last| last.high_ps + 1);
        match buckets.last_mut() {
            // A level of the polygon: many requests of one time, which are not to be spread over the slope before it.
            Some(last) if low_ps > high_ps && last.low_ps == last.high_ps => last.count += count,
            Some(last) if low_ps > high_ps => {
                last.high_ps -= 1;
                let level = last.high_ps + 1;
                buckets.push(Bucket { low_ps: level, high_ps: level, count });
            }
            _ => buckets.push(Bucket { low_ps, high_ps: high_ps.max(low_ps), count }),
        }
    }
    Ok(Shape::Buckets(Arc::new(Buckets::of_shares(buckets))))
}

fn normal_quantile(p: f64) -> f64 {
    -std::f64::consts::SQRT_2 * erfc_inv(2.0 * p)
}

fn normal_cdf(z: f64) -> f64 {
    0.5 * erfc(-z / std::f64::consts::SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_percentiles_are_those_of_a_log_normal_distribution() {
        let shape = fitted(&[(99.0, 9_000_000_000), (50.0, 1_200_000_000)]).unwrap();
        assert!(matches!(shape, Shape::LogNormal(_)));
        let near = |p: f64, ps: f64| (shape.quantile(p) as f64 / ps - 1.0).abs() < 1e-6;
        assert!(near(0.5, 1.2e9) && near(0.99, 9e9));
    }

    #[test]
    fn more_percentiles_are_joined_and_all_of_them_hold() {
        let points =
            [(50.0, 100_000), (90.0, 200_000), (99.0, 5_000_000), (99.9, 5_000_000), (100.0, 9_000_000)];
        let shape = fitted(&points).unwrap();
        for (percentile, ps) in points {
            let found = shape.quantile(percentile / 100.0);
            let exact = (found as f64 / ps as f64 - 1.0).abs();
            assert!(exact < 1e-3 || percentile == 100.0 && found <= ps, "p{percentile}: {found} {ps}");
        }
        assert_eq!(shape.samples(), None, "nothing was measured");
    }

    #[test]
    fn what_is_no_distribution_is_refused() {
        assert!(fitted(&[(50.0, 5)]).unwrap_err().contains("at least two"));
        assert!(fitted(&[(50.0, 5), (99.0, 4)]).unwrap_err().contains("must not decrease"));
        assert!(fitted(&[(50.0, 5), (100.0, 6)]).unwrap_err().contains("at least two"));
        assert!(fitted(&[(50.0, 5), (50.0, 6), (90.0, 7)]).unwrap_err().contains("must not decrease"));
    }
}
