//! A distribution of service times of which only percentiles are known, and perhaps the mean and the standard deviation.
//! Compilation of percentiles calls it.
//!
//! On the scale of the standard normal quantile *z*, the logarithm of a log-normal time is a straight line. Two percentiles
//! give the line; more of them a polygon, whose ends go on as steeply as the pieces next to them. Where the longest time is known, the
//! upper end leads there: a tool does not say of how many requests it is the longest, so it is taken for that of 10^4, or of ten times
//! as many as the last percentile tells of. It is a guess as good as its percentiles, and said to be one.
//!
//! Where the mean is known too, the percentiles still hold, but the curve from one to the next is free, and so are both ends.
//! All of it is bent alike, by one number γ, until the mean is the stated one: so far of the distance between two percentiles (0 to 1)
//! as *u* was, the logarithm now is as far as *u*^γ; below the first percentile the line is γ times as steep, and beyond the
//! last one it is 1/γ times as steep. With γ = 1 nothing changes; a larger one makes times shorter, down to the percentile (or the
//! shortest time) below, a smaller one makes them longer, up to the one above. So every mean that is possible with these percentiles
//! is reached, and none of the gaps bears all of it. Where the standard deviation is known as well, the part beyond the last
//! percentile, which decides it, is bent by a number of its own.
//!
//! A mean that no distribution with these percentiles has is that of something else: it is passed over, and said
//! ([`Fit::notes`]).

use std::sync::Arc;

use statrs::function::erf::{erfc, erfc_inv};

use super::shape::{LogNormal, Shape};
use super::table::Buckets;
use crate::LONGEST_PS;
use crate::input::{Bucket, Moments};

/// How far the tails go: one request in 10^7.
const END_Z: f64 = 5.2;
/// Steps on the scale of *z*.
const STEP_Z: f64 = 0.02;
/// Parts into which probabilities are rounded.
const PARTS: f64 = 1e12;
/// The relative distance from a stated number that counts as equal: files round them.
const SAME: f64 = 0.005;
/// The relative distance from a stated standard deviation that is not worth a note.
const NEAR: f64 = 0.05;
/// The logarithm of the strongest bend.
const BEND_MAX: f64 = 7.0;
/// How steep an end is bent that was level, on the scale of *z*.
const LEVEL: f64 = 0.1;

/// A distribution that was made of percentiles.
#[derive(Debug)]
pub(crate) struct Fit {
    pub(crate) shape: Shape,
    /// The stated moments that it has, in words: `the mean of 31 ms`.
    pub(crate) kept: Vec<String>,
    /// The stated moments that it does not have, each with the reason.
    pub(crate) notes: Vec<String>,
}

/// The distribution with these percentiles (0 to 100, and the time in ps), and with these moments if there is one.
///
/// # Errors
/// What is wrong with the percentiles, in words.
pub(crate) fn fitted(points: &[(f64, u64)], stated: Moments) -> Result<Fit, String> {
    let mut points = points.to_vec();
    points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    points.dedup();
    // A tool may round the shortest time up, and percentiles down: it is the others that count.
    if let [(percentile, shortest), rest @ ..] = &points[..]
        && *percentile == 0.0
        && rest.iter().any(|(_, ps)| ps < shortest)
    {
        points.remove(0);
    }
    if let Some(two) = points.windows(2).find(|two| two[0].0 == two[1].0 || two[0].1 > two[1].1) {
        return Err(format!(
            "p{} is {} and p{} is {}: times must not decrease from one percentile to the next",
            two[0].0,
            crate::format::time(two[0].1 as f64),
            two[1].0,
            crate::format::time(two[1].1 as f64)
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
        let shape = Shape::LogNormal(LogNormal { mu: first.1 - sigma * first.0, sigma });
        let (mean_ps, sd_ps) = (shape.mean_ps(), shape.variance_ps2().sqrt());
        let has = |stated: Option<f64>, ps: f64| stated.is_none_or(|stated| is_same(ps, stated));
        if has(stated.mean_ps, mean_ps) && has(stated.sd_ps, sd_ps) {
            return Ok(Fit { shape, kept: stated.texts(), notes: Vec::new() });
        }
    }
    let polygon = Polygon::new(inner, shortest_ps, longest_ps);
    let bent = polygon.bent_to(stated);
    let table = Buckets::of_shares(polygon.buckets(bent));
    let missed = stated.missed_by(table.mean_ps(), table.variance_ps2().sqrt());
    let notes = polygon.notes(missed, &table);
    Ok(Fit { shape: Shape::Buckets(Arc::new(table)), kept: stated.without(missed).texts(), notes })
}

/// The logarithm of the time over the standard normal quantile.
struct Polygon {
    /// The percentiles as quantiles, and the logarithms of their times; ascending.
    corners: Vec<(f64, f64)>,
    shortest_ps: f64,
    longest_ps: f64,
    /// The ends of the steps of *z*: all corners are among them, so that each percentile is the one that was given.
    cuts: Vec<f64>,
    /// The part of all requests in each step, in [`PARTS`].
    shares: Vec<u64>,
}

/// Logarithms of how much a polygon is bent, 0 for not at all.
#[derive(Clone, Copy, Debug, Default)]
struct Bend {
    /// The bend up to the last percentile.
    body: f64,
    /// The bend beyond the last percentile.
    tail: f64,
}

impl Bend {
    fn alike(bend: f64) -> Bend {
        Bend { body: bend, tail: bend }
    }
}

impl Polygon {
    fn new(corners: Vec<(f64, f64)>, shortest_ps: Option<u64>, longest_ps: Option<u64>) -> Polygon {
        let steps = (2.0 * END_Z / STEP_Z).round() as usize;
        let mut cuts: Vec<f64> = (0..=steps).map(|step| -END_Z + step as f64 * STEP_Z).collect();
        cuts.extend(corners.iter().map(|(z, _)| *z).filter(|z| z.abs() < END_Z));
        cuts.sort_by(f64::total_cmp);
        let mut carried = 0.0;
        let share = |two: &[f64]| {
            let share = normal_cdf(two[1]) - normal_cdf(two[0]) + carried;
            let count = (share * PARTS).round() as u64;
            carried = share - count as f64 / PARTS;
            count
        };
        Polygon {
            shares: cuts.windows(2).map(share).collect(),
            cuts,
            corners,
            shortest_ps: shortest_ps.unwrap_or(1).max(1) as f64,
            longest_ps: longest_ps.unwrap_or(LONGEST_PS).min(LONGEST_PS) as f64,
        }
    }

    /// How steep the curve to this corner is.
    fn slope(&self, corner: usize) -> f64 {
        let (from, to) = (self.corners[corner - 1], self.corners[corner]);
        (to.1 - from.1) / (to.0 - from.0)
    }

    /// How steep it goes on behind the last corner: as in front of it, and at least to the longest time if that is known.
    fn end_slope(&self) -> f64 {
        let count = self.corners.len();
        let (z, log) = self.corners[count - 1];
        if self.longest_ps >= LONGEST_PS as f64 {
            return self.slope(count - 1);
        }
        let beyond = (1.0 - normal_cdf(z)) / 10.0;
        let longest_z = normal_quantile(1.0 - beyond.clamp(1e-7, 1e-4));
        self.slope(count - 1).max((self.longest_ps.ln() - log) / (longest_z - z).max(STEP_Z))
    }

    /// The time at `z`.
    fn at(&self, z: f64, bend: Bend) -> u64 {
        let corners = &self.corners;
        let piece = corners.partition_point(|point| point.0 <= z);
        let slope = |piece: usize| self.slope(piece);
        // A level end goes on level, and has to be lifted before it can be bent.
        let steep = |slope: f64, factor: f64| {
            let lift = if slope > 0.0 { slope } else { LEVEL };
            (slope + (factor - 1.0) * lift).max(0.0)
        };
        let log = if piece == 0 {
            let slope = steep(slope(1), bend.body.exp());
            corners[0].1 - slope * (corners[0].0 - z)
        } else if piece == corners.len() {
            let last = corners[corners.len() - 1];
            let slope = steep(self.end_slope(), (-bend.tail).exp());
            // However it is bent, it reaches the longest time that is known.
            let least = match self.longest_ps < LONGEST_PS as f64 {
                true => (self.longest_ps.ln() - last.1) / (END_Z - last.0).max(STEP_Z),
                false => 0.0,
            };
            last.1 + slope.max(least) * (z - last.0)
        } else {
            let (from, to) = (corners[piece - 1], corners[piece]);
            let part = (z - from.0) / (to.0 - from.0);
            let part = if bend.body == 0.0 { part } else { part.powf(bend.body.exp()) };
            from.1 + (to.1 - from.1) * part
        };
        log.exp().clamp(self.shortest_ps, self.longest_ps.max(self.shortest_ps)) as u64
    }

    fn buckets(&self, bend: Bend) -> Vec<Bucket> {
        let mut buckets: Vec<Bucket> = Vec::new();
        for (two, &count) in self.cuts.windows(2).zip(&self.shares) {
            let high_ps = self.at(two[1], bend).max(1);
            let low_ps = buckets.last().map_or_else(|| self.at(two[0], bend).max(1), |last| last.high_ps + 1);
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
        buckets
    }

    /// Mean and standard deviation of the bent polygon, as its buckets have them.
    fn moments(&self, bend: Bend) -> (f64, f64) {
        let (mut parts, mut sum, mut squares) = (0.0, 0.0, 0.0);
        let mut low = self.at(self.cuts[0], bend) as f64;
        for (&cut, &count) in self.cuts[1..].iter().zip(&self.shares) {
            let high = self.at(cut, bend) as f64;
            let (middle, count) = ((low + high) / 2.0, count as f64);
            parts += count;
            sum += count * middle;
            squares += count * (middle * middle + (high - low).powi(2) / 12.0);
            low = high;
        }
        let mean = sum / parts;
        (mean, (squares / parts - mean * mean).max(0.0).sqrt())
    }

    fn mean_ps(&self, bend: Bend) -> f64 {
        self.moments(bend).0
    }

    /// The bend that gives the stated moments, as far as any does.
    fn bent_to(&self, stated: Moments) -> Bend {
        let Some(mean_ps) = stated.mean_ps else {
            // Without a mean only the part that decides the deviation is bent.
            let tail = |sd_ps: f64| smallest(|tail| self.moments(Bend { body: 0.0, tail }).1 <= sd_ps);
            return stated.sd_ps.map_or_else(Bend::default, |sd_ps| Bend { body: 0.0, tail: tail(sd_ps) });
        };
        let alike = smallest(|bend| self.mean_ps(Bend::alike(bend)) <= mean_ps);
        let alike = Bend::alike(alike);
        if !is_same(self.mean_ps(alike), mean_ps) {
            return Bend::default();
        }
        let Some(sd_ps) = stated.sd_ps else { return alike };
        // Of a longer tail the body has to be shorter for the same mean; together they spread more.
        let with_tail =
            |tail: f64| Bend { body: smallest(|body| self.mean_ps(Bend { body, tail }) <= mean_ps), tail };
        let tail = smallest(|tail| {
            let bend = with_tail(tail);
            // A tail that is too long for any body has too large a mean, one that is too short too small a one.
            let (mean, sd) = self.moments(bend);
            if is_same(mean, mean_ps) { sd <= sd_ps } else { mean < mean_ps }
        });
        let bend = with_tail(tail);
        if is_same(self.mean_ps(bend), mean_ps) { bend } else { alike }
    }

    /// The notes on moments that the distribution does not have.
    fn notes(&self, missed: Moments, table: &Buckets) -> Vec<String> {
        let time = crate::format::time;
        let mut notes = Vec::new();
        if let Some(stated_ps) = missed.mean_ps {
            let least = self.mean_ps(Bend::alike(BEND_MAX));
            let most = self.mean_ps(Bend::alike(-BEND_MAX));
            notes.push(format!(
                "a mean of {} is stated, but the fitted distribution has {}: with these percentiles a mean lies between {} \
                 and {}, so that it is of other requests, or one of the numbers is rounded too much; give every request's time to \
                 know",
                time(stated_ps),
                time(table.mean_ps()),
                time(least),
                time(most)
            ));
        }
        if let (Some(stated_ps), None) = (missed.sd_ps, missed.mean_ps) {
            notes.push(format!(
                "a standard deviation of {} is stated, but the fitted distribution has {}, the nearest that one with its other \
                 numbers has here; the tail may be {} than this one, which moves high percentiles; give every request's time to know",
                time(stated_ps),
                time(table.variance_ps2().sqrt()),
                if stated_ps > table.variance_ps2().sqrt() { "longer" } else { "shorter" }
            ));
        }
        notes
    }
}

/// The smallest logarithm of a bend for which something holds that holds for all larger ones; the largest there is, if it does
/// for none.
fn smallest(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (-BEND_MAX, BEND_MAX);
    for _ in 0..32 {
        let middle = f64::midpoint(low, high);
        if holds(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

/// Are two times the same, as far as files print them?
fn is_same(a: f64, b: f64) -> bool {
    (a / b - 1.0).abs() <= SAME
}

impl Moments {
    /// The moments that a distribution with this mean and standard deviation does not have.
    fn missed_by(self, mean_ps: f64, sd_ps: f64) -> Moments {
        Moments {
            mean_ps: self.mean_ps.filter(|&stated| !is_same(mean_ps, stated)),
            // Few values decide it, and tools differ in how they count it.
            sd_ps: self.sd_ps.filter(|&stated| (sd_ps / stated - 1.0).abs() > NEAR),
        }
    }

    /// The moments that are not among `others`.
    fn without(self, others: Moments) -> Moments {
        Moments {
            mean_ps: self.mean_ps.filter(|_| others.mean_ps.is_none()),
            sd_ps: self.sd_ps.filter(|_| others.sd_ps.is_none()),
        }
    }

    fn texts(self) -> Vec<String> {
        let mean = self.mean_ps.map(|ps| format!("the mean of {}", crate::format::time(ps)));
        let sd = self.sd_ps.map(|ps| format!("the standard deviation of {}", crate::format::time(ps)));
        mean.into_iter().chain(sd).collect()
    }
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

    fn fit(points: &[(f64, u64)]) -> Result<Shape, String> {
        fitted(points, Moments::default()).map(|fit| fit.shape)
    }

    fn sd_ps(shape: &Shape) -> f64 {
        shape.variance_ps2().sqrt()
    }

    #[test]
    fn two_percentiles_are_those_of_a_log_normal_distribution() {
        let shape = fit(&[(99.0, 9_000_000_000), (50.0, 1_200_000_000)]).unwrap();
        assert!(matches!(shape, Shape::LogNormal(_)));
        let near = |p: f64, ps: f64| (shape.quantile(p) as f64 / ps - 1.0).abs() < 1e-6;
        assert!(near(0.5, 1.2e9) && near(0.99, 9e9));
    }

    #[test]
    fn more_percentiles_are_joined_and_all_of_them_hold() {
        let points =
            [(50.0, 100_000), (90.0, 200_000), (99.0, 5_000_000), (99.9, 5_000_000), (100.0, 9_000_000)];
        let shape = fit(&points).unwrap();
        for (percentile, ps) in points {
            let found = shape.quantile(percentile / 100.0);
            let exact = (found as f64 / ps as f64 - 1.0).abs();
            assert!(exact < 1e-3 || percentile == 100.0 && found <= ps, "p{percentile}: {found} {ps}");
        }
        assert_eq!(shape.samples(), None, "nothing was measured");
    }

    #[test]
    fn what_is_no_distribution_is_refused() {
        assert!(fit(&[(50.0, 5)]).unwrap_err().contains("at least two"));
        assert!(fit(&[(50.0, 5), (99.0, 4)]).unwrap_err().contains("must not decrease"));
        assert!(fit(&[(50.0, 5), (100.0, 6)]).unwrap_err().contains("at least two"));
        assert!(fit(&[(50.0, 5), (50.0, 6), (90.0, 7)]).unwrap_err().contains("must not decrease"));
    }

    /// A tail that ended before the longest time would be shorter than what was measured.
    #[test]
    fn the_longest_time_is_reached_and_a_shortest_one_that_is_rounded_gives_way() {
        let shape = fit(&[(50.0, 2_000_000), (99.0, 8_000_000), (100.0, 16_000_000)]).unwrap();
        assert_eq!(shape.max_ps(), Some(16_000_000));
        let tail = shape.quantile(0.999);
        assert!((10_000_000..14_000_000).contains(&tail), "{tail}");
        let rounded =
            [(0.0, 1_000_000), (0.1, 0), (50.0, 2_000_000), (99.0, 12_000_000), (100.0, 38_000_000)];
        assert!(fit(&rounded).unwrap().min_ps() < 1_000_000);
    }

    #[test]
    fn a_stated_mean_bends_the_way_between_percentiles_and_keeps_them() {
        let points =
            [(0.0, 200_000), (50.0, 44_700_000), (90.0, 48_000_000), (99.0, 52_900_000), (100.0, 55_000_000)];
        for mean_ps in [24e6, 31e6, 40e6, 46e6, 46.7e6] {
            let Fit { shape, kept, notes } =
                fitted(&points, Moments { mean_ps: Some(mean_ps), sd_ps: None }).unwrap();
            assert!(is_same(shape.mean_ps(), mean_ps), "{} for {mean_ps}", shape.mean_ps());
            assert!(kept.len() == 1 && notes.is_empty(), "{notes:?}");
            for (percentile, ps) in &points[1..4] {
                let found = shape.quantile(percentile / 100.0);
                assert!((found as f64 / *ps as f64 - 1.0).abs() < 1e-3, "{mean_ps} p{percentile}: {found}");
            }
            assert!(shape.max_ps().unwrap() <= 55_000_000 && shape.min_ps() >= 200_000);
        }
    }

    #[test]
    fn a_stated_deviation_decides_how_the_tail_goes_on() {
        let points = [(50.0, 1_000_000), (99.0, 4_000_000)];
        for (mean_ps, sd) in [(1.2e6, 0.8e6), (1.25e6, 1.5e6), (1.4e6, 4e6)] {
            let stated = Moments { mean_ps: Some(mean_ps), sd_ps: Some(sd) };
            let Fit { shape, notes, .. } = fitted(&points, stated).unwrap();
            assert!(
                is_same(shape.mean_ps(), mean_ps) && is_same(sd_ps(&shape), sd),
                "{notes:?} {}",
                sd_ps(&shape)
            );
            assert!((shape.quantile(0.99) as f64 / 4e6 - 1.0).abs() < 1e-3);
        }
    }

    #[test]
    fn moments_that_the_percentiles_rule_out_are_said() {
        let points = [(50.0, 1_000_000), (99.0, 4_000_000), (100.0, 5_000_000)];
        let stated = Moments { mean_ps: Some(9e6), sd_ps: None };
        let Fit { shape, kept, notes } = fitted(&points, stated).unwrap();
        assert!(kept.is_empty() && notes[0].contains("a mean of 9 µs is stated"), "{notes:?}");
        assert!((shape.mean_ps() / fit(&points).unwrap().mean_ps() - 1.0).abs() < 1e-12, "as without it");
        let stated = Moments { mean_ps: Some(1.3e6), sd_ps: Some(90e6) };
        let Fit { shape, kept, notes } = fitted(&points, stated).unwrap();
        assert!(is_same(shape.mean_ps(), 1.3e6) && kept == ["the mean of 1.3 µs"], "{kept:?}");
        assert!(notes[0].contains("a standard deviation of 90 µs is stated"), "{notes:?}");
    }

    #[test]
    fn a_level_end_is_lifted_where_the_mean_says_so() {
        let points = [(50.0, 1_000_000), (99.0, 1_000_000)];
        let stated = Moments { mean_ps: Some(1.5e6), sd_ps: None };
        let Fit { shape, notes, .. } = fitted(&points, stated).unwrap();
        assert!(is_same(shape.mean_ps(), 1.5e6), "{notes:?} {}", shape.mean_ps());
        assert!(shape.quantile(0.9).abs_diff(1_000_000) <= 1);
    }
}
