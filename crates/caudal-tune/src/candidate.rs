//! The systems that a plan considers.

use std::sync::Arc;

use caudal_config::{
    LatencyTarget, Limit, Measure, Offered, Point, Preset, Statistic, System, SystemPlan, coherence,
    find_preset, nearest_preset, presets,
};
use caudal_policy::Picos;
use caudal_policy::allocation::AllocationConfig;
use caudal_policy::discipline::DisciplineConfig;
use caudal_policy::dispatch::DispatchConfig;
use caudal_policy::parallelism::{ClassConfig, ParallelismConfig};
use caudal_policy::rebalance::RebalanceConfig;
use caudal_sim::engine::Route;
use serde::Serialize;

use crate::aims::too_long_for_one_core;
use crate::tune::for_long_services;
use crate::{Goal, Machine, Question, TuneError};

/// A system of a plan, with the parameters that it has been given so far.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) plan: Arc<SystemPlan>,
    /// Cores that a load of 1 would fill.
    pub(crate) capacity_cores: u32,
    /// Cores that serve no requests.
    pub(crate) dedicated: u32,
    /// Keys that were tuned, with their values.
    pub(crate) tuned: Vec<(String, serde_json::Value)>,
}

/// A system that was not simulated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Its name.
    pub system: String,
    /// Why.
    pub reason: String,
}

/// How hard a system is to be tried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spot {
    /// Offered work over the capacity of the machine.
    pub(crate) load: f64,
    /// Workers that are held; all if none.
    pub(crate) workers: Option<u32>,
}

impl Candidate {
    pub(crate) fn name(&self) -> &str {
        &self.plan.system.name
    }

    pub(crate) fn deployable(&self) -> bool {
        self.plan.reference_only().is_none()
    }

    /// Does it let requests fork?
    pub(crate) fn forks(&self) -> bool {
        self.plan.system.parallelism.forks()
    }

    /// The loop of the engine that simulates it with all its cores; none for what no loop can.
    pub(crate) fn route(&self) -> Option<Route> {
        Route::of(&self.plan.system, &self.plan.costs).ok()
    }

    /// Does the engine take its turns one by one, so that a request costs as many events as it has turns?
    pub(crate) fn turns_are_events(&self) -> bool {
        self.route().is_some_and(|route| route.takes_turns_one_by_one(&self.plan.system))
    }

    /// Does it stop requests in the middle?
    pub(crate) fn preempts(&self) -> bool {
        self.plan.system.discipline != DisciplineConfig::Fcfs
    }

    /// How many mechanisms there are to it beyond a queue, or queues that requests fall into by chance: of systems that
    /// reach equally far, the simplest is taken.
    pub(crate) fn mechanisms(&self) -> u32 {
        let system = &self.plan.system;
        let chooses = !matches!(system.dispatch, DispatchConfig::Random | DispatchConfig::RoundRobin);
        let moves = match system.rebalance {
            RebalanceConfig::None => 0,
            RebalanceConfig::WorkStealing(_) | RebalanceConfig::WorkShedding(_) => 1,
            RebalanceConfig::StealAndShed(_) => 2,
        };
        let counts = [self.preempts(), self.dedicated > 0, system.allocation.triggers().is_some(), chooses];
        let forks = match system.parallelism {
            ParallelismConfig::Serial => 0,
            ParallelismConfig::TailControl(_) | ParallelismConfig::Clairvoyant(_) => 2,
            _ => 1,
        };
        moves + forks + counts.map(u32::from).iter().sum::<u32>()
    }

    /// The system on so many workers. Requests that fork have all cores of their machine, so that is a smaller one.
    pub(crate) fn holding(&self, workers: u32) -> System {
        let system = self.plan.system.clone();
        let cores = if self.forks() { workers } else { system.cores };
        System { cores, cores_allocated: workers, ..system }
    }

    /// The simulation of this system under `spot`.
    pub(crate) fn point(&self, question: &Question, measure: &Arc<Measure>, spot: Spot) -> Point {
        let system = self.holding(spot.workers.unwrap_or(self.plan.system.cores_allocated));
        let load = spot.load * f64::from(self.capacity_cores) / f64::from(system.cores);
        let mut varied = self.tuned.clone();
        let mut key = system.name.clone();
        for (name, value) in &varied {
            key += &format!("/{name}={}", value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        }
        match spot.workers {
            Some(workers) => {
                key += &format!("/allocation.cores={workers}");
                varied.push(("allocation.cores".to_owned(), workers.into()));
            }
            None => {
                key += &format!("/load={}", spot.load);
                varied.push(("load".to_owned(), spot.load.into()));
            }
        }
        Point {
            key,
            workload: Arc::clone(&question.workload),
            offered: Offered::Load(load),
            load,
            costs: self.plan.costs,
            system,
            measure: Arc::clone(measure),
            plan: Arc::clone(&self.plan),
            varied,
        }
    }
}

/// All systems that the question allows, and those that are left out.
pub(crate) fn candidates(question: &Question) -> Result<(Vec<Candidate>, Vec<LeftOut>), TuneError> {
    let asked: Vec<&'static Preset> = if question.systems.is_empty() {
        // Other hardware is another machine, and requests that do not fork have nothing to steal inside.
        let forks = !question.workload.service.dag().is_serial();
        let usual = |system: System| system.contexts.is_none() && (forks || !system.parallelism.forks());
        presets().filter(|preset| usual(preset.system(1))).collect()
    } else {
        question.systems.iter().map(|name| by_name(name)).collect::<Result<_, _>>()?
    };
    let twice =
        asked.iter().enumerate().find(|(at, preset)| asked[..*at].iter().any(|it| it.name == preset.name));
    if let Some((_, preset)) = twice {
        return Err(TuneError::SystemTwice(preset.name.to_owned()));
    }
    let too_long = too_long_for_one_core(question);
    let (mut taken, mut left_out, mut too_slow) = (Vec::new(), Vec::new(), Vec::new());
    for preset in asked {
        let mut leave_out = |reason| left_out.push(LeftOut { system: preset.name.to_owned(), reason });
        match (candidate(preset, question), &too_long) {
            (Ok(candidate), Some(reason)) if !candidate.forks() => {
                leave_out(reason.clone());
                too_slow.push(candidate);
            }
            (Ok(candidate), _) => taken.push(candidate),
            (Err(reason), _) => leave_out(reason),
        }
    }
    if !taken.iter().any(Candidate::deployable) {
        let mut reasons: Vec<String> =
            left_out.iter().map(|out| format!("{}: {}", out.system, out.reason)).collect();
        let why = |candidate: &Candidate| {
            Some(format!("{}: {}", candidate.name(), candidate.plan.reference_only()?))
        };
        reasons.extend(taken.iter().filter_map(why));
        let reasons = reasons.join("; ");
        // Those could be asked: the answer is no.
        return Err(match too_slow.iter().any(Candidate::deployable) {
            true => TuneError::Unreachable(format!("none of the systems can win: {reasons}")),
            false => TuneError::NoCandidate { reasons },
        });
    }
    Ok((taken, left_out))
}

fn by_name(name: &str) -> Result<&'static Preset, TuneError> {
    let error = || {
        let all = || presets().map(|preset| preset.name).collect::<Vec<_>>().join(", ");
        let near = nearest_preset(name).map(|near| format!("did you mean `{near}`?"));
        let hint = near.unwrap_or_else(|| format!("there are {}", all()));
        TuneError::UnknownSystem { name: name.to_owned(), hint }
    };
    find_preset(name).ok_or_else(error)
}

/// The preset on the question's machine, or why it can not take part.
fn candidate(preset: &'static Preset, question: &Question) -> Result<Candidate, String> {
    let dedicated = preset.dedicated_cores;
    let (workers, runtime) = match question.machine {
        Machine::Cores(cores) => (cores.saturating_sub(dedicated), false),
        Machine::Runtime { workers } => (workers, true),
    };
    if preset.system(1).contexts.is_some() {
        return Err("its cores have hardware contexts: another machine, for `caudal sim`".to_owned());
    }
    if workers == 0 {
        return Err("its dedicated core would leave none for requests".to_owned());
    }
    let plan = SystemPlan::of_preset(preset, workers).with_costs(&question.costs);
    let mut plan = plan.map_err(|error| error.to_string())?;
    set_target(&mut plan.system.parallelism, question);
    let host = if runtime { coherence::Host::Runtime } else { coherence::Host::Simulator };
    if let Some(incoherence) = coherence::check(&plan.system, &plan.costs, host).first() {
        return Err(format!("{}: {}", incoherence.rule.refused, incoherence.rule.why));
    }
    if let (true, Some(reason)) = (runtime, plan.reference_only()) {
        return Err(reason.to_owned());
    }
    if question.goal != Goal::HighestLoad && plan.system.allocation != AllocationConfig::Static {
        return Err("it holds as many cores as it finds right, the question is for a fixed number".to_owned());
    }
    let capacity_cores = question.machine.capacity_cores();
    let candidate = Candidate { plan: Arc::new(plan), capacity_cores, dedicated, tuned: Vec::new() };
    Ok(for_long_services(candidate, &question.workload.service))
}

/// Thresholds of tail-control are those for the question's limits of latency: of each class, and of all requests, the first.
fn set_target(parallelism: &mut ParallelismConfig, question: &Question) {
    let (ParallelismConfig::TailControl(config) | ParallelismConfig::Clairvoyant(config)) = parallelism
    else {
        return;
    };
    let late = |target: &LatencyTarget| match (target.statistic, target.limit) {
        (Statistic::Miss(late), _) | (Statistic::Percentile(_), Limit::Latency(late)) => Some(late),
        _ => None,
    };
    let limits: Vec<(Option<&String>, Picos)> =
        question.targets.iter().filter_map(|target| Some((target.class.as_ref(), late(target)?))).collect();
    // Where all targets are of classes, the others have that of the first.
    let of_all = limits.iter().find(|(class, _)| class.is_none()).or(limits.first());
    config.target = of_all.map_or(config.target, |limit| limit.1);
    for (class, target) in limits.into_iter().rev() {
        if let Some(class) = class {
            config.classes.insert(class.clone(), ClassConfig { target, ..ClassConfig::default() });
        }
    }
}

#[cfg(test)]
mod tests {
    use caudal_config::File;

    use super::*;
    use crate::{Budget, cost};

    fn question(mean: &str) -> Question {
        let text = format!(
            "[workload]\nservice = {{ distribution = \"exponential\", mean = \"{mean}\" }}\n[system]\ncores = 1"
        );
        Question {
            workload: File::parse(&text, "test.toml").expect("a file").workload.expect("there is one"),
            workload_name: String::new(),
            targets: vec!["p99 < 1s".parse().expect("a target")],
            machine: Machine::Cores(8),
            goal: Goal::HighestLoad,
            systems: Vec::new(),
            costs: Vec::new(),
            measure: Measure::default(),
            budget: Budget::default(),
            quick: true,
        }
    }

    #[test]
    fn only_what_takes_long_to_simulate_is_charged_for_it() {
        let weight = |mean: &str, name: &str| {
            let (question, spot) = (question(mean), Spot { load: 0.5, workers: None });
            let found = candidates(&question).expect("candidates").0;
            let found = found.iter().find(|it| it.name() == name).expect("a preset");
            cost::expected(found, &question, spot)
        };
        for plain in ["work-stealing", "caudal-stealing", "no-balancing", "caudal-ps", "go"] {
            assert_eq!(weight("1ms", plain), 1.0, "{plain}");
        }
        for dear in ["fred", "caudal-stealing-ps", "stealing-and-shedding", "stealing-and-choice"] {
            assert!((4.0..10.0).contains(&weight("1ms", dear)), "{dear}: {}", weight("1ms", dear));
            assert!(weight("1us", dear) < 2.0, "{dear}: {}", weight("1us", dear));
        }
    }

    #[test]
    fn mechanisms_are_counted() {
        let found = candidates(&question("1us")).expect("candidates").0;
        let of = |name: &str| found.iter().find(|it| it.name() == name).expect("a preset").mechanisms();
        assert_eq!([of("no-balancing"), of("work-stealing"), of("ix"), of("enqueue-choice")], [0, 1, 1, 1]);
        // A dispatcher's core, its choice, and preemption.
        assert_eq!([of("stealing-and-shedding"), of("caudal-stealing-ps"), of("caudal-ps")], [2, 2, 3]);
    }
}
