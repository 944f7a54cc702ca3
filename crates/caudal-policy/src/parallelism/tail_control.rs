//! Tail-control: steal-first, and requests that turn out to be large lose their help.
//!
//! ## What it does
//! As steal-first. But a worker that has come to the end of its tasks first goes through the requests that run, and marks
//! those that have been processed for longer than the *large-request threshold* of the number of active requests. Tasks of
//! a marked request are not stolen any more; those that run go on, so that it comes down to fewer workers by itself.
//! ## When it helps
//! Requests of very different work and a target latency: when many are active, few large ones are given up so that many
//! small ones make it.
//! ## When it hurts
//! Requests that are given up take long. A table for another load or another mean of the work can be worse than none.
//! ## Parameters
//! `thresholds`: pairs of a number of active requests and the threshold from it on, as `caudal threshold` writes them; or
//! `target`: the table is worked out for the workload and the load at hand. `age` (default 0): how old what a worker
//! reads of the others' processing times is. `scale` (default 1): what the thresholds are multiplied by.
//! ## Source
//! Li et al., PPoPP 2016, section 4.2 and Figure 5. *Active* are requests that have arrived and not completed.
//! ## Example
//! `parallelism = { policy = "tail-control", target = "25ms" }`

use alloc::vec::Vec;

use super::{Around, Look, Parallelism, StealFirst, ThresholdTable};
use crate::Picos;

/// What a policy file says.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct TailControlConfig {
    /// The target latency for which the table is worked out where the system runs; 0 if there is a table.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_zero"))]
    pub target: Picos,
    /// Pairs of a number of active requests and the threshold from it on; before the first, no request is large.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub thresholds: Vec<(u32, Picos)>,
    /// What thresholds are multiplied by.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_one"))]
    pub scale: f64,
    /// How old what a worker reads of the others' processing times is.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_zero"))]
    pub age: Picos,
}

#[cfg(feature = "serde")]
fn is_zero(span: &Picos) -> bool {
    *span == Picos::ZERO
}

#[cfg(feature = "serde")]
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_one(factor: &f64) -> bool {
    *factor == 1.0
}

impl Default for TailControlConfig {
    fn default() -> Self {
        TailControlConfig { target: Picos::ZERO, thresholds: Vec::new(), scale: 1.0, age: Picos::ZERO }
    }
}

impl TailControlConfig {
    /// The table that the file has; `None` if it is to be worked out for a target.
    pub fn table(&self) -> Option<ThresholdTable> {
        if self.thresholds.is_empty() {
            return None;
        }
        let last = self.thresholds.last().map_or(0, |pair| pair.0);
        let limit = |active: u32| {
            let from = self.thresholds.partition_point(|pair| pair.0 <= active);
            from.checked_sub(1).map_or(Picos(u64::MAX), |at| self.thresholds[at].1)
        };
        Some(ThresholdTable::new((1..=last.max(1)).map(limit)).scaled(self.scale))
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct TailControl {
    table: ThresholdTable,
    age: Picos,
}

impl TailControl {
    /// The policy with `table`, whose workers read processing times that are `age` old.
    pub fn new(table: ThresholdTable, age: Picos) -> TailControl {
        TailControl { table, age }
    }
}

impl Parallelism for TailControl {
    #[inline]
    fn on_exhausted(&self, _around: Around) -> Look {
        Look::Requests
    }

    #[inline]
    fn next(&self, around: Around) -> Look {
        StealFirst.next(around)
    }

    #[inline]
    fn is_large(&self, active: u32, processed: Picos) -> bool {
        processed > self.table.at(active)
    }

    #[inline]
    fn age(&self) -> Picos {
        self.age
    }
}
