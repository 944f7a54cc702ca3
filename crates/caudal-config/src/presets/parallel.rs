//! The presets for requests that fork: the schedulers of Li et al., PPoPP 2016, each a queue of requests and a deque for each core. The
//! list of all presets ([`super`]) takes them in. Constants only.

use caudal_policy::Picos;
use caudal_policy::parallelism::{DefaultTbbConfig, ParallelismConfig, TailControlConfig};

use super::{Number, Preset, ours};
use crate::{Costs, System};

const ATTEMPT: Number =
    ours("costs.steal_check", "100ns", "an attempt to steal: a line of another core's cache");
const STEAL: Number = ours("costs.steal", "0", "an attempt that finds something takes no longer");
const FORK: Number = ours("costs.fork", "25ns", "between Rayon's 9 ns and oneTBB's 95 ns");
const LOOK: Number = ours("costs.look", "20ns", "of each worker whose request is checked");
const TARGET: Number = ours(
    "system.parallelism.target",
    "25ms",
    "that of Li et al., PPoPP 2016, section 5.7; a plan takes its own",
);

fn forking(cores: u32, parallelism: ParallelismConfig) -> System {
    System { parallelism, ..System::single_queue(cores) }
}

fn costs() -> Costs {
    Costs { steal: Picos::ZERO, ..Costs::default() }
}

fn for_25_ms() -> TailControlConfig {
    TailControlConfig { target: Picos::from_micros(25_000), ..TailControlConfig::default() }
}

pub(super) const PRESETS: &[Preset] = &[
    Preset {
        name: "steal-first",
        aliases: &[],
        summary: "Requests that fork: those that run are helped before others are admitted",
        numbers: &[ATTEMPT, STEAL, FORK],
        reference_only: None,
        dedicated_cores: 0,
        make: |cores| forking(cores, ParallelismConfig::StealFirst),
        costs,
    },
    Preset {
        name: "admit-first",
        aliases: &[],
        summary: "Requests that fork: they are admitted before those that run are helped",
        numbers: &[ATTEMPT, STEAL, FORK],
        reference_only: None,
        dedicated_cores: 0,
        make: |cores| forking(cores, ParallelismConfig::AdmitFirst),
        costs,
    },
    Preset {
        name: "default-tbb",
        aliases: &["tbb"],
        summary: "Requests that fork: they go to random deques, and the first worker that reaches one runs it",
        numbers: &[ATTEMPT, STEAL, FORK],
        reference_only: None,
        dedicated_cores: 0,
        make: |cores| forking(cores, ParallelismConfig::DefaultTbb(DefaultTbbConfig::default())),
        costs,
    },
    Preset {
        name: "tail-control",
        aliases: &[],
        summary: "Steal-first, and requests that turn out to be large lose their help when many are active",
        numbers: &[ATTEMPT, STEAL, FORK, LOOK, TARGET],
        reference_only: None,
        dedicated_cores: 0,
        make: |cores| forking(cores, ParallelismConfig::TailControl(for_25_ms())),
        costs,
    },
    Preset {
        name: "tc-clairvoyant",
        aliases: &["clairvoyant-tail-control"],
        summary: "Tail-control that knows from the start which requests are large",
        numbers: &[ATTEMPT, STEAL, FORK, TARGET],
        reference_only: Some("it knows the work of requests in advance"),
        dedicated_cores: 0,
        make: |cores| forking(cores, ParallelismConfig::Clairvoyant(for_25_ms())),
        costs,
    },
];
