//! The presets of Caudal's own systems. Their numbers were measured here, on a two-core virtual machine (AMD Zen 5, 2.6 GHz), and hold
//! where no calibration of the machine at hand is given. The list of all presets ([`super`]) takes them in. Constants only.

use caudal_policy::allocation::AllocationConfig;
use caudal_policy::discipline::{DisciplineConfig, ProcessorSharingConfig};
use caudal_policy::dispatch::{DispatchConfig, JsqConfig, Ties};

use super::{Number, Preset, from, jsq_dispatched, ns, ours, stealing};
use crate::{Costs, System};

const QUANTUM: Number =
    from("system.discipline.quantum", "2us", "that of Luo et al., ASPLOS 2024, section 5.1; a plan tunes it");
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
    "14 million requests a second, the figure of Luo et al., taken as our own aim",
);
const CHECK: Number = ours("costs.steal_check", "112ns", "a cache line's round trip between cores, measured");
const STEAL: Number = ours("costs.steal", "112ns", "a cache line's round trip between cores, measured");

fn costs() -> Costs {
    Costs {
        steal_check: ns(112),
        steal: ns(112),
        shed: ns(112),
        enqueue: ns(112),
        hand_over: ns(112),
        core_allocation: ns(20_000),
        preemption: ns(50),
        ..Costs::default()
    }
}

fn sharing() -> DisciplineConfig {
    DisciplineConfig::ProcessorSharing(ProcessorSharingConfig {
        quantum: ns(2_000),
        ..ProcessorSharingConfig::default()
    })
}

fn probed(costs: Costs) -> Costs {
    Costs { overrun: ns(100), probe_factor: 1.05, ..costs }
}

pub(super) const PRESETS: &[Preset] = &[
    Preset {
        name: "caudal-ps",
        aliases: &["caudal"],
        summary: "Tiny Quanta's two levels without a cap on started requests; a request alone is not interrupted",
        numbers: &[QUANTUM, SWITCH, OVERRUN, PROBES, DISPATCHER],
        reference_only: None,
        dedicated_cores: 1,
        make: |cores| jsq_dispatched(cores, DispatchConfig::Jsq(JsqConfig { ties: Ties::Msq }), sharing()),
        costs: || Costs { dispatcher: ns(71), ..probed(costs()) },
    },
    Preset {
        name: "caudal-fcfs",
        aliases: &[],
        summary: "Shortest queue, first come first served, a dedicated dispatcher",
        numbers: &[DISPATCHER],
        reference_only: None,
        dedicated_cores: 1,
        make: |cores| {
            jsq_dispatched(
                cores,
                DispatchConfig::Jsq(JsqConfig { ties: Ties::Random }),
                DisciplineConfig::Fcfs,
            )
        },
        costs: || Costs { dispatcher: ns(71), ..costs() },
    },
    Preset {
        name: "caudal-stealing",
        aliases: &[],
        summary: "A queue for each core, first come first served, work stealing; no dispatcher",
        numbers: &[CHECK, STEAL],
        reference_only: None,
        dedicated_cores: 0,
        make: |cores| stealing(cores, AllocationConfig::Static),
        costs,
    },
    Preset {
        name: "caudal-stealing-ps",
        aliases: &[],
        summary: "Processor sharing on each core, idle ones steal requests that have not started; no dispatcher",
        numbers: &[QUANTUM, SWITCH, OVERRUN, PROBES, CHECK, STEAL],
        reference_only: None,
        dedicated_cores: 0,
        make: |cores| System { discipline: sharing(), ..stealing(cores, AllocationConfig::Static) },
        costs: || probed(costs()),
    },
];
