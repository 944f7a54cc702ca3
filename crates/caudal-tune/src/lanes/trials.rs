//! Simulations of layouts under trial, all of them on the same requests. `race` asks for another round of each contender that is still in
//! it. It runs the simulator on the threads of the search.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use caudal_config::{Costs, Measure, System, WarmUp};
use caudal_policy::Picos;
use caudal_sim::experiment::{Control, Experiment, ExperimentError, Results, StopOn};
use caudal_sim::lanes::{LaneLoad, lane_loads};
use caudal_workload::{Arrivals, Service};

use super::layout::{Family, Layout};
use super::objective::Objective;
use super::question::LanesMachine;
use crate::TuneError;

/// Replications of a layout after each round of a race. A layout that is out after the first round has cost a quarter of all rounds.
pub(crate) const ROUNDS: [u32; 3] = [4, 8, 16];
/// The busiest lane that is simulated. A busier lane is one burst away from overload, and no trial is long enough to measure its tail.
const BUSIEST: f64 = 0.95;
/// For a first guess: how busy the servers should be that only long requests use.
const WELL_USED: f64 = 0.75;
/// For a first guess: the number of steps into which the quality of cutoffs is rounded, so that nearly equal cutoffs count as equal.
const STEPS: f64 = 10.0;
/// Measured requests of a replication: the least number, with enough values beyond the p99.9; the least number of a quick search; the most.
const MEASURED: (f64, f64, f64) = (30_000.0, 10_000.0, 400_000.0);

/// A layout with the results of its trials.
#[derive(Clone, Debug)]
pub(crate) struct Contender {
    pub(crate) layout: Layout,
    /// The results after each of [`ROUNDS`] that it has run; none if arithmetic shows that the layout is overloaded.
    pub(crate) rounds: Vec<Results>,
    /// The reason why it was not simulated.
    pub(crate) refused: Option<String>,
    /// Rounds that an interrupted climb had run already.
    pub(crate) owed: usize,
}

impl Contender {
    pub(crate) fn new(layout: Layout) -> Contender {
        Contender { layout, rounds: Vec::new(), refused: None, owed: 0 }
    }

    pub(crate) fn last(&self) -> Option<&Results> {
        self.rounds.last()
    }
}

/// The machine, the requests and the objective under which layouts are tried.
pub(crate) struct Trials<'a> {
    pub(crate) machine: LanesMachine,
    pub(crate) service: Service,
    /// All service times. `service` may be a half of them, and a heavy tail differs between halves.
    whole: Service,
    pub(crate) arrivals: &'a Arrivals,
    pub(crate) mean_gap_ps: f64,
    pub(crate) costs: Costs,
    pub(crate) objective: Objective,
    measure: Measure,
    /// Requests of a replication, those of the warm-up included.
    replication: u64,
    pub(crate) threads: usize,
    pub(crate) stop: &'a AtomicBool,
    progress: &'a (dyn Fn(u64) + Sync),
    simulated: AtomicU64,
}

impl<'a> Trials<'a> {
    pub(crate) fn new(
        (machine, costs): (LanesMachine, Costs),
        ([service, whole], arrivals, mean_gap_ps): ([Service; 2], &'a Arrivals, f64),
        objective: Objective,
        (measure, servers, quick): (&Measure, u32, bool),
        control: Control<'a>,
    ) -> Trials<'a> {
        let waits = measure.wait || objective.asks_how_long_requests_wait();
        let mut trials = Trials {
            machine,
            service,
            whole,
            arrivals,
            mean_gap_ps,
            costs,
            objective,
            measure: Measure { wait: waits, ..measure.clone() },
            replication: 0,
            threads: control.threads,
            stop: control.stop,
            progress: control.progress,
            simulated: AtomicU64::new(0),
        };
        // All layouts get the length that a single queue needs, so that all are compared on the same requests.
        let single = trials.machine.system(&Layout::single(servers));
        let least = if quick { MEASURED.1 } else { MEASURED.0 };
        let (warm_up, measured) =
            trials.experiment(&single, &trials.measure).lengths_within((least, MEASURED.2));
        trials.replication = warm_up + measured;
        trials.measure =
            Measure { warm_up: WarmUp::Requests(warm_up), requests: Some(measured), ..trials.measure };
        trials
    }

    /// Requests that all trials have simulated.
    pub(crate) fn simulated(&self) -> u64 {
        self.simulated.load(Ordering::Relaxed)
    }

    fn experiment<'b>(&'b self, system: &'b System, measure: &'b Measure) -> Experiment<'b> {
        Experiment {
            system,
            costs: &self.costs,
            service: &self.service,
            arrivals: self.arrivals,
            mean_gap_ps: self.mean_gap_ps,
            measure,
            quick: false,
            stop_on: StopOn::Reported,
        }
    }

    /// Requests that it takes to bring `contender` up to the round of this number.
    pub(crate) fn cost(&self, contender: &Contender, round: usize) -> u64 {
        let done = contender.rounds.len().checked_sub(1).map_or(0, |last| ROUNDS[last]);
        u64::from(ROUNDS[round].saturating_sub(done)) * self.replication
    }

    /// The busiest lane of `layout`, and the share of its servers' time that it takes.
    pub(crate) fn fullest(&self, layout: &Layout) -> Option<LaneLoad> {
        let system = self.machine.system(layout);
        // At the same load of all servers, whatever the mean of a half is.
        let whole_gap_ps = self.mean_gap_ps * self.whole.mean_ps() / self.service.mean_ps();
        let mut loads = lane_loads(&system, &self.costs, &self.service, self.mean_gap_ps);
        loads.extend(lane_loads(&system, &self.costs, &self.whole, whole_gap_ps));
        loads.into_iter().max_by(|a, b| a.busy.total_cmp(&b.busy))
    }

    /// A rank of `layout` by arithmetic alone; the smallest is the most promising. If each lane has its own servers, it is better the
    /// less busy the busiest lane is. If lanes share servers, it is better the fewer requests with the more work lie beyond a cutoff, and
    /// the nearer to [`WELL_USED`] the servers are that these requests may use, so that the other servers are left for the rest.
    pub(crate) fn promise(&self, layout: &Layout) -> [f64; 2] {
        if matches!(self.machine.family, Family::Sita | Family::PreemptiveSita) {
            return [0.0, self.fullest(layout).map_or(0.0, |lane| lane.busy)];
        }
        let system = self.machine.as_family(Family::SqdSita).system(layout);
        let loads = lane_loads(&system, &self.costs, &self.service, self.mean_gap_ps);
        let busiest = loads.iter().map(|lane| lane.busy).fold(0.0, f64::max);
        let apart = |&cutoff: &Picos| {
            let left = self.service.excess((cutoff.0 as f64 / self.costs.probe_factor) as u64);
            (1.0 - left.share) * left.mean_ps / self.service.mean_ps()
        };
        let apart = layout.cutoffs.iter().map(apart).fold(0.0, f64::max);
        // The first number is in steps, so that the second one decides between cutoffs that are about equally good.
        [-(apart * STEPS).round(), (busiest - WELL_USED).abs()]
    }

    /// The reason why a simulation of `layout` would be useless, if there is one.
    pub(crate) fn refusal(&self, layout: &Layout) -> Option<String> {
        let worst = self.fullest(layout)?;
        (worst.busy > BUSIEST)
            .then(|| format!("lane {} would be {:.0} % busy", worst.lane, 100.0 * worst.busy))
    }

    /// Simulates `contender` up to the round of this number.
    pub(crate) fn advance(
        &self,
        contender: &mut Contender,
        round: usize,
        threads: usize,
    ) -> Result<(), TuneError> {
        while contender.refused.is_none() && contender.rounds.len() <= round {
            if contender.rounds.is_empty() {
                contender.refused = self.refusal(&contender.layout);
                if contender.refused.is_some() {
                    return Ok(());
                }
            }
            let results = self.next_round(contender, threads)?;
            contender.rounds.push(results);
        }
        Ok(())
    }

    fn next_round(&self, contender: &Contender, threads: usize) -> Result<Results, TuneError> {
        let control = Control { threads, stop: self.stop, progress: self.progress };
        let system = self.machine.system(&contender.layout);
        let failed = |error| match error {
            ExperimentError::Interrupted(_) => TuneError::Interrupted,
            ExperimentError::Variant(message) => {
                TuneError::Simulator { system: system.name.clone(), message }
            }
        };
        let measure = Measure { replications: Some(ROUNDS[0]), ..self.measure.clone() };
        let experiment = self.experiment(&system, &measure);
        let mut results = match contender.last() {
            None => experiment.run(&control).map_err(failed)?,
            Some(known) => {
                let mut results = known.clone();
                let more = ROUNDS[contender.rounds.len()] - ROUNDS[contender.rounds.len() - 1];
                experiment.extend(&mut results, more, &control).map_err(failed)?;
                results
            }
        };
        // Without further replications that threads have begun: the number of threads must not change the result.
        let known = contender.last().map_or(0, |known| known.simulated);
        self.simulated.fetch_add(results.simulated - known, Ordering::Relaxed);
        let overheads = experiment.overheads(&results);
        results.overloaded |= experiment.is_full(overheads);
        Ok(results)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use caudal_config::File;
    use caudal_sim::experiment::Quantity;

    use super::*;

    /// Trials of one queue of two servers, with the p99 as their target.
    pub(crate) fn with_trials<T>(judge: impl FnOnce(&Trials<'_>) -> T) -> T {
        let text = "[workload]\nservice = \"exp-1us\"\n[system]\ncores = 2";
        let workload = File::parse(text, "test.toml").expect("a file").workload.expect("a workload");
        let target = Quantity {
            class: None,
            metric: caudal_config::Metric::Latency,
            percentile: Some(99.0),
            ..Quantity::default()
        };
        let stop = AtomicBool::new(false);
        judge(&Trials::new(
            (LanesMachine::from(Family::SqdSita), Costs::FREE),
            ([workload.service.clone(), workload.service.clone()], &workload.arrivals, 1e6),
            Objective { target, limits: Vec::new(), confidence: 0.95 },
            (&Measure::default(), 2, true),
            Control { threads: 1, stop: &stop, progress: &|_| {} },
        ))
    }

    /// Results of a short trial, whose values may be replaced.
    pub(crate) fn mould() -> Results {
        with_trials(|trials| {
            let mut one = Contender::new(Layout::single(2));
            trials.advance(&mut one, 0, 1).expect("nobody stops it");
            one.last().expect("it was simulated").clone()
        })
    }
}
