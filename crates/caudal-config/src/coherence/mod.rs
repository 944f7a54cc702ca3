//! What does not go together, in one table: the reader refuses it, the docs print it.

use std::ops::RangeInclusive;

use caudal_policy::Picos;
use caudal_policy::allocation::{AllocationConfig, Grow, Shrink};
use caudal_policy::discipline::{DisciplineConfig, Fresh, Lone};
use caudal_policy::dispatch::{DispatchConfig, PowerOfKConfig, Ties};
use caudal_policy::rebalance::RebalanceConfig;

use crate::{CORES_MAX, Costs, Pools, System, Variant};

/// Who is to run a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// Virtual time: may also run what nobody could build.
    Simulator,
    /// Real cores.
    Runtime,
}

/// A combination or a value that is refused.
#[derive(Debug)]
pub struct Rule {
    /// Its name.
    pub name: &'static str,
    /// What is refused, as the end of "refused: …".
    pub refused: &'static str,
    /// Why.
    pub why: &'static str,
    /// What would be right.
    pub instead: &'static str,
    /// Refused by the runtime only? Else by both hosts.
    pub runtime_only: bool,
    /// The keys that break it, the most telling one first: `system.rebalance`.
    pub keys: &'static [&'static str],
    broken: fn(&System, &Costs) -> bool,
}

/// A rule that a system breaks.
#[derive(Clone, Copy, Debug)]
pub struct Incoherence {
    /// The rule.
    pub rule: &'static Rule,
}

impl std::fmt::Display for Incoherence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}; {}", self.rule.refused, self.rule.why, self.rule.instead)
    }
}

/// Every rule, in the order in which they are judged.
pub fn table() -> &'static [Rule] {
    RULES
}

/// What is wrong with a system on `host`; empty if nothing is.
pub fn check(system: &System, costs: &Costs, host: Host) -> Vec<Incoherence> {
    let judged = |rule: &&Rule| host == Host::Runtime || !rule.runtime_only;
    let broken = |rule: &&'static Rule| (rule.broken)(system, costs);
    RULES.iter().filter(judged).filter(broken).map(|rule| Incoherence { rule }).collect()
}

/// The table of [`table`] as Markdown.
pub fn table_markdown() -> String {
    let mut text = String::from("| refused | because | instead | by |\n| --- | --- | --- | --- |\n");
    for rule in RULES {
        let by = if rule.runtime_only { "runtime" } else { "both" };
        text += &format!("| {} | {} | {} | {by} |\n", rule.refused, rule.why, rule.instead);
    }
    text
}

/// The shortest quantum: below it a turn is shorter than the switch that ends it.
pub const QUANTUM_MIN: Picos = Picos::from_nanos(100);
/// The longest time that a policy may be given.
pub const TIME_MAX: Picos = Picos(3_600 * 1_000_000_000_000);
/// The dearest single action.
pub const COST_MAX: Picos = Picos(1_000_000_000_000);
/// How far instrumentation may stretch service times.
pub const PROBE_FACTORS: RangeInclusive<f64> = 1.0..=100.0;

fn central(system: &System) -> bool {
    system.pools.is_central(system.cores)
}

fn steals(system: &System) -> bool {
    matches!(system.rebalance, RebalanceConfig::WorkStealing(_) | RebalanceConfig::StealAndShed(_))
}

fn quantum(system: &System) -> Option<Picos> {
    match system.discipline {
        DisciplineConfig::ProcessorSharing(config) => Some(config.quantum),
        DisciplineConfig::Las(config) => Some(config.quantum),
        DisciplineConfig::Fcfs | DisciplineConfig::Srpt => None,
    }
}

fn fluid(system: &System) -> bool {
    quantum(system) == Some(Picos::ZERO)
}

/// Does the system need to know service times in advance?
pub(crate) fn clairvoyant(system: &System) -> bool {
    system.dispatch == DispatchConfig::LeastWork || system.discipline == DisciplineConfig::Srpt
}

/// Why nobody could build the system, if so.
pub(crate) fn unbuildable(system: &System) -> Option<&'static str> {
    if clairvoyant(system) {
        return Some("it knows service times in advance");
    }
    fluid(system).then_some("its tasks share cores in infinitely small turns")
}

fn several_sharing(system: &System) -> bool {
    match &system.pools {
        Pools::PerCore => false,
        Pools::Equal(pools) => *pools != 1 && *pools != system.cores,
        Pools::Sizes(sizes) => sizes.len() > 1 && sizes.iter().any(|&size| size != 1),
    }
}

fn is_time(time: Picos) -> bool {
    time > Picos::ZERO && time <= TIME_MAX
}

fn allocation_times_wrong(system: &System) -> bool {
    let Some(triggers) = system.allocation.triggers() else { return false };
    let grow = match triggers.grow {
        Grow::DelayMax { above } | Grow::DelayMean { above } => is_time(above),
        _ => true,
    };
    let shrink = match triggers.shrink {
        Shrink::DelayMean { below } => is_time(below),
        _ => true,
    };
    !(grow && shrink && is_time(triggers.interval))
}

fn allocation_shares_wrong(system: &System) -> bool {
    let Some(triggers) = system.allocation.triggers() else { return false };
    let share = |share: f64| share > 0.0 && share <= 1.0;
    let grow = match triggers.grow {
        Grow::Utilization { above } => share(above),
        Grow::Queued { above } => (0.0..=1e6).contains(&above),
        Grow::Idle { below } => below > 0 && below <= system.cores,
        _ => true,
    };
    let shrink = match triggers.shrink {
        Shrink::Utilization { below } => share(below),
        Shrink::Idle { above } => above <= system.cores,
        _ => true,
    };
    !(grow && shrink)
}

fn empty_band(system: &System) -> bool {
    let Some(triggers) = system.allocation.triggers() else { return false };
    match (triggers.grow, triggers.shrink) {
        (Grow::DelayMean { above }, Shrink::DelayMean { below }) => below >= above,
        (Grow::Utilization { above }, Shrink::Utilization { below }) => below >= above,
        (Grow::Idle { below }, Shrink::Idle { above }) => above < below,
        _ => false,
    }
}

fn costs_too_long(_: &System, costs: &Costs) -> bool {
    let Costs { steal_check, steal, shed, enqueue, hand_over, core_allocation, .. } = *costs;
    let Costs { preemption, overrun, dispatcher, dispatcher_quantum, .. } = *costs;
    let all = [
        steal_check,
        steal,
        shed,
        enqueue,
        hand_over,
        core_allocation,
        preemption,
        overrun,
        dispatcher,
        dispatcher_quantum,
    ];
    all.iter().any(|&cost| cost > COST_MAX)
}

const RULES: &[Rule] = &[
    Rule {
        name: "cores",
        refused: "a machine without cores, or with more than 4096",
        why: "that is the largest machine that is simulated",
        instead: "set `cores` to a number from 1 to 4096",
        runtime_only: false,
        keys: &["system.cores"],
        broken: |system, _| !(1..=CORES_MAX).contains(&system.cores),
    },
    Rule {
        name: "cores-allocated",
        refused: "no allocated core, or more than the machine has",
        why: "an application holds cores of its machine",
        instead: "let `allocation.cores` lie between 1 and `cores`",
        runtime_only: false,
        keys: &["system.allocation.cores", "system.allocation.start", "system.cores"],
        broken: |system, _| !(1..=system.cores).contains(&system.cores_allocated),
    },
    Rule {
        name: "pools",
        refused: "pools that the cores can not be shared out to",
        why: "every core belongs to exactly one pool",
        instead: "write \"per-core\", a divisor of `cores`, or sizes above 0 that sum to `cores`",
        runtime_only: false,
        keys: &["system.pools", "system.cores"],
        broken: |system, _| system.cores <= CORES_MAX && system.pools.sizes(system.cores).is_none(),
    },
    Rule {
        name: "moving-without-pools",
        refused: "stealing or shedding on a central queue",
        why: "all cores share one queue, there is no other to take from",
        instead: "set pools = \"per-core\", or rebalance = \"none\"",
        runtime_only: false,
        keys: &["system.rebalance", "system.pools"],
        broken: |system, _| central(system) && system.rebalance != RebalanceConfig::None,
    },
    Rule {
        name: "choice-without-pools",
        refused: "a dispatch policy that chooses, on a central queue",
        why: "there is only one queue to choose from",
        instead: "set pools = \"per-core\", or dispatch = \"random\"",
        runtime_only: false,
        keys: &["system.dispatch", "system.pools"],
        broken: |system, _| {
            central(system) && !matches!(system.dispatch, DispatchConfig::Random | DispatchConfig::RoundRobin)
        },
    },
    Rule {
        name: "power-of-k",
        refused: "power of k choices with k = 0, k > 16, or k above the number of pools",
        why: "k different pools are drawn for each request",
        instead: "let k lie between 1 and the number of pools, at most 16; \"jsq\" looks at all of them",
        runtime_only: false,
        keys: &["system.dispatch.k", "system.dispatch", "system.pools"],
        broken: |system, _| match system.dispatch {
            DispatchConfig::PowerOfK(PowerOfKConfig { k }) => {
                k == 0 || k > PowerOfKConfig::K_MAX || k > system.pools.count(system.cores)
            }
            _ => false,
        },
    },
    Rule {
        name: "jbsq-bound",
        refused: "JBSQ with a bound of 0",
        why: "every request would be held for ever",
        instead: "set `bound` to 1 (a single queue) or more; the usual one is 3",
        runtime_only: false,
        keys: &["system.dispatch.bound", "system.dispatch"],
        broken: |system, _| matches!(system.dispatch, DispatchConfig::Jbsq(config) if config.bound == 0),
    },
    Rule {
        name: "msq-without-quanta",
        refused: "MSQ ties with anything but processor sharing in quanta",
        why: "maximum serviced quanta counts the quanta that tasks have received",
        instead: "set ties = \"random\", or discipline = \"processor-sharing\" with a quantum above 0",
        runtime_only: false,
        keys: &["system.dispatch.ties", "system.dispatch", "system.discipline"],
        broken: |system, _| {
            matches!(system.dispatch, DispatchConfig::Jsq(config) if config.ties == Ties::Msq)
                && (fluid(system) || !matches!(system.discipline, DisciplineConfig::ProcessorSharing(_)))
        },
    },
    Rule {
        name: "quantum-range",
        refused: "a quantum below 100 ns, or above an hour",
        why: "a turn that is shorter than the switch at its end does no work",
        instead: "write at least \"100ns\"; 0 is the fluid limit, for the simulator only",
        runtime_only: false,
        keys: &["system.discipline.quantum", "system.discipline"],
        broken: |system, _| {
            quantum(system).is_some_and(|q| q > Picos::ZERO && !(QUANTUM_MIN..=TIME_MAX).contains(&q))
        },
    },
    Rule {
        name: "fluid-options",
        refused: "`resident_max` or lone = \"yield\" in the fluid limit",
        why: "quantum = 0 has no turns that a task could yield or be held back from",
        instead: "write a quantum of at least \"100ns\", or remove the key",
        runtime_only: false,
        keys: &["system.discipline.resident_max", "system.discipline.lone", "system.discipline"],
        broken: |system, _| match system.discipline {
            DisciplineConfig::ProcessorSharing(config) => {
                fluid(system) && (config.resident_max.is_some() || config.lone == Lone::Yield)
            }
            _ => false,
        },
    },
    Rule {
        name: "resident-max",
        refused: "`resident_max` of 0, or together with fresh = \"tail\"",
        why: "nothing could start; and tasks that queue among the started ones can not be held back",
        instead: "set it to 1 or more with fresh = \"first\", or remove it",
        runtime_only: false,
        keys: &["system.discipline.resident_max", "system.discipline.fresh", "system.discipline"],
        broken: |system, _| match system.discipline {
            DisciplineConfig::ProcessorSharing(config) => {
                config.resident_max == Some(0)
                    || (config.resident_max.is_some() && config.fresh == Fresh::Tail)
            }
            _ => false,
        },
    },
    Rule {
        name: "shedding-threshold",
        refused: "a shedding threshold of 0, or above an hour",
        why: "every queue, or none, would count as overloaded",
        instead: "write a time such as \"2us\"",
        runtime_only: false,
        keys: &["system.rebalance.threshold", "system.rebalance"],
        broken: |system, _| match system.rebalance {
            RebalanceConfig::WorkShedding(config) => !is_time(config.threshold),
            RebalanceConfig::StealAndShed(config) => !is_time(config.threshold),
            _ => false,
        },
    },
    Rule {
        name: "empty-band",
        refused: "an allocation band with `low` at or above `high`",
        why: "cores would be granted and revoked by turns",
        instead: "let `low` lie below `high` (with triggers: shrink below grow)",
        runtime_only: false,
        keys: &[
            "system.allocation.low",
            "system.allocation.high",
            "system.allocation.shrink",
            "system.allocation",
        ],
        broken: |system, _| empty_band(system),
    },
    Rule {
        name: "allocation-times",
        refused: "an interval, threshold or delay of 0 or above an hour in an allocation policy",
        why: "decisions need time between them and a delay to be held against",
        instead: "write times such as \"5us\"",
        runtime_only: false,
        keys: &[
            "system.allocation.interval",
            "system.allocation.threshold",
            "system.allocation.low",
            "system.allocation.high",
            "system.allocation.grow",
            "system.allocation",
        ],
        broken: |system, _| allocation_times_wrong(system),
    },
    Rule {
        name: "allocation-shares",
        refused: "a share outside 0 to 1, or more idle cores than there are, in an allocation policy",
        why: "utilization is a share of the core time held; idle cores are some of the machine's",
        instead: "write utilization as in low = 0.75, high = 0.95, and 1 to `cores` idle cores",
        runtime_only: false,
        keys: &[
            "system.allocation.low",
            "system.allocation.high",
            "system.allocation.cores",
            "system.allocation.grow",
            "system.allocation",
        ],
        broken: |system, _| allocation_shares_wrong(system),
    },
    Rule {
        name: "per-task-without-stealing",
        refused: "growing by arrivals (\"per-task\", \"no-thief\") without work stealing",
        why: "tasks that queue once all cores are held would have to be found by the others",
        instead: "set rebalance = \"work-stealing\"",
        runtime_only: false,
        keys: &["system.allocation", "system.rebalance"],
        broken: |system, _| {
            let by_arrival = |grow| matches!(grow, Grow::Arrival | Grow::NoThief);
            !steals(system) && system.allocation.triggers().is_some_and(|triggers| by_arrival(triggers.grow))
        },
    },
    Rule {
        name: "part-of-a-pool",
        refused: "changing or holding back cores where pools have several cores each",
        why: "it is open which pool would lose a core",
        instead: "set pools = \"per-core\" or 1, or hold all cores: allocation = \"static\"",
        runtime_only: false,
        keys: &["system.allocation", "system.pools"],
        broken: |system, _| {
            several_sharing(system)
                && (system.allocation != AllocationConfig::Static || system.cores_allocated < system.cores)
        },
    },
    Rule {
        name: "fluid-allocation",
        refused: "an allocation policy with a fluid discipline",
        why: "fluid sharing is defined for a fixed number of cores",
        instead: "write a quantum of at least \"100ns\", or allocation = \"static\"",
        runtime_only: false,
        keys: &["system.allocation", "system.discipline.quantum", "system.discipline"],
        broken: |system, _| fluid(system) && system.allocation != AllocationConfig::Static,
    },
    Rule {
        name: "fluid-rebalance",
        refused: "stealing or shedding with a fluid discipline",
        why: "in the fluid limit every task has started, and only fresh ones are moved",
        instead: "write a quantum of at least \"100ns\", or rebalance = \"none\"",
        runtime_only: false,
        keys: &["system.rebalance", "system.discipline.quantum", "system.discipline"],
        broken: |system, _| fluid(system) && system.rebalance != RebalanceConfig::None,
    },
    Rule {
        name: "authors-simulator",
        refused: "the authors' variant with a discipline or a dispatch policy that their simulator lacks",
        why: "it knows first come first served with random, power-of-k and JBSQ dispatch",
        instead: "remove variant = \"authors-simulator\"",
        runtime_only: false,
        keys: &["system.variant"],
        broken: |system, _| {
            let known = matches!(
                system.dispatch,
                DispatchConfig::Random | DispatchConfig::PowerOfK(_) | DispatchConfig::Jbsq(_)
            );
            system.variant == Variant::AuthorsSimulator
                && !(known && system.discipline == DisciplineConfig::Fcfs)
        },
    },
    Rule {
        name: "cost-range",
        refused: "a cost above one second",
        why: "overheads are nanoseconds to milliseconds",
        instead: "is the unit right? write as in preemption = \"40ns\"",
        runtime_only: false,
        keys: &[
            "costs.steal_check",
            "costs.steal",
            "costs.shed",
            "costs.enqueue",
            "costs.hand_over",
            "costs.core_allocation",
            "costs.preemption",
            "costs.overrun",
            "costs.dispatcher",
            "costs.dispatcher_quantum",
        ],
        broken: costs_too_long,
    },
    Rule {
        name: "probe-factor",
        refused: "a `probe_factor` below 1, or above 100",
        why: "instrumentation stretches service times by this factor",
        instead: "write 1 for none, 1.1 for 10 % more",
        runtime_only: false,
        keys: &["costs.probe_factor"],
        broken: |_, costs| !PROBE_FACTORS.contains(&costs.probe_factor),
    },
    Rule {
        name: "runtime-clairvoyant",
        refused: "SRPT or least-work dispatch in the runtime",
        why: "they know service times in advance, which no real service does",
        instead: "take \"las\" or \"processor-sharing\", and \"jsq\" dispatch",
        runtime_only: true,
        keys: &["system.discipline", "system.dispatch"],
        broken: |system, _| clairvoyant(system),
    },
    Rule {
        name: "runtime-fluid",
        refused: "quantum = 0 in the runtime",
        why: "a real core runs one task at a time",
        instead: "write a quantum such as \"2us\"",
        runtime_only: true,
        keys: &["system.discipline.quantum", "system.discipline"],
        broken: |system, _| fluid(system),
    },
    Rule {
        name: "runtime-allocation",
        refused: "an allocation policy in the runtime",
        why: "the runtime holds its cores all the time, for now",
        instead: "set allocation = \"static\"",
        runtime_only: true,
        keys: &["system.allocation"],
        broken: |system, _| system.allocation != AllocationConfig::Static,
    },
    Rule {
        name: "runtime-variant",
        refused: "the authors' variant in the runtime",
        why: "it is a way of simulating, not of scheduling",
        instead: "remove variant = \"authors-simulator\"",
        runtime_only: true,
        keys: &["system.variant"],
        broken: |system, _| system.variant == Variant::AuthorsSimulator,
    },
];
