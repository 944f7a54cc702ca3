//! A system in words, for notes and reports, and numbers with their nouns. `answers` describes each system of a plan by it; `caudal sim`,
//! `check` and `compare` say what they are about to simulate. Pure.

mod parallelism;

use caudal_config::{ContextsConfig, File, Pools, System, Workload};
use caudal_policy::Picos;
use caudal_policy::discipline::{DisciplineConfig, SitaConfig};
use caudal_policy::dispatch::{DispatchConfig, Ties};
use caudal_policy::parallelism::ParallelismConfig;
use caudal_policy::rebalance::RebalanceConfig;
use caudal_tune::spelled;
use caudal_workload::ServiceSpec;

/// A count with its digits in groups of three: `1,234,567`.
#[must_use]
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 core`, `2 cores`.
pub fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// A service's name, its file, or what it is.
pub fn service(spec: &ServiceSpec) -> String {
    match spec {
        ServiceSpec::Named(name) => name.clone(),
        ServiceSpec::Distribution(_) => "a distribution of service times".to_owned(),
        ServiceSpec::Percentiles(_) => "a distribution fitted to percentiles".to_owned(),
        ServiceSpec::File(file) => file.file.display().to_string(),
    }
}

/// A note on a file with systems for requests that fork, whose workload does not; nothing on others.
pub fn nothing_forks(file: &File) -> Option<String> {
    let workload = file.workload.as_ref()?;
    let forks = file.systems.iter().find(|plan| plan.system.parallelism != ParallelismConfig::Serial)?;
    workload.service.dag().is_serial().then(|| {
        format!(
            "`{}` is for requests that fork, and these do not: `dag = {{ loops = 4 }}` in [workload] makes four parallel \
             loops of each",
            forks.system.name
        )
    })
}

/// A note on recorded arrivals, and on rows that are replayed in order: what figures are about. Nothing where requests
/// are drawn.
pub fn in_order(workload: &Workload) -> Option<String> {
    let rows = workload.service.replayed_rows();
    match (workload.arrivals.count(), rows) {
        (Some(count), None) => Some(format!(
            "the arrivals were recorded: every replication plays all {} of them, from an empty system on, and draws other \
             service times; figures and intervals are about these arrivals, and say nothing of a steady state",
            grouped(count)
        )),
        (Some(count), Some(_)) => Some(format!(
            "the arrivals were recorded, and service times are rows in their order: every replication plays all {} arrivals, \
             from an empty system on; intervals show what policies draw, and nothing else",
            grouped(count)
        )),
        (None, Some(rows)) => Some(format!(
            "service times are rows in their order: {} requests are once through them, and every replication measures them \
             that often, or as large a part of them as `measure.stop.max_requests` allows; all together cover them",
            grouped(rows)
        )),
        (None, None) => None,
    }
}

/// Pools, dispatch, discipline, rebalance, allocation and parallelism in a line.
pub fn system(system: &System) -> String {
    let mut parts: Vec<String> = system.contexts.iter().map(contexts).collect();
    parts.push(pools(system));
    if system.pools != Pools::Equal(1) {
        parts.push(dispatch(&system.dispatch));
    }
    parts.push(discipline(&system.discipline));
    match system.rebalance {
        RebalanceConfig::None => {}
        RebalanceConfig::WorkStealing(_) => parts.push("work stealing".to_owned()),
        RebalanceConfig::WorkShedding(_) => parts.push("work shedding".to_owned()),
        RebalanceConfig::StealAndShed(_) => parts.push("work stealing and shedding".to_owned()),
    }
    match system.allocation.triggers() {
        None if system.cores_allocated < system.cores => {
            parts.push(format!("{} held", counted(system.cores_allocated as usize, "core")));
        }
        None => {}
        Some(triggers) => parts.push(format!("cores come and go (grow {:?})", triggers.grow)),
    }
    parts.extend(parallelism::words(&system.parallelism));
    spelled(&parts.join(", "))
}

/// `8 contexts a core at up to 2.8 times the speed of one, 32 virtual`.
fn contexts(contexts: &ContextsConfig) -> String {
    let mut text = format!("{} a core", counted(contexts.count as usize, "context"));
    if contexts.count > 1 {
        text += &format!(" with up to {} times the work of one", contexts.most());
    }
    if let Some(most) = contexts.virtual_contexts {
        text += &format!(" for {most} virtual ones");
    }
    if let Some(adaptation) = &contexts.adaptation {
        text += &format!(", {:?} of them by load", adaptation.contexts);
    }
    text
}

fn pools(system: &System) -> String {
    match &system.pools {
        Pools::PerCore => "a queue per core".to_owned(),
        Pools::Equal(1) => "one queue".to_owned(),
        Pools::Equal(pools) => format!("{pools} pools"),
        Pools::Sizes(sizes) => format!("pools of {sizes:?} cores"),
    }
}

fn dispatch(dispatch: &DispatchConfig) -> String {
    match dispatch {
        DispatchConfig::Random => "random dispatch".to_owned(),
        DispatchConfig::RoundRobin => "round robin".to_owned(),
        DispatchConfig::PowerOfK(config) => format!("shortest of {} random queues", config.k),
        DispatchConfig::Jsq(config) if config.ties == Ties::Msq => {
            "shortest queue (ties: maximum serviced quanta)".to_owned()
        }
        DispatchConfig::Jsq(_) => "shortest queue".to_owned(),
        DispatchConfig::Jbsq(config) => format!("shortest queue bounded at {}", config.bound),
        DispatchConfig::LeastWork => "least work".to_owned(),
        DispatchConfig::Sita(config) => format!("by size, up to {}", times(&config.cutoffs)),
    }
}

fn discipline(discipline: &DisciplineConfig) -> String {
    match discipline {
        DisciplineConfig::Fcfs => "first come first served".to_owned(),
        DisciplineConfig::ProcessorSharing(config) if config.quantum.0 == 0 => {
            "fluid processor sharing".to_owned()
        }
        DisciplineConfig::ProcessorSharing(config) => {
            format!("processor sharing in quanta of {}", config.quantum)
        }
        DisciplineConfig::Las(config) if config.quantum.0 == 0 => "fluid least attained service".to_owned(),
        DisciplineConfig::Las(config) => format!("least attained service in quanta of {}", config.quantum),
        DisciplineConfig::Srpt => "shortest remaining processing time".to_owned(),
        DisciplineConfig::PreemptiveSita(config) => lanes("preemptive SITA", config),
        DisciplineConfig::SqdSita(config) => lanes("SQD-SITA", config),
        DisciplineConfig::IsqdSita(config) => lanes("ISQD-SITA", config),
    }
}

/// `ISQD-SITA, 13/2/1 servers up to 2us, 40us`.
fn lanes(name: &str, config: &SitaConfig) -> String {
    let reservations: Vec<String> = config.reservations.iter().map(u32::to_string).collect();
    let cutoffs =
        if config.cutoffs.is_empty() { String::new() } else { format!(" up to {}", times(&config.cutoffs)) };
    format!("{name}, {} servers{cutoffs}", reservations.join("/"))
}

fn times(times: &[Picos]) -> String {
    times.iter().map(Picos::to_string).collect::<Vec<_>>().join(", ")
}
