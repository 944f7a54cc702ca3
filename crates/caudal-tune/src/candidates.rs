//! The systems that a plan considers: the presets that the question allows, on its machine, and the reasons why others are left out.
//! `check` calls it for a question before anything is simulated, and `planning` when the plan begins. Pure.

use std::sync::Arc;

use caudal_config::{
    LatencyTarget, Limit, Preset, Statistic, System, SystemPlan, coherence, find_preset, nearest_preset,
    presets,
};
use caudal_policy::Picos;
use caudal_policy::allocation::AllocationConfig;
use caudal_policy::parallelism::{ClassConfig, ParallelismConfig};

use crate::aims::too_long_for_one_core;
use crate::candidate::{Candidate, LeftOut};
use crate::lengths::for_long_services;
use crate::{Goal, Machine, Question, TuneError};

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
        Machine::Runtime { dispatcher: false, .. } if dedicated > 0 => {
            return Err("it has a dispatcher, for which no core is left".to_owned());
        }
        Machine::Runtime { workers, .. } => (workers, true),
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
    let host = if runtime { coherence::SystemHost::Runtime } else { coherence::SystemHost::Simulator };
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
    use caudal_config::{File, Measure};

    use super::*;
    use crate::candidate::Spot;
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
