//! The highest load at which a system keeps a limit: bisection, each step simulated until it is decided.

use std::sync::Arc;

use caudal_config::{File, Measure, Offered, Point, SystemPlan, Workload};
use caudal_sim::experiment::{Crew, Experiment, Judged, Quantity};
use caudal_sim::sweep::experiment;
use caudal_stats::Estimate;

use super::run::RunError;
use crate::global::Global;
use crate::progress::Progress;

/// What is to be kept: slowdown p99.9 at most 10 (Luo et al., ASPLOS 2024, section 2).
pub(crate) const PERCENTILE: f64 = 99.9;
/// See [`PERCENTILE`].
pub(crate) const SLOWDOWN_MAX: f64 = 10.0;

/// Loads that are looked between.
const RANGE: (f64, f64) = (0.02, 1.0);
/// The search ends when the bracket is so narrow.
const RESOLUTION: f64 = 0.004;
/// How often an undecided load is simulated again, twice as precisely.
const TRIES: u32 = 2;

/// The search for one system.
pub(crate) struct Search {
    workload: Arc<Workload>,
    measure: Arc<Measure>,
    plan: Arc<SystemPlan>,
    quick: bool,
}

/// What a search found.
#[derive(Clone, Debug)]
pub(crate) struct Highest {
    /// Quantum of the system.
    pub(crate) quantum_ns: f64,
    /// Cost of a preemption.
    pub(crate) preemption_ns: f64,
    /// The highest rate: the last that surely keeps the limit, the likely one, the first that surely breaks it.
    pub(crate) rate_per_s: Estimate,
    /// Loads that were simulated, with the slowdown there; missing in overload.
    pub(crate) tried: Vec<(f64, Estimate)>,
}

/// Whether a load keeps the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    Yes,
    No,
    /// The interval holds the limit: yes by the estimate, or no.
    Open(bool),
}

impl Kept {
    fn of(slowdown: Estimate, overloaded: bool) -> Kept {
        match slowdown {
            _ if overloaded => Kept::No,
            slowdown if slowdown.high <= SLOWDOWN_MAX => Kept::Yes,
            slowdown if slowdown.low > SLOWDOWN_MAX => Kept::No,
            slowdown => Kept::Open(slowdown.estimate <= SLOWDOWN_MAX),
        }
    }
}

impl Search {
    /// Steps of progress of a search: about as many loads are tried.
    pub(crate) const STEPS: usize = 8;

    /// One for every system of the file.
    pub(crate) fn all(file: &File, quick: bool) -> Vec<Search> {
        let Some(workload) = &file.workload else { return Vec::new() };
        let search = |plan: &SystemPlan| Search {
            workload: Arc::clone(workload),
            measure: Arc::clone(&file.measure),
            plan: Arc::new(plan.clone()),
            quick,
        };
        file.systems.iter().map(search).collect()
    }

    /// Looks for the highest load.
    ///
    /// # Errors
    /// If it is interrupted.
    pub(crate) fn run(&self, global: &Global, progress: &Progress) -> Result<Highest, RunError> {
        let mut tried = Vec::new();
        let mut steps = 0;
        let per_load = {
            let point = self.point(1.0);
            f64::from(point.system.cores) / (point.workload.service.mean_ps() / 1e12)
        };
        let found = bisect(|load| {
            let (slowdown, kept) = self.decide(load, global, progress)?;
            tried.push((load, slowdown));
            steps += 1;
            if steps <= Search::STEPS {
                progress.step();
            }
            Ok(kept)
        })?;
        (steps..Search::STEPS).for_each(|_| progress.step());
        let point = self.point(1.0);
        let quantum = match point.system.discipline {
            caudal_policy::discipline::DisciplineConfig::ProcessorSharing(sharing) => sharing.quantum.0,
            _ => 0,
        };
        Ok(Highest {
            quantum_ns: quantum as f64 / 1e3,
            preemption_ns: point.costs.preemption.0 as f64 / 1e3,
            rate_per_s: found.divided_by(1.0 / per_load),
            tried,
        })
    }

    fn decide(&self, load: f64, global: &Global, progress: &Progress) -> Result<(Estimate, Kept), RunError> {
        let mut point = self.point(load);
        let quantity = Quantity { class: None, slowdown: true, percentile: Some(PERCENTILE) };
        let mut left = if self.quick { 0 } else { TRIES };
        loop {
            let confidence = point.measure.stop.confidence;
            let asked: Experiment<'_> = experiment(&point, self.quick, Judged::Only(quantity.clone()));
            let crew = Crew { threads: 1, stop: &global.stop, progress: &|more| progress.requests(more) };
            let results = asked.run(&crew).map_err(|source| RunError { point: point.key.clone(), source })?;
            let slowdown = match results.overloaded {
                true => Estimate::MISSING,
                false => results.estimate(&quantity, confidence),
            };
            let kept = Kept::of(slowdown, results.overloaded);
            if left == 0 || !matches!(kept, Kept::Open(_)) || !results.precise {
                return Ok((slowdown, kept));
            }
            left -= 1;
            let mut measure = Measure::clone(&point.measure);
            measure.stop.relative_error /= 2.0;
            point.measure = Arc::new(measure);
        }
    }

    fn point(&self, load: f64) -> Point {
        Point {
            key: format!("{}/load={load}", self.plan.system.name),
            workload: Arc::clone(&self.workload),
            offered: Offered::Load(load),
            load,
            system: self.plan.system.clone(),
            costs: self.plan.costs,
            measure: Arc::clone(&self.measure),
            plan: Arc::clone(&self.plan),
            varied: self.plan.varied.clone(),
        }
    }
}

/// The highest load that is kept: the highest that surely is, the likely one, the lowest that surely is not.
fn bisect<E>(mut keeps: impl FnMut(f64) -> Result<Kept, E>) -> Result<Estimate, E> {
    let (mut low, mut high) = RANGE;
    let (mut surely, mut surely_not) = (0.0_f64, RANGE.1);
    while high - low > RESOLUTION {
        let middle = f64::midpoint(low, high);
        let kept = keeps(middle)?;
        match kept {
            Kept::Yes => surely = surely.max(middle),
            Kept::No => surely_not = surely_not.min(middle),
            Kept::Open(_) => {}
        }
        if matches!(kept, Kept::Yes | Kept::Open(true)) { low = middle } else { high = middle }
    }
    let estimate = f64::midpoint(low, high);
    Ok(Estimate { estimate, low: surely.min(estimate), high: surely_not.max(estimate) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_limit_of_a_monotone_system() {
        let mut asked = 0;
        let found: Result<Estimate, ()> = bisect(|load| {
            asked += 1;
            Ok(if load < 0.713 { Kept::Yes } else { Kept::No })
        });
        let found = found.unwrap();
        assert!(found.contains(0.713) && found.high - found.low <= RESOLUTION, "{found:?}");
        assert!(asked <= 8, "{asked} loads");
    }

    #[test]
    fn loads_that_stay_open_widen_the_interval() {
        let found: Result<Estimate, ()> = bisect(|load| {
            Ok(match load {
                load if load < 0.6 => Kept::Yes,
                load if load > 0.8 => Kept::No,
                load => Kept::Open(load < 0.7),
            })
        });
        let found = found.unwrap();
        assert!((found.estimate - 0.7).abs() < RESOLUTION, "{found:?}");
        assert!(found.low < 0.6 && found.high > 0.8, "{found:?}");
    }

    #[test]
    fn a_system_that_never_keeps_the_limit_has_the_lowest_load() {
        let found: Result<Estimate, ()> = bisect(|_| Ok(Kept::No));
        assert!(found.unwrap().low == 0.0);
        assert_eq!(Kept::of(Estimate::MISSING, true), Kept::No);
        assert_eq!(Kept::of(Estimate { estimate: 9.9, low: 9.0, high: 10.2 }, false), Kept::Open(true));
    }
}
