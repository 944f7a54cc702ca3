//! The presets that only serve for comparison: systems of the papers' figures, and ideal systems that can not be built. The list of all
//! presets ([`super`]) takes them in; a plan shows them but never chooses one. Constants only.

use caudal_policy::Picos;
use caudal_policy::allocation::AllocationConfig;
use caudal_policy::discipline::{DisciplineConfig, LasConfig, ProcessorSharingConfig};
use caudal_policy::dispatch::{DispatchConfig, JbsqConfig, PowerOfKConfig};
use caudal_policy::rebalance::{RebalanceConfig, StealAndShedConfig, WorkSheddingConfig};

use super::{Number, Preset, from, per_core, stealing};
use crate::{Costs, System};

const SECTION: &str = "McClure et al., NSDI 2022, section 4.1";
const TABLE_2: &str = "McClure et al., NSDI 2022, Table 2";
const FREE_QUEUE: &str = "its central queue costs nothing, however many cores share it";

const CHECK: Number = from("costs.steal_check", "100ns", SECTION);
const STEAL: Number = from("costs.steal", "100ns", SECTION);
const SHED: Number = from("costs.shed", "100ns", SECTION);
const ENQUEUE: Number = from("costs.enqueue", "100ns", SECTION);
const CHOICES: Number = from("system.dispatch.k", "2", TABLE_2);
const THRESHOLD: Number = from("system.rebalance.threshold", "2us", TABLE_2);

const TWO_CHOICES: DispatchConfig = DispatchConfig::PowerOfK(PowerOfKConfig { k: 2 });

pub(super) const PRESETS: &[Preset] = &[
    Preset {
        name: "no-balancing",
        aliases: &["rss"],
        summary: "A queue for each core, random arrival, first come first served",
        numbers: &[],
        reference_only: None,
        dedicated_cores: 0,
        make: per_core,
        costs: Costs::default,
    },
    Preset {
        name: "enqueue-choice",
        aliases: &["power-of-two"],
        summary: "The shorter of two random queues; the core where a request lands pays",
        numbers: &[CHOICES, ENQUEUE],
        reference_only: None,
        dedicated_cores: 0,
        make: |cores| System { dispatch: TWO_CHOICES, ..per_core(cores) },
        costs: Costs::default,
    },
    Preset {
        name: "work-shedding",
        aliases: &[],
        summary: "A core whose oldest task has waited 2 µs flags another one to take some",
        numbers: &[THRESHOLD, SHED],
        reference_only: None,
        dedicated_cores: 0,
        make: |cores| System {
            rebalance: RebalanceConfig::WorkShedding(WorkSheddingConfig::default()),
            ..per_core(cores)
        },
        costs: Costs::default,
    },
    Preset {
        name: "work-stealing",
        aliases: &[],
        summary: "Idle cores walk the other queues and take half of the first that has tasks",
        numbers: &[CHECK, STEAL],
        reference_only: None,
        dedicated_cores: 0,
        make: |cores| stealing(cores, AllocationConfig::Static),
        costs: Costs::default,
    },
    Preset {
        name: "stealing-and-shedding",
        aliases: &[],
        summary: "Work stealing and work shedding at once",
        numbers: &[THRESHOLD, CHECK, STEAL, SHED],
        reference_only: None,
        dedicated_cores: 0,
        make: |cores| System {
            rebalance: RebalanceConfig::StealAndShed(StealAndShedConfig::default()),
            ..per_core(cores)
        },
        costs: Costs::default,
    },
    Preset {
        name: "stealing-and-choice",
        aliases: &[],
        summary: "Work stealing behind the shorter of two random queues",
        numbers: &[CHOICES, CHECK, STEAL, ENQUEUE],
        reference_only: None,
        dedicated_cores: 0,
        make: |cores| System { dispatch: TWO_CHOICES, ..stealing(cores, AllocationConfig::Static) },
        costs: Costs::default,
    },
    Preset {
        name: "single-queue",
        aliases: &[],
        summary: "One queue for all cores, first come first served",
        numbers: &[],
        reference_only: Some(FREE_QUEUE),
        dedicated_cores: 0,
        make: System::single_queue,
        costs: Costs::default,
    },
    Preset {
        name: "jbsq-3",
        aliases: &["jbsq"],
        summary: "A central queue that keeps each core at up to three requests",
        numbers: &[from("system.dispatch.bound", "3", "McClure et al., NSDI 2022, footnote 6")],
        reference_only: Some(FREE_QUEUE),
        dedicated_cores: 0,
        make: |cores| System { dispatch: DispatchConfig::Jbsq(JbsqConfig { bound: 3 }), ..per_core(cores) },
        costs: Costs::default,
    },
    Preset {
        name: "ideal",
        aliases: &[],
        summary: "One queue, first come first served, nothing costs anything",
        numbers: &[],
        reference_only: Some("nothing costs anything"),
        dedicated_cores: 0,
        make: System::single_queue,
        costs: || Costs::FREE,
    },
    Preset {
        name: "ps-fluid",
        aliases: &[],
        summary: "All tasks share all cores equally, in infinitely small slices, at no cost",
        numbers: &[],
        reference_only: Some("infinitely small slices that cost nothing"),
        dedicated_cores: 0,
        make: |cores| {
            let sharing =
                ProcessorSharingConfig { quantum: Picos::ZERO, ..ProcessorSharingConfig::default() };
            System { discipline: DisciplineConfig::ProcessorSharing(sharing), ..System::single_queue(cores) }
        },
        costs: || Costs::FREE,
    },
    Preset {
        name: "las",
        aliases: &["las-fluid"],
        summary: "Least attained service first on all cores, in infinitely small slices, at no cost",
        numbers: &[],
        reference_only: Some("infinitely small slices that cost nothing"),
        dedicated_cores: 0,
        make: |cores| {
            let las = LasConfig { quantum: Picos::ZERO, ..LasConfig::default() };
            System { discipline: DisciplineConfig::Las(las), ..System::single_queue(cores) }
        },
        costs: || Costs::FREE,
    },
    Preset {
        name: "srpt",
        aliases: &[],
        summary: "Shortest remaining processing time first on all cores, at no cost; clairvoyant",
        numbers: &[],
        reference_only: Some("it knows service times in advance"),
        dedicated_cores: 0,
        make: |cores| System { discipline: DisciplineConfig::Srpt, ..System::single_queue(cores) },
        costs: || Costs::FREE,
    },
];
