//! The highest rate at which a system keeps a limit: where the slowdown, as a function of the rate, crosses it.
//!
//! Short runs find the neighbourhood. Then long ones of many replications are simulated a step below and a step
//! above, and the crossing is found on the straight line through the logarithms (inverse prediction). Its ordinate is
//! not the percentile but the share of requests that break the limit, which is 0.1 % at the same rate: it is counted,
//! where the percentile hangs on a density, and grows steeply where the percentile stays at a quantum's length.
//! All runs of all systems see the same requests, so some of what is uncertain about two crossings cancels in their
//! ratio: see [`Linear`].
//!
//! Near the limit a system may be near saturation, where what it starts from (nobody there) is forgotten slowly, and a
//! short run looks better than the truth. So requests are left out for some relaxation times of the queue, which grow
//! as 1/(idle share)² ([`relaxation`]), up to as many as are measured. Counting completions would not do: under processor sharing an
//! overloaded system goes on completing its short requests.

use std::sync::Arc;

use caudal_config::{File, Measure, Offered, Point, SystemPlan, WarmUp, Workload};
use caudal_policy::discipline::DisciplineConfig;
use caudal_sim::engine::Account;
use caudal_sim::experiment::{Crew, Judged, Results};
use caudal_sim::sweep::experiment;
use caudal_stats::relaxation::{self, Queue};
use caudal_stats::{Estimate, Linear, Replicated, SLOWDOWN_ONE};

use super::run::RunError;
use crate::global::Global;
use crate::progress::Progress;

/// What is to be kept: slowdown p99.9 at most 10 (Luo et al., ASPLOS 2024, section 2).
pub(crate) const PERCENTILE: f64 = 99.9;
/// See [`PERCENTILE`].
pub(crate) const SLOWDOWN_MAX: f64 = 10.0;

/// Where the search starts, and the steps of its stages, as shares of the load.
const START: f64 = 0.5;
const STEPS_OF_STAGES: [f64; 3] = [0.3, 0.06, 0.02];
/// The stages before the last have so many times fewer requests.
const SHORTER: [u64; 3] = [8, 4, 1];
/// Requests of a replication, unless the file says so, and at least.
const REQUESTS: u64 = 200_000;
/// See [`REQUESTS`].
const REQUESTS_MIN: u64 = 10_000;
/// So many times the replications of the file are simulated at the ends of the last step: as many for all systems, as
/// only those that two have in common tell about their ratio.
const MORE: u32 = 6;
/// The fewest requests of a warm-up.
const WARM_UP_MIN: u64 = 10_000;
/// Where slowdown jumps from below the limit into overload, the jump is found to this share of the load.
const RESOLUTION: f64 = 0.004;
/// Near saturation the logarithm of the share that breaks the limit is bent, and a step in which it grows by more than
/// this is halved to be nearer to a straight line. Elsewhere, a longer step has the better slope.
const BENT: f64 = 1.5;
/// No load is looked at beyond these.
const LOADS: (f64, f64) = (0.01, 1.0);

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
    /// Rates per second just below and just above, with the slowdowns there; none if there is no such rate.
    ends: Option<[(f64, Slowdowns); 2]>,
    /// Loads that were simulated, with the slowdown there; missing in overload.
    pub(crate) tried: Vec<(f64, Estimate)>,
}

/// Slowdowns in fixed point; none in overload.
type Slowdowns = Option<Replicated>;

impl Highest {
    /// Replications near the highest rate.
    fn replications(&self) -> usize {
        let ends = self.ends.iter().flatten().filter_map(|(_, slowdowns)| slowdowns.as_ref());
        ends.map(Replicated::replications).min().unwrap_or(0)
    }

    /// Over the first replications.
    fn crossing(&self, replications: usize) -> Crossing {
        let log = |slowdowns: &Slowdowns| Some(log_share(slowdowns.as_ref()?, replications));
        match &self.ends {
            Some([below, above]) => crossing((below.0, log(&below.1)), (above.0, log(&above.1))),
            None => Crossing { log: None, jump: 0.0 },
        }
    }

    /// The highest rate.
    pub(crate) fn rate_per_s(&self, confidence: f64) -> Estimate {
        self.crossing(self.replications()).interval(confidence)
    }

    /// The highest rate over that of another system, which saw the same requests.
    pub(crate) fn over(&self, other: &Highest) -> Crossing {
        let common = self.replications().min(other.replications());
        self.crossing(common).over(&other.crossing(common))
    }

    /// As results are written.
    pub(crate) fn row(&self) -> serde_json::Value {
        let tried = self
            .tried
            .iter()
            .map(|(load, slowdown)| serde_json::json!({ "load": load, "slowdown": slowdown }));
        serde_json::json!({
            "quantum_ns": self.quantum_ns,
            "preemption_ns": self.preemption_ns,
            "rate_per_s": self.rate_per_s(CONFIDENCE),
            "tried": tried.collect::<Vec<_>>(),
        })
    }
}

/// A highest rate, or a ratio of such rates.
pub(crate) struct Crossing {
    log: Option<Linear>,
    /// How far its logarithm may be off besides, either way: where slowdown jumps over the limit.
    jump: f64,
}

impl Crossing {
    /// The ratio of two, as far as they have replications in common.
    pub(crate) fn over(&self, other: &Crossing) -> Crossing {
        let both = self.log.as_ref().zip(other.log.as_ref());
        let log = both
            .filter(|(own, other)| own.replications() == other.replications())
            .map(|(own, other)| own.plus(-1.0, other));
        Crossing { log, jump: self.jump + other.jump }
    }

    pub(crate) fn interval(&self, confidence: f64) -> Estimate {
        let Some(log) = &self.log else { return Estimate::MISSING };
        let Estimate { estimate, low, high } = log.exp_interval(confidence);
        Estimate { estimate, low: low * (-self.jump).exp(), high: high * self.jump.exp() }
    }
}

/// Confidence of what is written and drawn.
const CONFIDENCE: f64 = super::tables::CONFIDENCE;

/// What was simulated at a load.
struct Seen<T> {
    load: f64,
    /// Logarithm of the share that breaks the limit over the one that may; infinite in overload.
    log: f64,
    what: T,
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

    /// Looks for the highest rate.
    ///
    /// # Errors
    /// If it is interrupted.
    pub(crate) fn run(&self, global: &Global, progress: &Progress) -> Result<Highest, RunError> {
        let mut tried = Vec::new();
        let mut at = |load: f64, stage: usize, idle: f64| {
            if tried.len() < Search::STEPS {
                progress.step();
            }
            let seen = self.simulate(load, stage, idle, global, progress)?;
            tried.push((load, shown(&seen.what)));
            Ok(seen)
        };
        let mut idle = 1.0 - START;
        let mut found = bracket(START, STEPS_OF_STAGES[0], |load| at(load, 0, idle))?;
        for (stage, step) in STEPS_OF_STAGES.into_iter().enumerate().skip(1) {
            // All loads of a stage leave out as many requests as the busiest takes: ends that did not would differ for
            // that alone.
            idle = idle_share(&found.above.what);
            found = bracket(found.start(), step, |load| at(load, stage, idle))?;
        }
        if found.above.log - found.below.log > BENT {
            found = found.halved(|load| at(load, SHORTER.len() - 1, idle))?;
        }
        (tried.len()..Search::STEPS).for_each(|_| progress.step());
        let mut ends = [found.below, found.above];
        if ends[0].log > 0.0 || ends[1].log <= 0.0 {
            return Ok(self.highest(None, tried));
        }
        self.extend(&mut ends, global, progress)?;
        Ok(self.highest(Some(&ends), tried))
    }

    fn highest(&self, ends: Option<&[Seen<Results>; 2]>, tried: Vec<(f64, Estimate)>) -> Highest {
        let point = self.point(1.0);
        let per_load = f64::from(point.system.cores) / (point.workload.service.mean_ps() / 1e12);
        let quantum = match point.system.discipline {
            DisciplineConfig::ProcessorSharing(sharing) => sharing.quantum.0,
            _ => 0,
        };
        let end = |seen: &Seen<Results>| {
            let carried = (!seen.what.overloaded).then(|| seen.what.all.slowdown.clone());
            (seen.load * per_load, carried)
        };
        Highest {
            quantum_ns: quantum as f64 / 1e3,
            preemption_ns: point.costs.preemption.0 as f64 / 1e3,
            ends: ends.map(|[below, above]| [end(below), end(above)]),
            tried,
        }
    }

    fn simulate(
        &self,
        load: f64,
        stage: usize,
        idle: f64,
        global: &Global,
        progress: &Progress,
    ) -> Result<Seen<Results>, RunError> {
        let mut point = self.point(load);
        let requests = self.requests(stage);
        let warm_up = self.relaxed(load, idle).clamp(WARM_UP_MIN, requests);
        let (warm_up, requests) = (WarmUp::Requests(warm_up), Some(requests));
        point.measure = Arc::new(Measure { warm_up, requests, ..Measure::clone(&self.measure) });
        let crew = Crew { threads: 1, stop: &global.stop, progress: &|more| progress.requests(more) };
        let results = experiment(&point, false, Judged::Reported)
            .run(&crew)
            .map_err(|source| RunError { point: point.key.clone(), source })?;
        let slowdown = &results.all.slowdown;
        let log = match results.overloaded {
            true => f64::INFINITY,
            false => log_share(slowdown, slowdown.replications()).value(),
        };
        Ok(Seen { load, log, what: results })
    }

    /// Adds replications at both ends, but to an overloaded one.
    fn extend(
        &self,
        ends: &mut [Seen<Results>; 2],
        global: &Global,
        progress: &Progress,
    ) -> Result<(), RunError> {
        let crew = Crew { threads: 1, stop: &global.stop, progress: &|more| progress.requests(more) };
        for Seen { load, what, .. } in ends.iter_mut().filter(|seen| !seen.what.overloaded) {
            let (point, more) = (self.point(*load), (MORE - 1) * what.accounts.len() as u32);
            experiment(&point, false, Judged::Reported)
                .extend(what, more, &crew)
                .map_err(|source| RunError { point: point.key.clone(), source })?;
        }
        Ok(())
    }

    /// Requests that arrive during the warm-up of a queue with that share of idle time ([`relaxation`]). A power of two,
    /// so that systems at nearly the same load measure the same requests.
    fn relaxed(&self, load: f64, idle: f64) -> u64 {
        let queue = Queue {
            busy: 1.0 - idle.max(1e-3),
            arrivals: 1.0,
            services: self.workload.service.scv(),
            servers: f64::from(self.point(load).system.cores),
        };
        ((relaxation::WARM_UP * queue.relaxation()) as u64).next_power_of_two()
    }

    /// Requests that are measured in a replication.
    fn requests(&self, stage: usize) -> u64 {
        let most = self.measure.requests.unwrap_or(REQUESTS);
        let most = if self.quick { most / 8 } else { most };
        (most / SHORTER[stage]).max(REQUESTS_MIN)
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

/// The logarithm of the share of requests that break the limit over the one that may.
fn log_share(slowdowns: &Replicated, replications: usize) -> Linear {
    let above = slowdowns.share_above((SLOWDOWN_MAX * SLOWDOWN_ONE as f64) as u64, replications);
    above.mapped(above.value() / (1.0 - PERCENTILE / 100.0), 1.0 / (1.0 - PERCENTILE / 100.0)).ln()
}

/// Share of the core time in which nothing is done.
fn idle_share(results: &Results) -> f64 {
    let books = |part: fn(&Account) -> u128| -> f64 {
        results.accounts.iter().map(|(account, _)| part(account) as f64).sum()
    };
    1.0 - books(|account| account.busy_ps + account.switching_ps) / books(|account| account.held_ps)
}

/// The slowdown at a load.
fn shown(results: &Results) -> Estimate {
    match results.overloaded {
        true => Estimate::MISSING,
        false => {
            let slowdown = results.all.slowdown.percentile(PERCENTILE, CONFIDENCE);
            slowdown.divided_by(SLOWDOWN_ONE as f64)
        }
    }
}

/// A load below the limit and one above it; where there is none, both are the last that was looked at.
struct Bracket<T> {
    below: Seen<T>,
    above: Seen<T>,
}

impl<T> Bracket<T> {
    /// Half as wide.
    fn halved<E>(self, mut at: impl FnMut(f64) -> Result<Seen<T>, E>) -> Result<Self, E> {
        let middle = at((self.below.load * self.above.load).sqrt())?;
        Ok(match middle.log <= 0.0 {
            true => Bracket { below: middle, ..self },
            false => Bracket { above: middle, ..self },
        })
    }

    /// Where a search in smaller steps starts.
    fn start(&self) -> f64 {
        let width = (self.above.load / self.below.load).ln();
        match -self.below.log / (self.above.log - self.below.log) {
            share if share.is_finite() && self.above.log.is_finite() => {
                self.below.load * (share * width).exp()
            }
            _ => (self.below.load * self.above.load).sqrt(),
        }
    }
}

/// Steps up or down from `start` until the limit lies between two loads; where the upper one is overloaded, halves the
/// way until it is not, or is very near.
fn bracket<T: Clone, E>(
    start: f64,
    step: f64,
    mut at: impl FnMut(f64) -> Result<Seen<T>, E>,
) -> Result<Bracket<T>, E> {
    // Straddles the start, so that mostly two loads do.
    let mut here = at(start * (-step / 2.0).exp())?;
    let upwards = here.log <= 0.0;
    let mut bracket = loop {
        let next = here.load * if upwards { step.exp() } else { (-step).exp() };
        let next = if next < LOADS.1 { next } else { f64::midpoint(here.load, LOADS.1) };
        let there = at(next)?;
        match (upwards, there.log <= 0.0) {
            (true, false) => break Bracket { below: here, above: there },
            (false, true) => break Bracket { below: there, above: here },
            _ if next < LOADS.0 || LOADS.1 - next < RESOLUTION => {
                let last = Seen { what: there.what.clone(), ..there };
                break Bracket { below: last, above: there };
            }
            _ => here = there,
        }
    };
    while bracket.above.log.is_infinite() && bracket.above.load / bracket.below.load > 1.0 + RESOLUTION {
        let middle = at(f64::midpoint(bracket.below.load, bracket.above.load))?;
        if middle.log <= 0.0 { bracket.below = middle } else { bracket.above = middle }
    }
    Ok(bracket)
}

/// Where the line between two rates crosses the limit; they come with [`log_share`].
fn crossing(below: (f64, Option<Linear>), above: (f64, Option<Linear>)) -> Crossing {
    let width = (above.0 / below.0).ln();
    match (&below.1, &above.1) {
        (Some(low), Some(high)) => {
            let rise = high.value() - low.value();
            let share = -low.value() / rise;
            // A higher slowdown at either end moves the crossing down.
            let errors = low.mapped(0.0, (share - 1.0) * width / rise);
            let errors = errors.plus(-width / rise, &high.mapped(0.0, share));
            Crossing { log: Some(errors.mapped(below.0.ln() + share * width, 1.0)), jump: 0.0 }
        }
        (Some(low), None) => {
            Crossing { log: Some(low.mapped(below.0.ln() + width / 2.0, 0.0)), jump: width / 2.0 }
        }
        (None, _) => Crossing { log: None, jump: 0.0 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A share that grows with the load, in replications that differ by `noise`.
    fn grows(load: f64, limit: f64, noise: f64) -> Linear {
        let share = |sign: f64| ((load / limit).powi(9) * (sign * noise).exp(), 1.0);
        let signs = [1.0, -1.0, 1.0, -1.0, -1.0, 1.0, -1.0, 1.0];
        Linear::ratio_of_sums(&signs.map(share)).ln()
    }

    fn find(step: f64, of: impl Fn(f64) -> Option<Linear>) -> Option<Crossing> {
        let at = |load: f64| {
            let what = of(load);
            Ok::<_, ()>(Seen { load, log: what.as_ref().map_or(f64::INFINITY, Linear::value), what })
        };
        let Bracket { below, above } = bracket(0.5, step, at).unwrap();
        let between = below.log <= 0.0 && above.log > 0.0;
        between.then(|| crossing((below.load, below.what), (above.load, above.what)))
    }

    #[test]
    fn finds_the_crossing_from_either_side() {
        for limit in [0.3, 0.713, 0.97] {
            let found = find(0.1, |load| Some(grows(load, limit, 0.1))).unwrap();
            let rate = found.interval(0.95);
            assert!(rate.contains(limit) && found.jump == 0.0, "{limit}: {rate:?}");
            // Nine per cent are one of load; the mean of 8 replications, at t = 2.36.
            assert!((0.005..0.02).contains(&rate.relative_half_width()), "{limit}: {rate:?}");
        }
    }

    #[test]
    fn what_two_systems_share_cancels_in_the_ratio_of_their_rates() {
        let highest = |limit: f64| find(0.05, |load| Some(grows(load, limit, 0.3))).unwrap();
        let ratio = highest(0.9).over(&highest(0.6)).interval(0.95);
        assert!(ratio.contains(1.5) && ratio.relative_half_width() < 0.005, "{ratio:?}");
    }

    #[test]
    fn a_jump_into_overload_is_known_to_the_resolution() {
        let found = find(0.1, |load| (load < 0.6).then(|| grows(load, 0.9, 0.1))).unwrap();
        let rate = found.interval(0.95);
        assert!(rate.contains(0.6) && rate.relative_half_width() <= RESOLUTION, "{rate:?}");
    }

    #[test]
    fn a_system_that_never_breaks_the_limit_or_never_keeps_it_has_no_highest_rate() {
        assert!(find(0.3, |load| Some(grows(load, 5.0, 0.1))).is_none());
        assert!(find(0.3, |_| None).is_none());
    }
}
