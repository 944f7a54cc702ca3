//! A simulated point with all that a statement can be judged by: replications, not only their summary. `run` makes one for each point;
//! `claim` and `compare` judge by it, charts and tables show it. Data in memory.

use caudal_config::{Point, Variant};
use caudal_policy::Picos;
use caudal_policy::allocation::AllocationConfig;
use caudal_policy::discipline::DisciplineConfig;
use caudal_policy::parallelism::ParallelismConfig;
use caudal_sim::engine::Account;
use caudal_sim::experiment::{ClassResults, Results};
use caudal_sim::row::row_of;
use caudal_stats::{Estimate, Linear, Replicated};
use serde_json::Value;

/// A point of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CellId {
    pub(crate) figure: &'static str,
    /// Index in the order of the file.
    pub(crate) at: usize,
}

/// One point of a figure.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) id: CellId,
    /// The workload that its file is about, where a figure has several; else empty.
    pub(crate) workload: &'static str,
    /// Name of the point within its file.
    pub(crate) key: String,
    /// Name of the system.
    pub(crate) system: String,
    /// Is it one queue, first come first served, that costs nothing? Lanes that no search found any for are.
    pub(crate) is_one_queue: bool,
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
    /// Target latencies that misses are counted of.
    pub(crate) late: Vec<Picos>,
    /// The one that the system works towards, if it has any.
    pub(crate) target: Option<Picos>,
    /// Is the offered work `load` in the long run? The authors' simulator cuts times down to whole nanoseconds.
    pub(crate) load_is_exact: bool,
    /// Did it fall behind its load? Then it has no latency.
    pub(crate) overloaded: bool,
    /// Sojourn times in ps.
    pub(crate) latency_ps: Replicated,
    /// Slowdowns in fixed point.
    pub(crate) slowdown: Replicated,
    /// Slowdowns by class.
    pub(crate) class_slowdown: Vec<(String, Replicated)>,
    /// Sojourn times in ps by class.
    pub(crate) class_latency_ps: Vec<(String, Replicated)>,
    /// Preemptions and requests, of every replication.
    pub(crate) preemptions: Vec<(f64, f64)>,
    /// Core time and the time that it covers, of every replication.
    pub(crate) held_ps: Vec<(f64, f64)>,
    /// Time on tasks and core time, of every replication.
    pub(crate) busy_ps: Vec<(f64, f64)>,
    /// Share of arrivals that found no spare core.
    pub(crate) refused: Estimate,
    /// The row as results are written.
    pub(crate) row: Value,
}

/// Confidence of the intervals that tables and charts show.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// A statistic of a cell: a percentile, 0 to 100.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Stat {
    /// Of the latency of all requests, in ns.
    Latency(f64),
    /// Of the slowdown of all requests.
    Slowdown(f64),
    /// Of the slowdown of the long ones.
    LongSlowdown(f64),
    /// Of the latency of the requests of a class, in ns.
    OfClass(&'static str, f64),
}

/// The class that [`Stat::LongSlowdown`] looks at.
const LONG: &str = "long";

impl Stat {
    /// The percentile.
    pub(crate) fn percentile(self) -> f64 {
        match self {
            Stat::Latency(p) | Stat::Slowdown(p) | Stat::LongSlowdown(p) | Stat::OfClass(_, p) => p,
        }
    }

    /// `p99.9`.
    pub(crate) fn label(self) -> String {
        caudal_stats::percentile_label(self.percentile())
    }

    fn divisor(self) -> f64 {
        match self {
            Stat::Latency(_) | Stat::OfClass(..) => 1e3,
            Stat::Slowdown(_) | Stat::LongSlowdown(_) => caudal_stats::SLOWDOWN_ONE as f64,
        }
    }

    fn recorded(self, cell: &Cell) -> Option<&Replicated> {
        match self {
            Stat::Latency(_) => Some(&cell.latency_ps),
            Stat::Slowdown(_) => Some(&cell.slowdown),
            Stat::LongSlowdown(_) => of_class(&cell.class_slowdown, LONG),
            Stat::OfClass(class, _) => of_class(&cell.class_latency_ps, class),
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

    /// The logarithm of the statistic over the first replications; none in overload, or where too few values lie
    /// beyond the percentile.
    pub(crate) fn log(self, cell: &Cell, replications: usize) -> Option<Linear> {
        let recorded = self.recorded(cell).filter(|_| !cell.overloaded)?;
        let log = recorded.log_percentile(self.percentile(), replications)?;
        Some(log.mapped(log.value() - self.divisor().ln(), 1.0))
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
        let common = common_replications(&[a, b]);
        if let (Some(first), Some(second)) = (self.log(a, common), self.log(b, common)) {
            return first.plus(-1.0, &second).exp_interval(confidence);
        }
        match (self.recorded(a), self.recorded(b)) {
            (Some(first), Some(second)) => typical_ratio(first, second, self.percentile(), confidence),
            _ => Estimate::MISSING,
        }
    }
}

fn of_class<'a>(classes: &'a [(String, Replicated)], class: &str) -> Option<&'a Replicated> {
    classes.iter().find(|(name, _)| name == class).map(|(_, all)| all)
}

/// How many replications all of these have.
pub(crate) fn common_replications(cells: &[&Cell]) -> usize {
    cells.iter().map(|cell| cell.latency_ps.replications()).min().unwrap_or(0)
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
    pub(crate) fn new(
        id: CellId,
        (workload, point): (&'static str, &Point),
        results: &Results,
        wall_s: f64,
    ) -> Cell {
        let row = row_of(point, results, wall_s);
        let classes = point.workload.service.classes();
        let by_class = |of: fn(&ClassResults) -> &Replicated| -> Vec<(String, Replicated)> {
            match classes.len() {
                1 => Vec::new(),
                _ => classes
                    .iter()
                    .cloned()
                    .zip(results.classes.iter().map(|class| of(class).clone()))
                    .collect(),
            }
        };
        let total = |part: fn(&Account, u64) -> (f64, f64)| -> Vec<(f64, f64)> {
            results.accounts.iter().map(|(account, span_ps)| part(account, *span_ps)).collect()
        };
        Cell {
            id,
            workload,
            key: point.key.clone(),
            system: point.system.name.clone(),
            is_one_queue: point.system.is_central()
                && point.system.discipline == DisciplineConfig::Fcfs
                && point.costs.dispatcher.0 == 0,
            allocation: allocation_name(&point.system.allocation),
            cores: point.system.cores,
            held: point.system.cores_allocated,
            load: point.load,
            rate_per_s: row.rate_per_s,
            quantum_ns: match point.system.discipline {
                DisciplineConfig::ProcessorSharing(sharing) => Some(sharing.quantum.0 as f64 / 1e3),
                _ => None,
            },
            late: point.measure.miss.clone(),
            target: target(&point.system.parallelism),
            load_is_exact: point.system.variant == Variant::Paper,
            overloaded: results.overloaded,
            latency_ps: results.all.latency_ps.clone(),
            slowdown: results.all.slowdown.clone(),
            class_slowdown: by_class(|class| &class.slowdown),
            class_latency_ps: by_class(|class| &class.latency_ps),
            preemptions: total(|account, _| (account.preemptions as f64, account.completed as f64)),
            held_ps: total(|account, span_ps| (account.held_ps as f64, span_ps as f64)),
            busy_ps: total(|account, _| (account.busy_ps as f64, account.held_ps as f64)),
            refused: row.grants_refused_share,
            row: named(serde_json::to_value(&row).unwrap_or_default(), workload),
        }
    }

    /// Cores held, on average, over the first replications.
    ///
    /// In the long run, a point that carries its load spends as much time on tasks as is offered, whatever a run
    /// happened to be offered. How far the cores follow that is seen in the replications; all of them that are held
    /// all the time do not, and stay all.
    pub(crate) fn cores(&self, replications: usize) -> Linear {
        let known = (!self.overloaded && self.load_is_exact).then(|| self.load * f64::from(self.cores));
        let n = replications.min(self.held_ps.len());
        held_for(known, &self.held_ps[..n], &self.busy_ps[..n])
    }

    /// Cores held, on average.
    pub(crate) fn cores_mean(&self, confidence: f64) -> Estimate {
        let cores = self.cores(self.held_ps.len()).interval(confidence);
        let all = f64::from(self.cores);
        Estimate { estimate: cores.estimate.min(all), ..cores }.at_least(0.0).at_most(all)
    }

    /// Share of the core time that is spent on tasks.
    pub(crate) fn efficiency(&self, confidence: f64) -> Estimate {
        Linear::ratio_of_sums(&self.busy_ps).interval(confidence).at_most(1.0)
    }

    /// Preemptions of a request, on average.
    pub(crate) fn preemptions(&self) -> Linear {
        Linear::ratio_of_sums(&self.preemptions)
    }

    /// Do cores come and go?
    pub(crate) fn is_dynamic(&self) -> bool {
        self.allocation != STATIC
    }
}

/// A row with the workload that it is about, where a figure has several.
fn named(mut row: Value, workload: &str) -> Value {
    if let (Some(object), false) = (row.as_object_mut(), workload.is_empty()) {
        object.insert("workload".to_owned(), workload.into());
    }
    row
}

/// Cores held on average: of the time that cores are held and that passes, and of the time that they work and are held,
/// in each replication; with the cores that work in the long run, if that is known.
fn held_for(known: Option<f64>, held_ps: &[(f64, f64)], busy_ps: &[(f64, f64)]) -> Linear {
    let held = Linear::ratio_of_sums(held_ps);
    let Some(known) = known.filter(|_| held_ps.len() >= CONTROLLED_MIN) else { return held };
    let parts = busy_ps.iter().zip(held_ps);
    let working: Vec<(f64, f64)> = parts.map(|(&(busy, _), &(_, span))| (busy, span)).collect();
    held.controlled(&Linear::ratio_of_sums(&working), known)
}

/// Fewer replications than this do not tell how far the cores follow the work.
const CONTROLLED_MIN: usize = 6;

/// The name in [`Cell::allocation`] for cores that stay.
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

/// The target for which the thresholds are worked out.
pub(crate) fn target(parallelism: &ParallelismConfig) -> Option<Picos> {
    match parallelism {
        ParallelismConfig::TailControl(config) | ParallelismConfig::Clairvoyant(config) => {
            (config.target > Picos::ZERO).then_some(config.target)
        }
        _ => None,
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

    /// Cores that are held all the time are all of them, however much work a run happened to be offered; cores that
    /// follow the work are freed of that chance.
    #[test]
    fn cores_follow_the_work_only_where_they_do() {
        let busy = [790.0, 800.0, 805.0, 810.0, 795.0, 785.0];
        let of = |held: fn(f64) -> f64| {
            let held_ps = busy.map(|busy| (held(busy), 100.0));
            held_for(Some(8.0), &held_ps, &busy.map(|busy| (busy, held(busy)))).interval(0.95)
        };
        assert_eq!(of(|_| 1600.0), Estimate::exact(16.0));
        let following = of(|busy| 1.25 * busy);
        assert!((following.estimate - 10.0).abs() < 1e-9 && following.half_width() < 1e-9, "{following:?}");
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
