//! The presets of systems that others have built, as the papers model them. The list of all presets ([`super`]) takes them in. Constants
//! only.

use caudal_policy::allocation::{
    AllocationConfig, CaladanConfig, DelayRangeConfig, Grow, PerTaskConfig, ShenangoConfig, Shrink, Triggers,
    UtilizationRangeConfig,
};
use caudal_policy::discipline::{DisciplineConfig, Fresh, Lone, ProcessorSharingConfig};
use caudal_policy::dispatch::{DispatchConfig, JbsqConfig, JsqConfig, PowerOfKConfig, Ties};

use super::{Number, Preset, from, jsq_dispatched, ns, ours, per_core, stealing};
use crate::{Costs, System};

const POLICIES_5: &str = "McClure et al., NSDI 2022, section 4.1";
const TABLE_1: &str = "policy: McClure et al., NSDI 2022, Table 1; the threshold is in no paper";
const TABLE_2: &str = "McClure et al., NSDI 2022, Table 2";

const CHECK: Number = from("costs.steal_check", "100ns", POLICIES_5);
const STEAL: Number = from("costs.steal", "100ns", POLICIES_5);
const GRANT: Number = from("costs.core_allocation", "5us", POLICIES_5);

pub(super) const PRESETS: &[Preset] = &[
    Preset {
        name: "ix",
        aliases: &[],
        summary: "No balancing; grows by packet queueing delay, shrinks by low utilization",
        numbers: &[
            ours("system.allocation.grow.above", "1us", TABLE_1),
            ours("system.allocation.shrink.below", "0.75", TABLE_1),
            ours("system.allocation.interval", "5us", "that of the other systems; the paper names none"),
            GRANT,
        ],
        reference_only: None,
        dedicated_cores: 0,
        make: |cores| System { allocation: IX, ..per_core(cores) },
        costs: Costs::default,
    },
    Preset {
        name: "arachne",
        aliases: &[],
        summary: "The shorter of two random queues; grows by runnable threads, shrinks by low utilization",
        numbers: &[
            from("system.dispatch.k", "2", "McClure et al., NSDI 2022, Tables 1 and 2"),
            ours("system.allocation.grow.above", "1.0", TABLE_1),
            ours("system.allocation.shrink.below", "0.75", TABLE_1),
            ours("system.allocation.interval", "5us", "that of the other systems; the paper names none"),
            from("costs.enqueue", "100ns", POLICIES_5),
            from(
                "costs.core_allocation",
                "5us",
                "McClure et al., section 4.1, for all systems; Arachne's own took 29 µs",
            ),
        ],
        reference_only: None,
        dedicated_cores: 1,
        make: |cores| System {
            dispatch: DispatchConfig::PowerOfK(PowerOfKConfig { k: 2 }),
            allocation: ARACHNE,
            ..per_core(cores)
        },
        costs: Costs::default,
    },
    Preset {
        name: "shenango",
        aliases: &[],
        summary: "Work stealing; a core more when a task waits 5 µs, one less when a walk finds nothing",
        numbers: &[
            from("system.allocation.threshold", "5us", TABLE_2),
            from("system.allocation.interval", "5us", POLICIES_5),
            CHECK,
            STEAL,
            GRANT,
        ],
        reference_only: None,
        dedicated_cores: 1,
        make: |cores| stealing(cores, AllocationConfig::Shenango(ShenangoConfig::default())),
        costs: Costs::default,
    },
    Preset {
        name: "caladan",
        aliases: &[],
        summary: "Work stealing; a core more when a task waits 10 µs, one less when a walk finds nothing",
        numbers: &[
            from("system.allocation.threshold", "10us", TABLE_2),
            from("system.allocation.interval", "10us", POLICIES_5),
            CHECK,
            STEAL,
            GRANT,
        ],
        reference_only: None,
        dedicated_cores: 1,
        make: |cores| stealing(cores, AllocationConfig::Caladan(CaladanConfig::default())),
        costs: Costs::default,
    },
    Preset {
        name: "caladan-delay-range",
        aliases: &["delay-range"],
        summary: "Work stealing; cores follow the mean queueing delay, kept between 0.5 and 1 µs",
        numbers: &[
            from("system.allocation.low", "500ns", TABLE_2),
            from("system.allocation.high", "1us", TABLE_2),
            from("system.allocation.interval", "5us", POLICIES_5),
            CHECK,
            STEAL,
            GRANT,
        ],
        reference_only: None,
        dedicated_cores: 1,
        make: |cores| stealing(cores, AllocationConfig::DelayRange(DelayRangeConfig::default())),
        costs: Costs::default,
    },
    Preset {
        name: "caladan-utilization-range",
        aliases: &["utilization-range"],
        summary: "Work stealing; cores follow the utilization, kept between 75 and 95 %",
        numbers: &[
            from("system.allocation.low", "0.75", TABLE_2),
            from("system.allocation.high", "0.95", TABLE_2),
            from("system.allocation.interval", "5us", POLICIES_5),
            CHECK,
            STEAL,
            GRANT,
        ],
        reference_only: None,
        dedicated_cores: 1,
        make: |cores| stealing(cores, AllocationConfig::UtilizationRange(UtilizationRangeConfig::default())),
        costs: Costs::default,
    },
    Preset {
        name: "fred",
        aliases: &["per-task"],
        summary: "A core for each task while there are any; work stealing once all are held",
        numbers: &[CHECK, STEAL, from("costs.hand_over", "100ns", POLICIES_5), GRANT],
        reference_only: None,
        dedicated_cores: 0,
        make: |cores| stealing(cores, AllocationConfig::PerTask(PerTaskConfig {})),
        costs: Costs::default,
    },
    Preset {
        name: "go",
        aliases: &[],
        summary: "Work stealing; an arrival that finds no core looking for work wakes one",
        numbers: &[
            from("system.allocation.grow.when", "no-thief", "McClure et al., NSDI 2022, Table 1"),
            from("system.allocation.shrink.when", "failed-walk", "McClure et al., NSDI 2022, Table 1"),
            CHECK,
            STEAL,
            GRANT,
        ],
        reference_only: None,
        dedicated_cores: 0,
        make: |cores| stealing(cores, GO),
        costs: Costs::default,
    },
    Preset {
        name: "shinjuku",
        aliases: &[],
        summary: "Centralised processor sharing in 5 µs quanta, by interrupts from one dispatcher",
        numbers: &[
            from(
                "system.discipline.quantum",
                "5us",
                "Luo et al., ASPLOS 2024, section 5.1: for bimodal services; 10 µs for TPC-C and exponential, 15 µs for RocksDB",
            ),
            from("costs.preemption", "1us", "Luo et al., ASPLOS 2024, section 1"),
            from(
                "costs.dispatcher",
                "200ns",
                "about 5 million requests a second: McClure et al., NSDI 2022, section 3.2.1",
            ),
            ours(
                "costs.dispatcher_quantum",
                "200ns",
                "as for a request; checked against Luo et al., Figure 16: 16 cores hold 5 µs quanta, not 3 µs",
            ),
        ],
        reference_only: None,
        dedicated_cores: 1,
        make: |cores| System {
            discipline: DisciplineConfig::ProcessorSharing(ProcessorSharingConfig {
                quantum: ns(5_000),
                fresh: Fresh::Tail,
                ..ProcessorSharingConfig::default()
            }),
            ..System::single_queue(cores)
        },
        costs: || Costs {
            preemption: ns(1_000),
            dispatcher: ns(200),
            dispatcher_quantum: ns(200),
            ..Costs::default()
        },
    },
    Preset {
        name: "tiny-quanta",
        aliases: &["tq"],
        summary: "Two levels: shortest queue with MSQ ties, then processor sharing in 2 µs quanta by coroutines",
        numbers: &[
            from("system.discipline.quantum", "2us", "Luo et al., ASPLOS 2024, section 5.1"),
            from("system.discipline.started_max", "8", "Luo et al., ASPLOS 2024, section 5.1"),
            from(
                "costs.preemption",
                "40ns",
                "Luo et al., ASPLOS 2024, section 4: the upper end of a coroutine's yield",
            ),
            from("costs.overrun", "430ns", "Luo et al., ASPLOS 2024, Table 3: 902 cycles at 2.1 GHz"),
            from("costs.probe_factor", "1.1", "Luo et al., ASPLOS 2024, Table 3, mean"),
            from("costs.dispatcher", "71ns", "Luo et al., ASPLOS 2024: 14 million requests a second"),
        ],
        reference_only: None,
        dedicated_cores: 1,
        make: |cores| {
            let sharing = ProcessorSharingConfig {
                quantum: ns(2_000),
                fresh: Fresh::First,
                lone: Lone::Yield,
                started_max: 8,
            };
            let jsq = DispatchConfig::Jsq(JsqConfig { ties: Ties::Msq });
            jsq_dispatched(cores, jsq, DisciplineConfig::ProcessorSharing(sharing))
        },
        costs: || Costs {
            preemption: ns(40),
            overrun: ns(430),
            probe_factor: 1.1,
            dispatcher: ns(71),
            ..Costs::default()
        },
    },
    Preset {
        name: "nanopu",
        aliases: &[],
        summary: "JBSQ(3) in the network interface, at no cost",
        numbers: &[from(
            "system.dispatch.bound",
            "3",
            "McClure et al., NSDI 2022, footnote 6; Ibanez et al., OSDI 2021",
        )],
        reference_only: Some("it takes a network interface that does not exist outside of a prototype"),
        dedicated_cores: 0,
        make: |cores| System { dispatch: DispatchConfig::Jbsq(JbsqConfig { bound: 3 }), ..per_core(cores) },
        costs: || Costs::FREE,
    },
];

const IX: AllocationConfig = AllocationConfig::Triggers(Triggers {
    grow: Grow::DelayMean { above: ns(1_000) },
    shrink: Shrink::Utilization { below: 0.75 },
    interval: ns(5_000),
});

const ARACHNE: AllocationConfig = AllocationConfig::Triggers(Triggers {
    grow: Grow::Queued { above: 1.0 },
    shrink: Shrink::Utilization { below: 0.75 },
    interval: ns(5_000),
});

const GO: AllocationConfig = AllocationConfig::Triggers(Triggers {
    grow: Grow::NoThief,
    shrink: Shrink::FailedWalk,
    interval: ns(5_000),
});
