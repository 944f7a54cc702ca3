//! The question that a search for lanes answers. The command fills it from its arguments, and `lane_tuning` from a plan; it is checked
//! before anything is simulated. Data, with its checks.

use std::sync::Arc;

use caudal_config::{
    ContextsConfig, Costs, LatencyStatistic, LatencyTarget, Measure, Pools, Statistic, System, Workload,
};
use caudal_sim::experiment::Quantity;
use caudal_workload::Service;

use super::layout::{Family, LANES_MAX, Layout};
use super::objective::Objective;
use crate::aims::{aim, class_of};
use crate::{Budget, TuneError};

/// A question to [`super::find`].
#[derive(Clone, Debug)]
pub struct LanesQuestion {
    /// The workload; its own load or rate does not matter.
    pub workload: Arc<Workload>,
    /// The name of the workload in sentences.
    pub workload_name: String,
    /// How requests come to lanes, and servers to them.
    pub family: Family,
    /// Servers; 1 to [`caudal_config::CORES_MAX`].
    pub cores: u32,
    /// The servers are the hardware contexts of one core, if this is given: as many as it has.
    pub contexts: Option<ContextsConfig>,
    /// Offered work over their capacity; above 0, below 1.
    pub load: f64,
    /// The statistic that is to be as short as possible.
    pub target: LatencyStatistic,
    /// Further targets, which have to be kept meanwhile.
    pub also: Vec<LatencyTarget>,
    /// Reservations that are given: only their cutoffs are looked for.
    pub reservations: Option<Vec<u32>>,
    /// The largest number of lanes; at least 1.
    pub lanes_max: usize,
    /// The costs of the machine, those of a preemption and of a probe among them.
    pub costs: Costs,
    /// Seed, confidence, precision, and percentiles to report.
    pub measure: Measure,
    /// How much the search may simulate; what judges its answer comes on top.
    pub budget: Budget,
    /// Settle for 10 % precision and 2 million requests a system.
    pub quick: bool,
    /// Other circumstances under which the answer is tried.
    pub drifts: Vec<Drift>,
}

/// Another workload, which may take the place of the question's.
#[derive(Clone, Debug)]
pub struct Drift {
    /// The name of the drift in sentences.
    pub name: String,
    /// The workload after the drift.
    pub workload: Arc<Workload>,
    /// The load after the drift.
    pub load: f64,
}

impl LanesQuestion {
    /// The plural of what servers are called: cores or contexts.
    pub fn servers_name(&self) -> &'static str {
        if self.contexts.is_some() { "contexts of a core" } else { "cores" }
    }

    /// The machine on which lanes are looked for.
    pub(crate) fn machine(&self) -> LanesMachine {
        LanesMachine { contexts: self.contexts.clone(), ..LanesMachine::from(self.family) }
    }

    /// Work that the servers can do in a unit of time, in what a core does alone: what a load of 1 fills.
    pub fn capacity(&self) -> f64 {
        self.contexts.as_ref().map_or(f64::from(self.cores), ContextsConfig::most)
    }

    /// How much longer a request may be on a server than it is alone on a core: probes, and contexts that share it. Of
    /// known size, requests have the one that they have alone.
    pub fn stretch(&self) -> f64 {
        match self.family {
            Family::Sita => 1.0,
            _ => self.costs.probe_factor * f64::from(self.cores) / self.capacity(),
        }
    }

    /// Checks what [`super::find`] relies on.
    ///
    /// # Errors
    /// The first thing that can not be asked.
    pub fn check(&self) -> Result<(), TuneError> {
        if !(1..=caudal_config::CORES_MAX).contains(&self.cores) {
            return Err(TuneError::Cores(self.cores));
        }
        if let Some(contexts) = &self.contexts {
            if let Some(fault) = contexts.fault() {
                return Err(TuneError::Contexts(fault.to_owned()));
            }
            if contexts.count != self.cores || self.family == Family::Sita {
                let fault = "lanes of hardware contexts need a family by time served (sqd-sita or isqd-sita) and as many servers as contexts";
                return Err(TuneError::Contexts(fault.to_owned()));
            }
        }
        if self.budget.requests == 0 {
            return Err(TuneError::NoBudget);
        }
        let loads = std::iter::once(self.load).chain(self.drifts.iter().map(|drift| drift.load));
        for load in loads {
            // Probes are work, too.
            let load = load * self.costs.probe_factor;
            if !(load > 0.0 && load < 1.0) {
                return Err(TuneError::Overload { load });
            }
        }
        let workloads =
            std::iter::once(&self.workload).chain(self.drifts.iter().map(|drift| &drift.workload));
        for workload in workloads {
            if workload.arrivals.natural_rate().is_some() {
                return Err(TuneError::RecordedArrivals);
            }
            // Here, and not after the search.
            self.objective(&workload.service)?;
        }
        if let Some(reservations) = &self.reservations {
            let total: u64 = reservations.iter().map(|&count| u64::from(count)).sum();
            let fits = total == u64::from(self.cores) && !reservations.contains(&0);
            if !fits || !(1..=LANES_MAX).contains(&reservations.len()) {
                return Err(TuneError::Reservations {
                    given: reservations.clone(),
                    cores: self.cores,
                    most: LANES_MAX,
                });
            }
        }
        Ok(())
    }

    /// The target and the limits, resolved for requests of `service`.
    pub(crate) fn objective(&self, service: &Service) -> Result<Objective, TuneError> {
        let LatencyStatistic { class, statistic, metric } = &self.target;
        let without = LatencyStatistic { class: None, ..self.target.clone() };
        let class = class_of(service, class.as_ref(), &self.target, &without)?;
        let percentile = match statistic {
            Statistic::Mean | Statistic::Miss(_) => None,
            Statistic::Percentile(percentile) => Some(*percentile),
        };
        let limit = |target| aim(service, target, self.cores).map(|aim| (aim.quantity, aim.limit));
        Ok(Objective {
            target: Quantity { class, metric: *metric, percentile, ..Quantity::default() },
            limits: self.also.iter().map(limit).collect::<Result<_, _>>()?,
            confidence: self.measure.stop.confidence,
        })
    }

    /// The percentiles of `measure`, those of the target and the limits, and the one that decides where the target does
    /// not; increasing.
    pub(crate) fn percentiles(&self) -> Vec<f64> {
        let statistics = self.also.iter().map(|target| target.statistic).chain([self.target.statistic]);
        let asked = statistics.filter_map(|statistic| match statistic {
            Statistic::Percentile(percentile) => Some(percentile),
            Statistic::Mean | Statistic::Miss(_) => None,
        });
        let mut all: Vec<f64> = self
            .measure
            .percentiles
            .iter()
            .copied()
            .chain(asked)
            .chain([super::objective::SLOWDOWN])
            .collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        all
    }

    /// Where a search among given reservations begins: with equal work for each server.
    pub(crate) fn level_start(&self, service: &Service, reservations: &[u32]) -> Layout {
        let lanes = reservations.len();
        let total: f64 = reservations.iter().map(|&count| f64::from(count)).sum();
        let mut below = 0.0;
        let mut layout = Layout { cutoffs: Vec::new(), reservations: reservations.to_vec() };
        for &servers in &reservations[..lanes - 1] {
            below += f64::from(servers) / total;
            let cutoff = level(service, below, self.family) as f64 * self.stretch();
            let least = layout.cutoffs.last().map_or(1, |last| last.0 + 1);
            layout.cutoffs.push(caudal_policy::Picos(super::grid::rounded_up(cutoff).max(least)));
        }
        layout
    }
}

/// Lanes as systems: on cores, or on the contexts of one.
#[derive(Clone, Debug)]
pub(crate) struct LanesMachine {
    pub(crate) family: Family,
    contexts: Option<ContextsConfig>,
}

impl From<Family> for LanesMachine {
    /// Lanes of this family on cores.
    fn from(family: Family) -> LanesMachine {
        LanesMachine { family, contexts: None }
    }
}

impl LanesMachine {
    /// The same servers under another policy.
    pub(crate) fn as_family(&self, family: Family) -> LanesMachine {
        LanesMachine { family, contexts: self.contexts.clone() }
    }

    /// The system of `layout`.
    pub(crate) fn system(&self, layout: &Layout) -> System {
        self.on(self.family.system(layout))
    }

    /// `system` of as many cores as there are servers, on what the servers are.
    pub(crate) fn on(&self, system: System) -> System {
        match &self.contexts {
            None => system,
            Some(contexts) => System {
                cores: 1,
                cores_allocated: 1,
                contexts: Some(contexts.clone()),
                pools: Pools::PerCore,
                ..system
            },
        }
    }
}

/// Up to where lies `share` of the work.
fn level(service: &Service, share: f64, family: Family) -> u64 {
    let mean_ps = service.mean_ps();
    let below = |ps: u64| {
        let left = service.excess(ps);
        // By known size, requests that are longer bring all of their work elsewhere.
        let elsewhere = match family {
            Family::Sita => left.mean_ps + ps as f64 * left.share,
            _ => left.mean_ps,
        };
        (mean_ps - elsewhere) / mean_ps
    };
    let (mut low, mut high) = (1, service.quantile(1.0).min(1 << 60));
    while low < high {
        let middle = low + (high - low) / 2;
        if below(middle) >= share {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}
