//! The highest load at which a system keeps a limit: bisection, each load simulated until it is decided.
//!
//! Near the limit a system may be near saturation, where what it starts from (nobody there) is forgotten
//! slowly, and a short run looks better than the truth. So a load that *breaks* the limit in a short run is
//! believed, but one that keeps it only when the warm-up was long enough for the idle time that was seen: some
//! relaxation times of a queue, which grow as 1/(idle share)². Counting completions would not do: under
//! processor sharing an overloaded system goes on completing its short requests.

use std::sync::Arc;

use caudal_config::{File, Measure, Offered, Point, SystemPlan, WarmUp, Workload};
use caudal_sim::engine::{Account, SLOWDOWN_ONE};
use caudal_sim::experiment::{Crew, Judged, Quantity};
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
const RESOLUTION: f64 = 0.005;
/// Requests of the first try.
const SHORTEST: u64 = 20_000;
/// Requests of the last try, unless the file says so.
const LONGEST: u64 = 500_000;
/// Relaxation times that a warm-up has to last.
const RELAXATIONS: f64 = 4.0;
/// How far from the likely limit a load is tried that is surely kept, and one that surely is not.
const MARGINS: [f64; 2] = [0.01, 0.03];

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
    /// The highest rate: the last that every replication keeps the limit at, the likely one, the first that every
    /// replication breaks it at.
    pub(crate) rate_per_s: Estimate,
    /// Loads that were simulated, with the slowdown there, between that of the lowest and the highest
    /// replication; missing in overload.
    pub(crate) tried: Vec<(f64, Estimate)>,
}

impl Highest {
    /// As results are written.
    pub(crate) fn row(&self) -> serde_json::Value {
        let tried = self
            .tried
            .iter()
            .map(|(load, slowdown)| serde_json::json!({ "load": load, "slowdown": slowdown }));
        serde_json::json!({
            "quantum_ns": self.quantum_ns,
            "preemption_ns": self.preemption_ns,
            "rate_per_s": self.rate_per_s,
            "tried": tried.collect::<Vec<_>>(),
        })
    }
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
    /// By all replications alike, or open: a percentile far out has no interval over so few of them.
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

    /// Simulates a load with ever longer runs until it is clear whether it keeps the limit.
    fn decide(&self, load: f64, global: &Global, progress: &Progress) -> Result<(Estimate, Kept), RunError> {
        let most = self.longest();
        let mut warm_up = SHORTEST.min(most);
        loop {
            let (slowdown, kept, idle) = self.simulate(load, warm_up, global, progress)?;
            let forgotten = self.relaxation_requests(load, idle);
            let longer = match kept {
                Kept::No => return Ok((slowdown, kept)),
                Kept::Yes if warm_up >= forgotten => return Ok((slowdown, kept)),
                Kept::Yes => forgotten.max(2 * warm_up),
                Kept::Open(_) => forgotten.max(4 * warm_up),
            };
            if warm_up >= most {
                return Ok((slowdown, kept));
            }
            warm_up = longer.min(most);
        }
    }

    /// Slowdown (of all replications, and of the lowest and highest one), verdict, and share of core time without
    /// work, with runs that leave out and measure so many requests.
    fn simulate(
        &self,
        load: f64,
        requests: u64,
        global: &Global,
        progress: &Progress,
    ) -> Result<(Estimate, Kept, f64), RunError> {
        let mut point = self.point(load);
        let (warm_up, requests) = (WarmUp::Requests(requests), Some(requests));
        point.measure = Arc::new(Measure { warm_up, requests, ..Measure::clone(&self.measure) });
        let crew = Crew { threads: 1, stop: &global.stop, progress: &|more| progress.requests(more) };
        let results = experiment(&point, false, Judged::Reported)
            .run(&crew)
            .map_err(|source| RunError { point: point.key.clone(), source })?;
        let quantity = Quantity { class: None, slowdown: true, percentile: Some(PERCENTILE) };
        let slowdown = match results.overloaded {
            true => Estimate::MISSING,
            false => {
                let pooled = results.estimate(&quantity, point.measure.stop.confidence).estimate;
                let each = results.all.slowdown.replication_percentiles(PERCENTILE).flatten();
                let each: Vec<f64> = each.map(|value| value as f64 / SLOWDOWN_ONE as f64).collect();
                let low = each.iter().copied().fold(pooled, f64::min);
                Estimate { estimate: pooled, low, high: each.into_iter().fold(pooled, f64::max) }
            }
        };
        let books = |part: fn(&Account) -> u128| -> f64 {
            results.accounts.iter().map(|(account, _)| part(account) as f64).sum()
        };
        let used = books(|account| account.busy_ps + account.switching_ps) / books(|account| account.held_ps);
        Ok((slowdown, Kept::of(slowdown, results.overloaded), 1.0 - used))
    }

    /// Requests that arrive in a few relaxation times of the queue, for that share of idle time: the mean rest
    /// of a service time over the cores, over the square of the idle share.
    fn relaxation_requests(&self, load: f64, idle: f64) -> u64 {
        let (service, point) = (&self.workload.service, self.point(load));
        let rest_ps = service.mean_ps() * (1.0 + service.scv()) / 2.0;
        let time_ps = rest_ps / f64::from(point.system.cores) / idle.max(1e-3).powi(2);
        let gap_ps = service.mean_ps() / (load * f64::from(point.system.cores));
        (RELAXATIONS * time_ps / gap_ps) as u64
    }

    /// Most requests that are left out, and then measured, in a replication.
    fn longest(&self) -> u64 {
        let most = self.measure.requests.unwrap_or(LONGEST);
        if self.quick { (most / 8).max(SHORTEST) } else { most }
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
    // Loads that stayed open leave the sure ones far away: look for nearer ones.
    for margin in MARGINS {
        let load = estimate * (1.0 - margin);
        if load <= surely {
            break;
        }
        if keeps(load)? == Kept::Yes {
            surely = load;
        }
    }
    for margin in MARGINS {
        let load = estimate * (1.0 + margin);
        if load >= surely_not {
            break;
        }
        if keeps(load)? == Kept::No {
            surely_not = load;
        }
    }
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
                load if load < 0.69 => Kept::Yes,
                load if load > 0.71 => Kept::No,
                load => Kept::Open(load < 0.7),
            })
        });
        let found = found.unwrap();
        assert!((found.estimate - 0.7).abs() < RESOLUTION, "{found:?}");
        assert!(found.low < 0.69 && found.low > 0.66 && found.high > 0.71 && found.high < 0.74, "{found:?}");
    }

    #[test]
    fn a_system_that_never_keeps_the_limit_has_the_lowest_load() {
        let found: Result<Estimate, ()> = bisect(|_| Ok(Kept::No));
        assert!(found.unwrap().low == 0.0);
        assert_eq!(Kept::of(Estimate::MISSING, true), Kept::No);
        assert_eq!(Kept::of(Estimate { estimate: 9.9, low: 9.0, high: 10.2 }, false), Kept::Open(true));
    }
}
