//! The key `contexts` of `[system]`: how many hardware contexts share a core, and how fast a core is with each number of them active.
//! `plan` reads it from a file, `system` holds it, and the simulator's loop for contexts asks it for speeds. Pure.

use caudal_policy::contexts::LoadAdaptationConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most contexts of a core.
pub const CONTEXTS_MAX: u32 = 16;
/// Usual work of a core by its active contexts, over that of one context: no source, a plausible SMT core.
const THROUGHPUT: [(u32, f64); 4] = [(1, 1.0), (2, 1.6), (4, 2.3), (8, 2.8)];

/// Hardware contexts of every core; each is a worker. Under `pools = "per-core"`, those of a core share a queue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContextsConfig {
    /// Contexts of a core, 1 to 16.
    pub count: u32,
    /// Work of a core with 1, 2, ... active contexts over its work with one: as many numbers as contexts, from 1 on,
    /// never falling, and never more than there are contexts. Without it, 1, 1.6, 2.3 and 2.8 at 1, 2, 4 and 8 contexts, and
    /// straight lines between.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub throughput: Vec<f64>,
    /// Virtual contexts of a core: requests that can have begun at a time; further ones wait before the first lane of their
    /// pool. A pool of several cores has those of all of them, a pool that is a part of a core has its share, rounded up, and
    /// at least as many as contexts. Without it, any number.
    #[serde(rename = "virtual", default, skip_serializing_if = "Option::is_none")]
    pub virtual_contexts: Option<u32>,
    /// How many contexts are active at which load; all of them without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adaptation: Option<LoadAdaptationConfig>,
}

impl ContextsConfig {
    /// So many contexts at the usual speeds, without limit and adaptation.
    pub fn of(count: u32) -> ContextsConfig {
        ContextsConfig { count, ..ContextsConfig::default() }
    }

    /// By active contexts from 1 on: what a core does, of what it does with one.
    pub fn speeds(&self) -> Vec<f64> {
        if self.throughput.is_empty() {
            (1..=self.count).map(usual).collect()
        } else {
            self.throughput.clone()
        }
    }

    /// Work that a core does with all contexts active, of what it does with one.
    pub fn most(&self) -> f64 {
        self.speeds().last().copied().unwrap_or(1.0)
    }

    /// Requests that a pool of so many contexts can have begun at a time, if that is limited.
    pub fn virtual_of(&self, contexts: u32) -> Option<u32> {
        let share =
            |most: u32| (u64::from(most) * u64::from(contexts)).div_ceil(u64::from(self.count.max(1)));
        self.virtual_contexts.map(|most| u32::try_from(share(most)).unwrap_or(u32::MAX).max(contexts))
    }

    /// The first fault: the value that was given, and the values that are allowed.
    pub fn fault(&self) -> Option<String> {
        let speeds = self.speeds();
        if !(1..=CONTEXTS_MAX).contains(&self.count) {
            return Some(format!("`count` is {}; write a number from 1 to {CONTEXTS_MAX}", self.count));
        }
        let alone = |(at, &speed): (usize, &f64)| speed <= (at + 1) as f64;
        let sound = speeds.len() == self.count as usize
            && speeds[0] == 1.0
            && speeds.windows(2).all(|pair| pair[0] <= pair[1])
            && speeds.iter().enumerate().all(alone);
        if !sound {
            return Some(format!(
                "`throughput` is {:?}; write {} numbers, one for each count of active contexts: 1 first, none below the one before, \
                 none above its count",
                self.throughput, self.count
            ));
        }
        if let Some(most) = self.virtual_contexts.filter(|&most| most < self.count) {
            return Some(format!("`virtual` is {most}; write at least `count`, which is {}", self.count));
        }
        match &self.adaptation {
            Some(adaptation) if adaptation.fault().is_some() || adaptation.most() > self.count => {
                Some(format!(
                    "`adaptation` has the contexts {:?} and the break-even rates {:?}; write contexts that rise to at most `count`, which is \
                 {}, a rate between each two of them that rises, and a window above 0",
                    &adaptation.contexts[..],
                    &adaptation.break_even_per_s[..],
                    self.count
                ))
            }
            _ => None,
        }
    }
}

/// Between two known counts lies a straight line; beyond the last there is nothing to gain.
fn usual(active: u32) -> f64 {
    let above = THROUGHPUT.iter().find(|(count, _)| *count >= active);
    let below = THROUGHPUT.iter().rev().find(|(count, _)| *count <= active);
    match (below, above) {
        (Some(&(low, from)), Some(&(high, to))) if high > low => {
            from + (to - from) * f64::from(active - low) / f64::from(high - low)
        }
        (Some(&(_, speed)), _) | (None, Some(&(_, speed))) => speed,
        (None, None) => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use caudal_policy::{List, Picos};

    use super::*;

    #[test]
    fn the_usual_speeds_are_those_of_the_table() {
        let speeds = ContextsConfig::of(8).speeds();
        assert_eq!([speeds[0], speeds[1], speeds[3], speeds[7]], [1.0, 1.6, 2.3, 2.8]);
        assert!((speeds[2] - 1.95).abs() < 1e-12, "between 2 and 4");
        assert_eq!(ContextsConfig::of(16).most(), 2.8);
        assert!((1..=CONTEXTS_MAX).all(|count| ContextsConfig::of(count).fault().is_none()));
    }

    #[test]
    fn virtual_contexts_are_shared_out_with_contexts() {
        let of = |most: u32, contexts: u32| {
            ContextsConfig { virtual_contexts: Some(most), ..ContextsConfig::of(8) }.virtual_of(contexts)
        };
        assert_eq!(of(32, 8), Some(32), "a core");
        assert_eq!(of(32, 16 * 8), Some(16 * 32), "a pool of 16 cores");
        assert_eq!([of(32, 1), of(33, 1), of(8, 1)], [4, 5, 1].map(Some), "a pool of one context");
        assert_eq!(of(10, 3), Some(4), "three of eight");
        assert_eq!(of(u32::MAX, 4096), Some(u32::MAX));
        assert_eq!(ContextsConfig::of(8).virtual_of(8), None);
    }

    #[test]
    fn what_no_core_does_is_at_fault() {
        let with =
            |throughput: &[f64]| ContextsConfig { throughput: throughput.to_vec(), ..ContextsConfig::of(2) };
        assert!(with(&[1.0, 1.3]).fault().is_none());
        for wrong in [&[1.0][..], &[0.9, 1.3], &[1.0, 0.9], &[1.0, 2.1], &[1.0, f64::NAN]] {
            assert!(with(wrong).fault().is_some(), "{wrong:?}");
        }
        assert!(ContextsConfig { virtual_contexts: Some(1), ..ContextsConfig::of(2) }.fault().is_some());
        let adaptation = LoadAdaptationConfig {
            window: Picos::from_micros(5_000),
            contexts: List::new(&[1, 4]).unwrap(),
            break_even_per_s: List::new(&[1000]).unwrap(),
        };
        assert!(ContextsConfig { adaptation: Some(adaptation), ..ContextsConfig::of(2) }.fault().is_some());
        assert!(ContextsConfig { adaptation: Some(adaptation), ..ContextsConfig::of(4) }.fault().is_none());
    }
}
