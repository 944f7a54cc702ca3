//! A system: pools of workers and a policy at each decision point. `plan` makes one out of a `[system]` table, the rules of coherence
//! judge it, and the simulator, the tuner and the runtime build their policies from it. Data, with the arithmetic of pools.

use std::fmt;

use caudal_policy::allocation::AllocationConfig;
use caudal_policy::discipline::DisciplineConfig;
use caudal_policy::dispatch::DispatchConfig;
use caudal_policy::parallelism::ParallelismConfig;
use caudal_policy::rebalance::RebalanceConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contexts::ContextsConfig;

/// Most cores of a machine.
pub const CORES_MAX: u32 = 4096;

/// How the workers of a machine share queues.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Pools {
    /// `"per-core"`: each core has a queue of its own.
    #[default]
    #[serde(rename = "per-core", serialize_with = "per_core")]
    PerCore,
    /// `4`: so many pools of equal size; `1` is a central queue.
    Equal(u32),
    /// `[13, 2, 1]`: a pool for each number, with so many cores.
    Sizes(Vec<u32>),
}

fn per_core<S: serde::Serializer>(serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str("per-core")
}

impl<'de> Deserialize<'de> for Pools {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Pools, D::Error> {
        struct PoolsVisitor;
        impl<'de> serde::de::Visitor<'de> for PoolsVisitor {
            type Value = Pools;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"per-core\", a number of pools, or a list of their sizes such as [13, 2, 1]")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Pools, E> {
                match text {
                    "per-core" => Ok(Pools::PerCore),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
                }
            }
            fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Pools, E> {
                let pools = u32::try_from(value).ok().filter(|&pools| pools > 0);
                let error = || E::invalid_value(serde::de::Unexpected::Signed(value), &self);
                pools.map(Pools::Equal).ok_or_else(error)
            }
            fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Pools, E> {
                self.visit_i64(i64::try_from(value).unwrap_or(i64::MAX))
            }
            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut items: A) -> Result<Pools, A::Error> {
                let mut sizes = Vec::new();
                while let Some(size) = items.next_element()? {
                    sizes.push(size);
                }
                Ok(Pools::Sizes(sizes))
            }
        }
        deserializer.deserialize_any(PoolsVisitor)
    }
}

impl JsonSchema for Pools {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Pools".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "How the workers of a machine share queues.",
            "anyOf": [
                { "description": "Each core has a queue of its own.", "const": "per-core" },
                { "description": "So many pools of equal size; 1 is a central queue.", "type": "integer", "minimum": 1 },
                {
                    "description": "A pool for each number, with so many cores.",
                    "type": "array",
                    "minItems": 1,
                    "items": { "type": "integer", "minimum": 1 },
                },
            ],
        })
    }
}

impl Pools {
    /// The number of pools on a machine of `cores`.
    pub fn count(&self, cores: u32) -> u32 {
        match self {
            Pools::PerCore => cores,
            Pools::Equal(pools) => *pools,
            Pools::Sizes(sizes) => u32::try_from(sizes.len()).unwrap_or(u32::MAX),
        }
    }

    /// Do all cores share one queue? A single core counts as having a queue of its own, so the answer is no.
    pub fn is_central(&self, cores: u32) -> bool {
        cores > 1 && self.count(cores) == 1
    }

    /// The number of cores of each pool on a machine of `cores`; `None` if the pools do not fit this number of cores.
    pub fn sizes(&self, cores: u32) -> Option<Vec<u32>> {
        match self {
            Pools::PerCore => Some(vec![1; cores as usize]),
            Pools::Equal(n) => (*n > 0 && cores.is_multiple_of(*n)).then(|| vec![cores / n; *n as usize]),
            Pools::Sizes(sizes) => {
                let total: u64 = sizes.iter().map(|&size| u64::from(size)).sum();
                (total == u64::from(cores) && sizes.iter().all(|&size| size > 0)).then(|| sizes.clone())
            }
        }
    }
}

/// The reading of the policies paper that is simulated where its text and its authors' simulator differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    /// The paper's text.
    #[default]
    Paper,
    /// The published simulator: whole nanoseconds and its own rules for walks, flags and parking.
    AuthorsSimulator,
}

/// The `[system]` table after presets have been filled in: everything that a host needs to know of a
/// system, except the costs.
#[derive(Clone, Debug, PartialEq)]
pub struct System {
    /// Name that tables and legends show.
    pub name: String,
    /// Cores of the machine; `load` refers to them. 1 ..= [`CORES_MAX`].
    pub cores: u32,
    /// Cores held at the start, and all the time under static allocation; 1 ..= `cores`.
    pub cores_allocated: u32,
    /// Hardware contexts of each core; if none are given, a core is one worker.
    pub contexts: Option<ContextsConfig>,
    /// How the workers share queues.
    pub pools: Pools,
    /// The policy that says where a new request goes.
    pub dispatch: DispatchConfig,
    /// The policy that moves tasks between pools.
    pub rebalance: RebalanceConfig,
    /// The policy that says which task of a pool runs, and for how long.
    pub discipline: DisciplineConfig,
    /// The policy that says how many cores the application holds.
    pub allocation: AllocationConfig,
    /// The policy for requests that fork.
    pub parallelism: ParallelismConfig,
    /// The reading of the policies paper, where its text and its simulator differ.
    pub variant: Variant,
}

impl System {
    /// Workers: the cores, or all of their contexts.
    pub fn workers(&self) -> u32 {
        self.contexts.as_ref().map_or(self.cores, |contexts| self.cores.saturating_mul(contexts.count))
    }

    /// Workers of each pool; `None` if the pools do not fit the number of workers.
    pub fn pool_sizes(&self) -> Option<Vec<u32>> {
        match (&self.contexts, &self.pools) {
            (Some(contexts), Pools::PerCore) => Some(vec![contexts.count; self.cores as usize]),
            _ => self.pools.sizes(self.workers()),
        }
    }

    /// The number of pools.
    pub fn pool_count(&self) -> u32 {
        match (&self.contexts, &self.pools) {
            (Some(_), Pools::PerCore) => self.cores,
            _ => self.pools.count(self.workers()),
        }
    }

    /// Do all workers share one queue? A single worker counts as having a queue of its own, so the answer is no.
    pub fn is_central(&self) -> bool {
        self.workers() > 1 && self.pool_count() == 1
    }

    /// The work that the machine can do in a unit of time, as a multiple of the work of a core with one context. A load of 1 uses all of it.
    pub fn capacity(&self) -> f64 {
        f64::from(self.cores) * self.contexts.as_ref().map_or(1.0, ContextsConfig::most)
    }

    /// The simplest system of `cores`: one queue, first come first served, all cores all the time.
    pub fn single_queue(cores: u32) -> System {
        System {
            name: "single-queue".to_owned(),
            cores,
            cores_allocated: cores,
            contexts: None,
            pools: Pools::Equal(1),
            dispatch: DispatchConfig::Random,
            rebalance: RebalanceConfig::None,
            discipline: DisciplineConfig::Fcfs,
            allocation: AllocationConfig::Static,
            parallelism: ParallelismConfig::Serial,
            variant: Variant::Paper,
        }
    }
}
