//! The systems that have a name: published ones, reference lines, and Caudal's own. `plan` looks one up where a file says `preset = "…"`;
//! the tuner tries all of them, and `caudal systems` lists them. A table of constants, with the source of each number.

mod caudal;
mod express;
mod parallel;
mod published;
mod reference;

use caudal_policy::Picos;
use caudal_policy::allocation::AllocationConfig;
use caudal_policy::discipline::DisciplineConfig;
use caudal_policy::dispatch::DispatchConfig;
use caudal_policy::rebalance::{RebalanceConfig, WorkStealingConfig};

use crate::{Costs, Pools, System};

/// A system with a name.
#[derive(Debug)]
pub struct Preset {
    /// Its name in files, on the command line and in the docs.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// A description of one line.
    pub summary: &'static str,
    /// Where its numbers come from.
    pub numbers: &'static [Number],
    /// The reason why it can not be deployed; `None` if it can be. Only deployable systems can win a plan, the others
    /// are reference lines.
    pub reference_only: Option<&'static str>,
    /// Cores that serve no requests (dispatcher, IOKernel), on top of the system's own; a plan counts them.
    pub dedicated_cores: u32,
    make: fn(u32) -> System,
    costs: fn() -> Costs,
}

/// One number of a preset and its source.
#[derive(Debug)]
pub struct Number {
    /// The key of the file that holds it: `system.discipline.quantum`.
    pub key: &'static str,
    /// Its value, as the file would say it.
    pub value: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Is it our choice, not a paper's?
    pub ours: bool,
}

impl Preset {
    /// The system on a machine of `cores`.
    pub fn system(&self, cores: u32) -> System {
        System { name: self.name.to_owned(), ..(self.make)(cores) }
    }

    /// Costs of the system's actions.
    pub fn costs(&self) -> Costs {
        (self.costs)()
    }

    /// Can it be deployed?
    pub fn deployable(&self) -> bool {
        self.reference_only.is_none()
    }
}

/// All presets, in the order in which they are listed to users.
pub fn presets() -> impl Iterator<Item = &'static Preset> {
    let own = caudal::PRESETS.iter().chain(express::PRESETS);
    published::PRESETS.iter().chain(own).chain(parallel::PRESETS).chain(reference::PRESETS)
}

/// The preset called `name`, or with that alias.
pub fn find_preset(name: &str) -> Option<&'static Preset> {
    presets().find(|preset| preset.name == name || preset.aliases.contains(&name))
}

/// The name that a misspelt one probably stands for.
pub fn nearest_preset(name: &str) -> Option<&'static str> {
    crate::suggest::nearest(
        name,
        presets().flat_map(|preset| [preset.name].into_iter().chain(preset.aliases.iter().copied())),
    )
}

/// A number of a paper.
const fn from(key: &'static str, value: &'static str, source: &'static str) -> Number {
    Number { key, value, source, ours: false }
}

/// A number of our own.
const fn ours(key: &'static str, value: &'static str, source: &'static str) -> Number {
    Number { key, value, source, ours: true }
}

/// A queue for each core, random dispatch, first come first served. Most presets start from this system.
fn per_core(cores: u32) -> System {
    System { pools: Pools::PerCore, ..System::single_queue(cores) }
}

fn stealing(cores: u32, allocation: AllocationConfig) -> System {
    let rebalance = RebalanceConfig::WorkStealing(WorkStealingConfig::default());
    System { rebalance, allocation, ..per_core(cores) }
}

fn jsq_dispatched(cores: u32, dispatch: DispatchConfig, discipline: DisciplineConfig) -> System {
    System { dispatch, discipline, ..per_core(cores) }
}

const fn ns(ns: u64) -> Picos {
    Picos::from_nanos(ns)
}

#[cfg(test)]
mod tests;
