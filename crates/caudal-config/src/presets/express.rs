//! The presets with express lanes: Q-Zilla's algorithms on cores, and its cores with hardware contexts (Mirhosseini et al., HPCA 2020).
//! The list of all presets ([`super`]) takes them in. Constants only.
//!
//! The paper publishes no cutoffs, because each service needs its own. The cutoffs here are a place to start from; a plan, or
//! `caudal lanes`, finds the ones for a service.

use caudal_policy::discipline::{DisciplineConfig, ProcessorSharingConfig, SitaConfig};
use caudal_policy::{List, Picos};

use super::{Number, Preset, from, ns, ours};
use crate::{ContextsConfig, Costs, Pools, System};

const CUTOFFS: Number =
    ours("system.discipline.cutoffs", "[\"10us\"]", "a place to start from; a plan finds the service's own");
const LANES: Number =
    ours("system.discipline.reservations", "[12, 4]", "three quarters of the cores for short requests");
const SWITCH: Number = ours(
    "costs.preemption",
    "50ns",
    "what a scheduler may take for a quantum; a switch pair alone is 2 to 4 ns",
);
const OVERRUN: Number = ours("costs.overrun", "100ns", "half of the 200 ns between two reads of the clock");
const PROBES: Number = ours("costs.probe_factor", "1.05", "9.2 ns of clock reading every 200 ns");
const DISPATCHER: Number = ours(
    "costs.dispatcher",
    "71ns",
    "14 million requests a second, the figure of Luo et al., ASPLOS 2024, taken as our own aim",
);

const FIRMWARE: Number = from(
    "costs.preemption",
    "300ns",
    "Mirhosseini et al., HPCA 2020, section 2.3: firmware context switching",
);
const COLD: Number =
    from("costs.cold_miss", "1us", "Mirhosseini et al., HPCA 2020, section 2.3: at least a microsecond");
const COUNT: Number =
    from("system.contexts.count", "8", "Mirhosseini et al., HPCA 2020, section 6: 2, 4 and 8");
const VIRTUAL: Number = from("system.contexts.virtual", "32", "Mirhosseini et al., HPCA 2020, Table 1");
const QUANTUM: Number =
    from("system.discipline.quantum", "2us", "Mirhosseini et al., HPCA 2020, section 7.2");
const EXPRESS: Number =
    ours("system.discipline.reservations", "[4, 2, 2]", "half of the contexts for short requests");
const ENDS: Number = ours(
    "system.discipline.cutoffs",
    "[\"5us\", \"50us\"]",
    "a place to start from; `caudal lanes` finds the service's own",
);

/// Lanes for any number of cores: three quarters of them for requests up to 10 us.
fn two_lanes(cores: u32) -> SitaConfig {
    let long = cores.div_ceil(4);
    match cores.saturating_sub(long) {
        0 => sita(&[], &[cores]),
        short => sita(&[ns(10_000)], &[short, long]),
    }
}

fn sita(cutoffs: &[Picos], reservations: &[u32]) -> SitaConfig {
    SitaConfig::new(cutoffs, reservations).expect("a few rising cutoffs, and a server for each lane")
}

fn shared(cores: u32, discipline: DisciplineConfig) -> System {
    System { discipline, ..System::single_queue(cores) }
}

fn runtime_costs() -> Costs {
    Costs { preemption: ns(50), overrun: ns(100), probe_factor: 1.05, dispatcher: ns(71), ..Costs::default() }
}

/// Cores of eight contexts, each core with a queue of its own.
fn cores_of_contexts(cores: u32, discipline: DisciplineConfig) -> System {
    let contexts = ContextsConfig { virtual_contexts: Some(32), ..ContextsConfig::of(8) };
    System { contexts: Some(contexts), pools: Pools::PerCore, discipline, ..System::single_queue(cores) }
}

fn firmware_costs() -> Costs {
    Costs { preemption: ns(300), cold_miss: ns(1_000), ..Costs::default() }
}

/// Lanes of one context each: the first ends at 2.5 us, and each further one at twice the end before. They fit any service somewhat.
fn one_each() -> SitaConfig {
    let ends: Vec<Picos> = (0..7).map(|lane| ns(2_500 << lane)).collect();
    SitaConfig { cutoffs: List::new(&ends).expect("seven"), reservations: List::new(&[1; 8]).expect("eight") }
}

pub(super) const PRESETS: &[Preset] = &[
    Preset {
        name: "sqd-sita",
        aliases: &[],
        summary: "Lanes by time served on all cores, behind a dispatcher; servers go where no lane can starve for it",
        numbers: &[CUTOFFS, LANES, SWITCH, OVERRUN, PROBES, DISPATCHER],
        reference_only: None,
        dedicated_cores: 1,
        make: |cores| shared(cores, DisciplineConfig::SqdSita(two_lanes(cores))),
        costs: runtime_costs,
    },
    Preset {
        name: "isqd-sita",
        aliases: &["express-lanes"],
        summary: "Lanes by time served behind a dispatcher; where no core is idle, new requests interrupt the youngest of a lane with too many",
        numbers: &[CUTOFFS, LANES, SWITCH, OVERRUN, PROBES, DISPATCHER],
        reference_only: None,
        dedicated_cores: 1,
        make: |cores| shared(cores, DisciplineConfig::IsqdSita(two_lanes(cores))),
        costs: runtime_costs,
    },
    Preset {
        name: "smt",
        aliases: &[],
        summary: "Cores of 8 hardware contexts, each core with a queue: first come first served",
        numbers: &[COUNT],
        reference_only: Some(HARDWARE),
        dedicated_cores: 0,
        make: |cores| System {
            contexts: Some(ContextsConfig::of(8)),
            ..cores_of_contexts(cores, DisciplineConfig::Fcfs)
        },
        costs: firmware_costs,
    },
    Preset {
        name: "hsmt",
        aliases: &["hierarchical-smt"],
        summary: "The same with 32 virtual contexts that share it in slices of 2 µs",
        numbers: &[COUNT, VIRTUAL, QUANTUM, FIRMWARE, COLD],
        reference_only: Some(HARDWARE),
        dedicated_cores: 0,
        make: |cores| {
            let slices = ProcessorSharingConfig { quantum: ns(2_000), ..ProcessorSharingConfig::default() };
            cores_of_contexts(cores, DisciplineConfig::ProcessorSharing(slices))
        },
        costs: firmware_costs,
    },
    Preset {
        name: "esmt",
        aliases: &["express-lane-smt"],
        summary: "The same with a lane for each context: preemptive SITA",
        numbers: &[COUNT, VIRTUAL, FIRMWARE, COLD],
        reference_only: Some(HARDWARE),
        dedicated_cores: 0,
        make: |cores| cores_of_contexts(cores, DisciplineConfig::PreemptiveSita(one_each())),
        costs: firmware_costs,
    },
    Preset {
        name: "corezilla",
        aliases: &[],
        summary: "The same with lanes of ISQD-SITA; load adaptation needs a service's own table",
        numbers: &[COUNT, VIRTUAL, EXPRESS, ENDS, FIRMWARE, COLD],
        reference_only: Some(HARDWARE),
        dedicated_cores: 0,
        make: |cores| {
            let lanes = sita(&[ns(5_000), ns(50_000)], &[4, 2, 2]);
            cores_of_contexts(cores, DisciplineConfig::IsqdSita(lanes))
        },
        costs: firmware_costs,
    },
];

const HARDWARE: &str = "it takes a core that nobody sells";
