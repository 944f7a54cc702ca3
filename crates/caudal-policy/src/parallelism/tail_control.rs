//! Tail-control: steal-first, and requests that turn out to be large lose their help.
//!
//! ## What it does
//! As steal-first. But a worker that has come to the end of its tasks first goes through the requests that run, and marks
//! those that have been processed for longer than the *large-request threshold* of the number of active requests. Tasks of
//! a marked request are not stolen any more; tasks that run go on, so the request comes down to fewer workers by itself.
//! ## When it helps
//! Requests of very different work and a target latency: when many are active, few large ones are given up so that many
//! small ones make it.
//! ## When it hurts
//! Requests that are given up take long. A table for another load or another mean of the work can be worse than none.
//! ## Parameters
//! `thresholds`: pairs of a number of active requests and the threshold from it on, as `caudal threshold` writes them; or
//! `target`: the table is worked out for the workload and the load at hand. `classes`: a `target` or `thresholds` of their own
//! for classes of requests, by name. `scale` (default 1): a factor of all thresholds. `age` (default 0): how old the
//! processing times are that a worker reads of other workers. `retune`: the table is worked out anew at intervals, from the
//! requests that completed recently. `lane`: so many workers take no tasks of requests that were processed for longer than
//! a cutoff, and admit before they steal. `span` (default false): the rest of a request's serial parts counts as if it
//! had been processed, if the host knows it.
//! ## Source
//! Li et al., PPoPP 2016, section 4.2 and Figure 5. *Active* are requests that have arrived and not completed. Re-tuning is
//! what section 5.4 proposes; `lane` and `span` are ours.
//! ## Example
//! `parallelism = { policy = "tail-control", target = "25ms" }`

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::{
    ClassTables, Parallelism, RunningRequest, Search, Size, StealFirst, Surroundings, ThresholdTable,
};
use crate::Picos;

/// Pairs of a number of active requests and the threshold from it on.
pub(super) type Thresholds = Vec<(u32, Picos)>;

/// The parameters in a policy file.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct TailControlConfig {
    /// The target latency from which the table of thresholds is computed when the system starts; 0 if `thresholds` gives the
    /// table.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_zero"))]
    pub target: Picos,
    /// Pairs of a number of active requests and the processing time above which a request is large when so many or more are
    /// active. With fewer than the first number, no request is large.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub thresholds: Thresholds,
    /// Classes of requests, by name, that have a target or thresholds of their own.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "BTreeMap::is_empty"))]
    pub classes: BTreeMap<String, ClassConfig>,
    /// The factor of all thresholds.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_one"))]
    pub scale: f64,
    /// Age of the other workers' processing times when a worker reads them.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_zero"))]
    pub age: Picos,
    /// How the table is computed again while the system runs; it stays as it is without this.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub retune: Option<RetuneConfig>,
    /// Workers that are kept for small requests.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub lane: Option<LaneConfig>,
    /// Whether the work left in a request's serial parts counts as if it had been processed.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "core::ops::Not::not"))]
    pub span: bool,
}

/// The target or the thresholds that a class of requests has of its own: one of the two.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct ClassConfig {
    /// Its target latency; 0 if it has thresholds.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_zero"))]
    pub target: Picos,
    /// Its thresholds.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub thresholds: Thresholds,
}

/// When the table is worked out anew, and of what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct RetuneConfig {
    /// Time from one computation of the table to the next.
    pub every: Picos,
    /// Age up to which completed requests count in the computation; a multiple of `every`.
    pub window: Picos,
    /// Whether the table is computed from the workload that is offered at that time, which only a simulator knows, instead of
    /// from completed requests.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "core::ops::Not::not"))]
    pub oracle: bool,
}

impl Default for RetuneConfig {
    fn default() -> Self {
        RetuneConfig {
            every: Picos::from_micros(1_000_000),
            window: Picos::from_micros(10_000_000),
            oracle: false,
        }
    }
}

/// Workers that are kept for small requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct LaneConfig {
    /// Number of workers that are kept.
    pub workers: u32,
    /// Processing time of a request above which these workers take none of its tasks.
    pub cutoff: Picos,
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
        TailControlConfig {
            target: Picos::ZERO,
            thresholds: Vec::new(),
            classes: BTreeMap::new(),
            scale: 1.0,
            age: Picos::ZERO,
            retune: None,
            lane: None,
            span: false,
        }
    }
}

impl TailControlConfig {
    /// The tables that the file has, for these classes; `None` if any of them is to be worked out for a target.
    pub fn tables(&self, classes: &[String]) -> Option<ClassTables> {
        let of = |class: &String| {
            let own = self.classes.get(class).map_or(&self.thresholds, |own| &own.thresholds);
            table(own)
        };
        let tables: Option<Vec<ThresholdTable>> = match self.classes.is_empty() {
            true => table(&self.thresholds).map(|one| [one].into()),
            false => classes.iter().map(of).collect(),
        };
        Some(ClassTables::new(tables?).scaled(self.scale))
    }

    /// The target of a class.
    pub fn target_of(&self, class: &str) -> Picos {
        self.classes.get(class).map_or(self.target, |own| own.target)
    }
}

/// The table that pairs stand for, if there are any.
fn table(thresholds: &[(u32, Picos)]) -> Option<ThresholdTable> {
    let last = thresholds.last()?.0;
    let limit = |active: u32| {
        let from = thresholds.partition_point(|pair| pair.0 <= active);
        from.checked_sub(1).map_or(Picos(u64::MAX), |at| thresholds[at].1)
    };
    Some(ThresholdTable::new((1..=last.max(1)).map(limit)))
}

/// See the [module](self). `SPAN` is the parameter `span`: what no host asks for costs none of them anything.
#[derive(Clone, Debug)]
pub struct TailControl<const SPAN: bool> {
    tables: ClassTables,
    age: Picos,
    kept: u32,
    cutoff: Picos,
}

impl<const SPAN: bool> TailControl<SPAN> {
    /// The policy with `tables` and the other parameters of `config`.
    pub fn new(tables: ClassTables, config: &TailControlConfig) -> TailControl<SPAN> {
        let (kept, cutoff) = config.lane.map_or((0, Picos::MAX), |lane| (lane.workers, lane.cutoff));
        TailControl { tables, age: config.age, kept, cutoff }
    }
}

impl<const SPAN: bool> Parallelism for TailControl<SPAN> {
    const SPANS: bool = SPAN;

    #[inline]
    fn on_exhausted(&self, _surroundings: Surroundings) -> Search {
        Search::Requests
    }

    #[inline]
    fn next(&self, surroundings: Surroundings) -> Search {
        match surroundings {
            // Who is kept for small requests begins them, before it helps those that have been begun.
            Surroundings { kept: true, queued: true, .. } => Search::Queue,
            surroundings => StealFirst.next(surroundings),
        }
    }

    #[inline]
    fn size(&self, active: u32, seen: RunningRequest) -> Size {
        let processed = Picos(seen.processed.0.saturating_add(seen.span_left.0));
        match () {
            () if processed > self.tables.at(seen.class, active) => Size::Large,
            () if seen.processed > self.cutoff => Size::Long,
            () => Size::Small,
        }
    }

    #[inline]
    fn kept(&self) -> u32 {
        self.kept
    }

    #[inline]
    fn age(&self) -> Picos {
        self.age
    }

    fn set_tables(&mut self, tables: ClassTables) {
        self.tables = tables;
    }
}
