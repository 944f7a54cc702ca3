//! Is a run long enough to show the steady state, and did it?
//!
//! What a run has to leave out and how long it has to be follow from the system's relaxation time
//! ([`caudal_stats::relaxation`]): from the second moment of *all* requests' service times and from the time to spare
//! of whatever is nearest to its limit, with probes and the scheduler's overheads. The statistic that was asked for
//! says nothing of it: a percentile of short requests looks steady while the work of rare long ones still piles up.
//!
//! Afterwards, the books tell whether it was: in the long run, as much work is done as is offered. What is missing
//! beyond chance had not been done when the run ended, or was never offered, because the longest requests are so rare
//! that the run met none.

use caudal_config::{ContextsConfig, Variant};
use caudal_policy::allocation::AllocationConfig;
use caudal_policy::contexts::LoadAdaptationConfig;
use caudal_policy::dispatch::DispatchConfig;
use caudal_policy::rebalance::RebalanceConfig;
use caudal_stats::Estimate;
use caudal_stats::relaxation::{self, Queue};

use crate::engine::Account;
use crate::experiment::{Experiment, Results};
use crate::lanes::{LaneLoad, lane_loads};

/// From this share of their time on, the cores can not keep up, or it would take too long to see that they do.
pub const FULL: f64 = 0.995;
/// Confidence at which the work that was done must agree with what was offered.
const WORK_CONFIDENCE: f64 = 0.99;
/// The shortest runs that count as long enough, as a part of what theory says: it is known no better than that,
/// because overheads that are measured vary.
pub(crate) const LENIENCE: f64 = 0.7;
/// The part of a run's length that makes up as much for a lack of warm-up.
const DILUTION: f64 = 0.05;

/// How long replications have to be, in requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lengths {
    /// What to leave out.
    pub warm_up: f64,
    /// What to measure in each of [`relaxation::REPLICATIONS`].
    pub measured: f64,
}

/// What the scheduler took, as far as it grows with the load.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Overheads {
    /// Core time, for each unit of it that went to requests.
    pub per_work: f64,
    /// Preemptions per request.
    pub preemptions: f64,
}

impl Overheads {
    /// Those of a series of books. What thieves do takes only time that they have to spare; answering a flag does not.
    pub fn of<'a>(rebalance: &RebalanceConfig, accounts: impl Iterator<Item = &'a Account>) -> Overheads {
        let sheds = matches!(rebalance, RebalanceConfig::WorkShedding(_) | RebalanceConfig::StealAndShed(_));
        let (mut spent, mut busy, mut preemptions, mut completed) = (0.0, 0.0, 0.0, 0.0);
        for account in accounts {
            let moving_ps = if sheds { account.moving_ps } else { 0 };
            spent += (account.switching_ps + account.placing_ps + account.stalled_ps + moving_ps) as f64;
            busy += account.busy_ps as f64;
            preemptions += account.preemptions as f64;
            completed += account.completed as f64;
        }
        Overheads { per_work: spent / busy.max(1.0), preemptions: preemptions / completed.max(1.0) }
    }
}

impl Experiment<'_> {
    /// Share of the cores' time that requests and the scheduler ask for; 1 and more if there is not enough of it.
    pub fn cores_busy(&self, overheads: Overheads) -> f64 {
        if let Some(contexts) = &self.system.contexts {
            return self.contexts_busy(contexts, overheads);
        }
        // Cores that come and go come when there is work.
        let cores = match self.system.allocation {
            AllocationConfig::Static => f64::from(self.system.cores_allocated),
            _ => f64::from(self.system.cores),
        };
        self.offered_cores() * (1.0 + overheads.per_work) / cores
    }

    /// The same of cores with hardware contexts, of which those that wait for memory do nothing, and those that switch
    /// nothing useful.
    fn contexts_busy(&self, contexts: &ContextsConfig, overheads: Overheads) -> f64 {
        let cores = f64::from(self.system.cores);
        let preemptions_per_ps = overheads.preemptions / self.mean_gap_ps / cores;
        let waiting = preemptions_per_ps * self.costs.cold_miss.0 as f64;
        let switching = preemptions_per_ps * self.costs.preemption.0 as f64;
        let most = contexts.adaptation.as_ref().map_or(contexts.count, LoadAdaptationConfig::most);
        let active = f64::from(most) - waiting;
        if active <= switching {
            return f64::INFINITY;
        }
        let useful = throughput(&contexts.speeds(), active) * (active - switching) / active;
        self.offered_cores() / cores / useful
    }

    /// The lanes that have cores of their own, and what they have to do.
    pub fn lane_loads(&self) -> Vec<LaneLoad> {
        lane_loads(self.system, self.costs, self.service, self.mean_gap_ps)
    }

    /// Share of their time that requests ask for of the cores, of the cores of one lane, or of the dispatcher, whichever
    /// is most.
    pub fn busiest(&self, overheads: Overheads) -> f64 {
        let lanes = self.lane_loads().iter().map(|lane| lane.busy).fold(self.cores_busy(overheads), f64::max);
        lanes.max(self.dispatcher_busy(overheads))
    }

    /// Share of its time that requests ask for of a dispatcher, or of the lock of a shared queue.
    fn dispatcher_busy(&self, overheads: Overheads) -> f64 {
        (self.costs.dispatcher.0 as f64 + self.turns_ps(overheads)) / self.mean_gap_ps
    }

    /// The dispatcher's time for a request's turns.
    fn turns_ps(&self, overheads: Overheads) -> f64 {
        self.costs.dispatcher_quantum.0 as f64 * overheads.preemptions
    }

    /// Work that arrives, probes included, in cores.
    fn offered_cores(&self) -> f64 {
        self.service.mean_ps() * self.costs.probe_factor / self.mean_gap_ps
    }

    /// How long replications have to be; nothing where there is no steady state. Of recorded arrivals, most are to be
    /// measured.
    pub fn lengths(&self, overheads: Overheads) -> Lengths {
        let requests = self.relaxation(overheads);
        let requests = if requests.is_finite() { requests } else { 0.0 };
        let most = self.arrivals.count().map_or(f64::INFINITY, |count| count as f64 / 4.0);
        Lengths {
            warm_up: (relaxation::WARM_UP * requests).min(most),
            measured: (relaxation::MEASURED * requests).min(most),
        }
    }

    /// The warm-up that replications with these overheads need.
    pub(crate) fn needed_warm_up(&self, results: &Results) -> u64 {
        self.lengths(self.overheads(results)).warm_up.ceil() as u64
    }

    /// Requests that arrive in a relaxation time, or in a cycle of the arrivals if that is longer.
    fn relaxation(&self, overheads: Overheads) -> f64 {
        let (arrivals, services) = (self.arrivals.dispersion(self.mean_gap_ps), self.service.scv());
        let cores = f64::from(self.system.cores_allocated);
        let busy = self.cores_busy(overheads);
        let cores = Queue { busy, arrivals, services, servers: cores }.relaxation() * self.apart();
        let dispatcher = Queue {
            busy: self.dispatcher_busy(overheads),
            arrivals,
            // As many turns as a request is long.
            services: if self.turns_ps(overheads) > 0.0 { services } else { 0.0 },
            servers: 1.0,
        };
        let lanes = self.lane_loads().iter().map(|lane| lane.relaxation(arrivals)).fold(0.0, f64::max);
        cores.max(lanes).max(dispatcher.relaxation()).max(self.arrivals.cycle_ps() / self.mean_gap_ps)
    }

    /// Queues of which each has to get along with its own part of the requests.
    fn apart(&self) -> f64 {
        let blind = matches!(self.system.dispatch, DispatchConfig::Random | DispatchConfig::RoundRobin);
        match self.system.rebalance {
            RebalanceConfig::None if blind => {
                self.system.pools.sizes(self.system.cores).map_or(1.0, |sizes| sizes.len() as f64)
            }
            _ => 1.0,
        }
    }

    /// Had replications of these lengths time to forget that they began empty, and are they long enough to vary as
    /// replications should?
    pub(crate) fn long_enough(&self, results: &Results) -> bool {
        let lengths = self.lengths(self.overheads(results));
        let (warm_up, measured) = (results.warm_up as f64, results.measured as f64);
        let all = measured * results.accounts.len() as f64;
        warm_up + DILUTION * measured >= LENIENCE * lengths.warm_up
            && all >= LENIENCE * lengths.measured * f64::from(relaxation::REPLICATIONS)
    }

    /// Is there anything in the second halves of these replications that is no echo of their beginning?
    pub(crate) fn shows_growth(&self, results: &Results) -> bool {
        let overheads = self.overheads(results);
        let passed = results.warm_up as f64 + results.measured as f64 / 2.0;
        self.busiest(overheads) >= 1.0
            || passed >= LENIENCE * relaxation::WARM_UP * self.relaxation(overheads)
    }

    /// What the scheduler took in these replications.
    pub fn overheads(&self, results: &Results) -> Overheads {
        Overheads::of(&self.system.rebalance, results.accounts.iter().map(|(account, _)| account))
    }

    /// Was as much work done as is offered in the long run, within chance? Where the arrivals are no chance, or
    /// services are rounded, nothing can be said against it.
    pub fn work_agrees(&self, results: &Results) -> bool {
        if !self.arrivals.is_stationary() || self.system.variant != Variant::Paper {
            return true;
        }
        let done: Estimate =
            results.ratio(WORK_CONFIDENCE, |account, span_ps| (account.busy_ps as f64, span_ps as f64));
        let (low, high) = (done.estimate - done.half_width(), done.estimate + done.half_width());
        let offered = self.offered_cores();
        // Services are whole picoseconds, and requests that straddle the ends of a run are not many.
        (low - 1e-3 * offered..=high + 1e-3 * offered).contains(&offered)
    }
}

/// What a core does with so many active contexts, on average, on straight lines between whole numbers of them.
pub(crate) fn throughput(speeds: &[f64], active: f64) -> f64 {
    let at = |count: usize| if count == 0 { 0.0 } else { speeds[(count - 1).min(speeds.len() - 1)] };
    let below = active.floor();
    let (from, to) = (at(below as usize), at(below as usize + 1));
    from + (to - from) * (active - below)
}

#[cfg(test)]
mod tests {
    use caudal_config::{File, Point};

    use super::*;
    use crate::experiment::Judged;
    use crate::sweep::experiment;

    fn point(text: &str) -> Point {
        File::parse(text, "test.toml").expect("a file").points().expect("points").remove(0)
    }

    #[test]
    fn contexts_that_wait_for_memory_or_switch_carry_less() {
        let busy = |contexts: &str, preemptions: f64| {
            let text = format!(
                "[workload]\nservice = {{ distribution = \"exponential\", mean = \"10us\" }}\nrate = \"70k/s\"\n\
                 [system]\ncores = 1\ncontexts = {contexts}\ndiscipline = {{ policy = \"processor-sharing\", quantum = \"2us\" }}\n\
                 [costs]\ncold_miss = \"1us\"\npreemption = \"0ns\""
            );
            let overheads = Overheads { preemptions, ..Overheads::default() };
            experiment(&point(&text), false, Judged::Reported).cores_busy(overheads)
        };
        let one = |preemptions| busy("{ count = 1 }", preemptions);
        assert!((one(0.0) - 0.7).abs() < 1e-9);
        // 10 us of work and n of waiting, 14.3 us apart.
        assert!(one(4.2) < 1.0 && one(4.4) > 1.0 && one(20.0).is_infinite());
        // Two contexts at 0.8 each; of 2.0 contexts 0.35 wait, so that 1.65 do 1.39 of the work of one.
        assert!((busy("{ count = 2 }", 5.0) - 0.7 / 1.39).abs() < 1e-9);
    }

    #[test]
    fn queues_that_share_nothing_remember_for_longer_and_a_dispatcher_may_be_the_limit() {
        let relaxation = |system: &str| {
            let text =
                format!("[workload]\nservice = \"exp-1us\"\nload = 0.8\n[system]\ncores = 8\n{system}");
            experiment(&point(&text), false, Judged::Reported).relaxation(Overheads::default())
        };
        let jsq = relaxation("dispatch = \"jsq\"");
        assert!((relaxation("dispatch = \"random\"") / jsq - 8.0).abs() < 1e-9);
        assert!(
            (relaxation("dispatch = \"random\"\nrebalance = \"work-stealing\"") / jsq - 1.0).abs() < 1e-9
        );
        // 6.4 M requests/s of 150 ns each.
        assert!(relaxation("dispatch = \"jsq\"\n[costs]\ndispatcher = \"150ns\"") > 5.0 * jsq);
    }
}
