//! Paired comparison of two systems that saw the same requests: which one is better, and by how much? The tuner calls [`compare`] or
//! [`typical_ratio`] when both have been simulated. Pure.
//!
//! With common random numbers, replication *i* of both systems has the same arrivals and the same service times.
//! Requests that made one system slow mostly made the other one slow, too. This cancels in the difference, so a paired
//! interval needs far fewer replications than two separate ones.
//!
//! **Method.** Both estimates are of all replications pooled. To first order, the error of an estimate is a sum of
//! contributions of the replications ([`Replicated`] says which, for means and percentiles). The
//! contributions are paired by replication, and Student's t with pairs − 1 degrees of freedom gives the
//! interval of the difference. The interval of the ratio is Fieller's (*Some problems in interval estimation*, J.
//! Royal Stat. Soc. B 16, 1954), which is exact for normal contributions; where it holds 0, it ends there.
//!
//! A percentile for which either system alone has no interval (too few values beyond it) has no comparison
//! either: the verdict is [`Verdict::Undecided`].

use serde::{Deserialize, Serialize};

use crate::estimate::Estimate;
use crate::replicated::Replicated;
use crate::t;

/// The quantity that is compared; smaller is better.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// The mean.
    Mean,
    /// A percentile, 0 ..= 100.
    Percentile(f64),
}

/// Is the first system better than the second one?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The first is smaller, the interval of the difference lies below 0.
    Better,
    /// The first is larger, the interval of the difference lies above 0.
    Worse,
    /// The interval holds 0, or is wider than was allowed.
    Undecided,
}

/// The first system against the second one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// First minus second, in the unit of what was recorded.
    pub difference: Estimate,
    /// First over second.
    pub ratio: Estimate,
    /// The verdict that follows from the interval of the difference.
    pub verdict: Verdict,
    /// Number of pairs.
    pub replications: usize,
}

/// Why two systems cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PairedError {
    /// The two systems have different numbers of replications, so some have no partner.
    #[error("{first} replications against {second}: a paired comparison needs the same ones of both systems")]
    DifferentReplications {
        /// Replications of the first system.
        first: usize,
        /// Replications of the second system.
        second: usize,
    },
}

impl Comparison {
    /// The verdict, undecided if an arm of the ratio's interval is longer than `largest_half_width` (0.1: ± 10 %).
    pub fn verdict_within(&self, largest_half_width: f64) -> Verdict {
        if self.ratio.half_width() <= largest_half_width { self.verdict } else { Verdict::Undecided }
    }
}

/// Compares `first` with `second`, whose replications used the same requests in the same order.
///
/// If either recorded nothing, both estimates are [`Estimate::MISSING`] and the verdict is undecided.
///
/// # Errors
/// [`PairedError::DifferentReplications`].
///
/// # Panics
/// If `confidence` is not between 0 and 1, or the percentile outside 0 ..= 100.
pub fn compare(
    first: &Replicated,
    second: &Replicated,
    metric: Metric,
    confidence: f64,
) -> Result<Comparison, PairedError> {
    let replications = first.replications();
    if replications != second.replications() {
        return Err(PairedError::DifferentReplications {
            first: replications,
            second: second.replications(),
        });
    }
    let sides = (side(first, metric, confidence), side(second, metric, confidence));
    let (Some((a, a_errors)), Some((b, b_errors))) = sides else {
        let (difference, ratio) = (Estimate::MISSING, Estimate::MISSING);
        return Ok(Comparison { difference, ratio, verdict: Verdict::Undecided, replications });
    };
    // A pair in which either system recorded nothing (a rare class) has no information about the spread.
    let informative = first.informative().min(second.informative()) as u64;
    let factor = t::two_sided(confidence, informative.saturating_sub(1));
    let (difference, ratio) = match (a_errors, b_errors) {
        (Some(x), Some(y)) if factor.is_finite() => {
            (difference(a, b, &x, &y, factor), fieller(a, b, &x, &y, factor))
        }
        _ => (Estimate::unbounded(a - b), Estimate::unbounded(a / b)),
    };
    let verdict = if difference.high < 0.0 {
        Verdict::Better
    } else if difference.low > 0.0 {
        Verdict::Worse
    } else {
        Verdict::Undecided
    };
    Ok(Comparison { difference, ratio, verdict, replications })
}

/// The ratio of `first` to `second` in a typical replication: the geometric mean over the pairs, with Student's interval
/// of its logarithm. Percentiles of short replications are biased, but those of both systems alike. So this ranks
/// systems whose tails differ by orders of magnitude by a few short runs, where [`compare`] is still undecided. It is an estimate of
/// neither system's percentile.
///
/// None where a replication recorded nothing, or there are fewer than two.
///
/// ```
/// use caudal_stats::paired::{Metric, typical_ratio};
/// use caudal_stats::{Histogram, Replicated};
/// let of = |scale: u64| {
///     let mut runs = Replicated::default();
///     for run in 0..4 {
///         let mut values = Histogram::default();
///         (1..1000).for_each(|value| values.record(scale * (value + 300 * run)));
///         runs.push(&values);
///     }
///     runs
/// };
/// let ratio = typical_ratio(&of(1000), &of(10), Metric::Percentile(99.0), 0.95).expect("four pairs");
/// assert!((90.0..110.0).contains(&ratio.low) && (90.0..110.0).contains(&ratio.high), "{ratio:?}");
/// ```
pub fn typical_ratio(
    first: &Replicated,
    second: &Replicated,
    metric: Metric,
    confidence: f64,
) -> Option<Estimate> {
    let values = |system: &Replicated| -> Vec<f64> {
        match metric {
            Metric::Mean => system.replication_means().collect(),
            Metric::Percentile(p) => {
                let percentiles = system.replication_percentiles(p);
                percentiles.map(|value| value.map_or(f64::NAN, |value| value as f64)).collect()
            }
        }
    };
    let (first, second) = (values(first), values(second));
    let logs: Vec<f64> = first.iter().zip(&second).map(|(a, b)| (a / b).ln()).collect();
    if first.len() != second.len() || logs.len() < 2 || logs.iter().any(|log| !log.is_finite()) {
        return None;
    }
    let n = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / n;
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let half = t::two_sided(confidence, logs.len() as u64 - 1) * (variance / n).sqrt();
    Some(Estimate { estimate: mean.exp(), low: (mean - half).exp(), high: (mean + half).exp() })
}

/// The pooled estimate of one system and the contribution of every replication to its error, if known.
fn side(system: &Replicated, metric: Metric, confidence: f64) -> Option<(f64, Option<Vec<f64>>)> {
    if system.pooled().is_empty() {
        return None;
    }
    Some(match metric {
        Metric::Mean => (system.pooled().mean(), Some(system.mean_contributions())),
        Metric::Percentile(p) => {
            (system.pooled().percentile(p) as f64, system.percentile_contributions(p, confidence))
        }
    })
}

fn difference(a: f64, b: f64, a_errors: &[f64], b_errors: &[f64], factor: f64) -> Estimate {
    let variance = mean_product(a_errors, a_errors) + mean_product(b_errors, b_errors)
        - 2.0 * mean_product(a_errors, b_errors);
    Estimate::symmetric(a - b, factor * variance.max(0.0).sqrt())
}

/// Fieller's interval of a / b, neither of them negative: all r ≥ 0 for which a − r·b is not significantly different
/// from 0.
fn fieller(a: f64, b: f64, a_errors: &[f64], b_errors: &[f64], factor: f64) -> Estimate {
    let square = factor * factor;
    let aa = a * a - square * mean_product(a_errors, a_errors);
    let ab = a * b - square * mean_product(a_errors, b_errors);
    let bb = b * b - square * mean_product(b_errors, b_errors);
    // The denominator itself may be 0: no bound on the ratio.
    if bb <= 0.0 {
        return Estimate::unbounded(a / b);
    }
    let root = (ab * ab - aa * bb).max(0.0).sqrt();
    let estimate = a / b;
    let low = ((ab - root) / bb).max(0.0).min(estimate);
    Estimate { estimate, low, high: ((ab + root) / bb).max(estimate) }
}

/// (Co)variance of two means, from the contributions of the replications (which have mean 0).
fn mean_product(x: &[f64], y: &[f64]) -> f64 {
    let n = x.len() as f64;
    x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>() / (n * (n - 1.0))
}
