//! A simulated point with all that a statement can be judged by: replications, not only their summary.

use caudal_config::Point;
use caudal_policy::allocation::AllocationConfig;
use caudal_policy::discipline::DisciplineConfig;
use caudal_sim::experiment::Results;
use caudal_sim::row::Row;
use caudal_stats::paired::{self, Metric};
use caudal_stats::{Estimate, Replicated};
use serde_json::Value;

/// One point of a figure.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    /// Name of the point within its file.
    pub(crate) key: String,
    /// Name of the system.
    pub(crate) system: String,
    /// Name of the allocation policy; `static` if cores do not come and go.
    pub(crate) allocation: &'static str,
    /// Cores of the machine.
    pub(crate) cores: u32,
    /// Cores held all the time, or at the start.
    pub(crate) held: u32,
    /// Offered work over the capacity of the machine's cores.
    pub(crate) load: f64,
    /// Offered requests per second.
    pub(crate) rate_per_s: f64,
    /// Quantum under processor sharing.
    pub(crate) quantum_ns: Option<f64>,
    /// Did it fall behind its load? Then it has no latency.
    pub(crate) overloaded: bool,
    /// Sojourn times in ps.
    pub(crate) latency_ps: Replicated,
    /// Slowdowns in fixed point.
    pub(crate) slowdown: Replicated,
    /// Slowdowns by class.
    pub(crate) class_slowdown: Vec<(String, Replicated)>,
    /// Work done over core time held.
    pub(crate) efficiency: Estimate,
    /// Cores held, on average.
    pub(crate) cores_mean: Estimate,
    /// Share of arrivals that found no spare core.
    pub(crate) refused: Estimate,
    /// The row as results are written.
    pub(crate) row: Value,
}

/// A statistic of a cell: a percentile, 0 to 100.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Stat {
    /// Of the latency of all requests, in ns.
    Latency(f64),
    /// Of the slowdown of all requests.
    Slowdown(f64),
    /// Of the slowdown of the long ones.
    LongSlowdown(f64),
}

/// The class that [`Stat::LongSlowdown`] looks at.
const LONG: &str = "long";

impl Stat {
    /// The percentile.
    pub(crate) fn percentile(self) -> f64 {
        match self {
            Stat::Latency(p) | Stat::Slowdown(p) | Stat::LongSlowdown(p) => p,
        }
    }

    /// `p99.9`.
    pub(crate) fn label(self) -> String {
        caudal_stats::percentile_label(self.percentile())
    }

    fn divisor(self) -> f64 {
        match self {
            Stat::Latency(_) => 1e3,
            Stat::Slowdown(_) | Stat::LongSlowdown(_) => caudal_stats::SLOWDOWN_ONE as f64,
        }
    }

    fn recorded(self, cell: &Cell) -> Option<&Replicated> {
        match self {
            Stat::Latency(_) => Some(&cell.latency_ps),
            Stat::Slowdown(_) => Some(&cell.slowdown),
            Stat::LongSlowdown(_) => {
                cell.class_slowdown.iter().find(|(name, _)| name == LONG).map(|(_, all)| all)
            }
        }
    }

    /// The estimate, in ns or as a ratio; missing in overload.
    pub(crate) fn of(self, cell: &Cell, confidence: f64) -> Estimate {
        match self.recorded(cell) {
            Some(recorded) if !cell.overloaded => {
                recorded.percentile(self.percentile(), confidence).divided_by(self.divisor())
            }
            _ => Estimate::MISSING,
        }
    }

    /// The statistic of every replication, in ns or as a ratio; none in overload.
    pub(crate) fn each(self, cell: &Cell) -> Vec<f64> {
        match self.recorded(cell) {
            Some(recorded) if !cell.overloaded => {
                let values = recorded.replication_percentiles(self.percentile()).flatten();
                values.map(|value| value as f64 / self.divisor()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// `a` over `b`, which saw the same requests. An overloaded system's latency grows without end: against
    /// one that carries the load it counts as infinite. Missing if neither carries it.
    pub(crate) fn ratio(self, a: &Cell, b: &Cell, confidence: f64) -> Estimate {
        match (a.overloaded, b.overloaded) {
            (true, true) => return Estimate::MISSING,
            (true, false) => return Estimate::exact(f64::INFINITY),
            (false, true) => return Estimate::exact(0.0),
            (false, false) => {}
        }
        let (Some(first), Some(second)) = (self.recorded(a), self.recorded(b)) else {
            return Estimate::MISSING;
        };
        let compared = paired::compare(first, second, Metric::Percentile(self.percentile()), confidence);
        match compared {
            Ok(compared) if compared.ratio.high.is_finite() => compared.ratio,
            // Too few values beyond the percentile for an interval of the pooled one.
            Ok(_) => typical_ratio(first, second, self.percentile(), confidence),
            Err(_) => {
                let each = 1.0 - (1.0 - confidence) / 2.0;
                apart(self.of(a, each), self.of(b, each))
            }
        }
    }
}

/// The median over the replications of the ratio of two systems' percentiles.
fn typical_ratio(a: &Replicated, b: &Replicated, p: f64, confidence: f64) -> Estimate {
    let pairs = a.replication_percentiles(p).zip(b.replication_percentiles(p));
    let ratios = pairs.filter_map(|(a, b)| Some(a? as f64 / b?.max(1) as f64));
    typical(ratios.collect(), confidence)
}

/// The median of values, one of each replication, with the interval that holds for any distribution: between
/// the k-th smallest and the k-th largest (the sign test turned round).
pub(crate) fn typical(mut values: Vec<f64>, confidence: f64) -> Estimate {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    if n == 0 {
        return Estimate::MISSING;
    }
    let estimate = f64::midpoint(values[(n - 1) / 2], values[n / 2]);
    // Probability that fewer than `at` of n fair coins show heads, both ways.
    let (mut outside, mut probability, mut at) = (0.0, 0.5_f64.powi(n as i32), 0);
    while at < n / 2 && 2.0 * (outside + probability) <= 1.0 - confidence {
        outside += probability;
        probability *= (n - at) as f64 / (at + 1) as f64;
        at += 1;
    }
    match at {
        0 => Estimate::unbounded(estimate),
        at => Estimate { estimate, low: values[at - 1], high: values[n - at] },
    }
}

/// An interval at 95 % over 16 replications made as wide as one of a higher confidence.
pub(crate) fn widened(estimate: Estimate, confidence: f64) -> Estimate {
    let factor = caudal_stats::t::two_sided(confidence, 15) / caudal_stats::t::two_sided(0.95, 15);
    let Estimate { estimate, low, high } = estimate;
    Estimate {
        estimate,
        low: estimate - (estimate - low) * factor,
        high: estimate + (high - estimate) * factor,
    }
}

/// The ratio of two independent estimates, from the ends of their intervals: wider than it has to be.
pub(crate) fn apart(a: Estimate, b: Estimate) -> Estimate {
    if a.is_missing() || b.is_missing() {
        return Estimate::MISSING;
    }
    let low = if b.high > 0.0 { (a.low / b.high).max(0.0) } else { 0.0 };
    let high = if b.low > 0.0 { a.high / b.low } else { f64::INFINITY };
    Estimate { estimate: a.estimate / b.estimate, low, high }
}

impl Cell {
    /// The cell of a point with its results, which took `wall_s` seconds.
    pub(crate) fn new(point: &Point, results: &Results, wall_s: f64) -> Cell {
        let row = Row::new(point, results, wall_s);
        let classes = point.workload.service.classes();
        let class_slowdown = match classes.len() {
            1 => Vec::new(),
            _ => classes
                .iter()
                .cloned()
                .zip(results.classes.iter().map(|class| class.slowdown.clone()))
                .collect(),
        };
        Cell {
            key: point.key.clone(),
            system: point.system.name.clone(),
            allocation: allocation_name(&point.system.allocation),
            cores: point.system.cores,
            held: point.system.cores_allocated,
            load: point.load,
            rate_per_s: row.rate_per_s,
            quantum_ns: match point.system.discipline {
                DisciplineConfig::ProcessorSharing(sharing) => Some(sharing.quantum.0 as f64 / 1e3),
                _ => None,
            },
            overloaded: results.overloaded,
            latency_ps: results.all.latency_ps.clone(),
            slowdown: results.all.slowdown.clone(),
            class_slowdown,
            efficiency: row.efficiency,
            cores_mean: row.cores_mean,
            refused: row.grants_refused_share,
            row: serde_json::to_value(&row).unwrap_or_default(),
        }
    }

    /// Do cores come and go?
    pub(crate) fn is_dynamic(&self) -> bool {
        self.allocation != STATIC
    }
}

/// What [`Cell::allocation`] calls cores that stay.
pub(crate) const STATIC: &str = "static";

fn allocation_name(allocation: &AllocationConfig) -> &'static str {
    match allocation {
        AllocationConfig::Static => STATIC,
        AllocationConfig::PerTask(_) => "per-task",
        AllocationConfig::Shenango(_) => "shenango",
        AllocationConfig::Caladan(_) => "caladan",
        AllocationConfig::DelayRange(_) => "delay-range",
        AllocationConfig::UtilizationRange(_) => "utilization-range",
        AllocationConfig::IdleBuffer(_) => "idle-buffer",
        AllocationConfig::Triggers(_) => "triggers",
    }
}

#[cfg(test)]
mod tests {
    use caudal_stats::Histogram;

    use super::*;

    fn replicated(values: &[u64]) -> Replicated {
        let mut all = Replicated::new();
        for &value in values {
            let mut histogram = Histogram::new();
            histogram.record(value);
            all.push(&histogram);
        }
        all
    }

    /// Of 16 fair coins fewer than 4 show heads in 1.06 % of all cases: the 4th ratios hold at 97.9 %, the 5th
    /// ones at 92.3 %.
    #[test]
    fn the_median_ratio_has_the_interval_of_the_sign_test() {
        let a = replicated(&(1..=16).map(|i| 100 + i).collect::<Vec<_>>());
        let b = replicated(&[100; 16]);
        let ratio = typical_ratio(&a, &b, 50.0, 0.95);
        assert_eq!((ratio.low, ratio.estimate, ratio.high), (1.04, 1.085, 1.13));
        let surer = typical_ratio(&a, &b, 50.0, 0.9999);
        assert_eq!((surer.low, surer.high), (1.01, 1.16), "the extremes, at 1 - 2/2^16");
        assert!(typical_ratio(&a, &b, 50.0, 0.999_999).high.is_infinite(), "nothing holds at that");
    }
}
