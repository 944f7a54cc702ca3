//! The parameter of a system that a plan tunes (a quantum, an interval or a range), its grid of values, and what a plan says of the
//! tuning. `tune` tries the values of the grid; `lengths` sets the parameter for long services. Pure.

use std::sync::Arc;

use caudal_config::{System, SystemPlan};
use caudal_policy::Picos;
use caudal_policy::allocation::AllocationConfig;
use caudal_policy::discipline::DisciplineConfig;
use serde::{Deserialize, Serialize};

use crate::candidate::Candidate;

/// The tuning of a system's parameter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tuning {
    /// The parameter: `quantum`, `delay range`, `utilization range` or `lanes`.
    pub parameter: &'static str,
    /// The value as published.
    pub published: String,
    /// The one that was chosen.
    pub chosen: String,
    /// All that were tried, in the order in which they were.
    pub tried: Vec<Tried>,
}

/// A value and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// The value.
    pub value: String,
    /// The load, or the cores, at which it was tried.
    pub at: f64,
    /// The worst target's statistic over its limit: smaller is better; none in overload.
    pub score: Option<f64>,
}

/// Quanta that are tried first, in ns.
const QUANTA_NS: [u64; 6] = [500, 1_000, 2_000, 5_000, 10_000, 20_000];

/// Bands of the mean queueing delay, in ns.
const DELAYS_NS: [(u64, u64); 5] = [(250, 500), (500, 1_000), (1_000, 2_000), (2_000, 4_000), (4_000, 8_000)];

/// Bands of the utilization.
const UTILIZATIONS: [(f64, f64); 4] = [(0.4, 0.6), (0.5, 0.75), (0.75, 0.95), (0.85, 0.98)];

/// The key of that interval, which stands behind those of a setting.
pub(crate) const INTERVAL: &str = "allocation.interval";

/// A setting of the tunable parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Setting {
    Quantum(Picos),
    Delay(Picos, Picos),
    Utilization(f64, f64),
}

impl Setting {
    /// The setting of `system` that can be tuned, if it has one.
    pub(crate) fn of(system: &System) -> Option<Setting> {
        match (system.discipline, system.allocation) {
            (DisciplineConfig::ProcessorSharing(config), _) if config.quantum.0 > 0 => {
                Some(Setting::Quantum(config.quantum))
            }
            (DisciplineConfig::Las(config), _) if config.quantum.0 > 0 => {
                Some(Setting::Quantum(config.quantum))
            }
            (_, AllocationConfig::DelayRange(config)) => Some(Setting::Delay(config.low, config.high)),
            (_, AllocationConfig::UtilizationRange(config)) => {
                Some(Setting::Utilization(config.low, config.high))
            }
            _ => None,
        }
    }

    pub(crate) fn parameter(self) -> &'static str {
        match self {
            Setting::Quantum(_) => "quantum",
            Setting::Delay(..) => "delay range",
            Setting::Utilization(..) => "utilization range",
        }
    }

    /// The grid of this kind, with the setting itself. Around a quantum beyond it there is another one.
    pub(crate) fn grid(self) -> Vec<Setting> {
        let ns = Picos::from_nanos;
        let mut grid: Vec<Setting> = match self {
            Setting::Quantum(own) => {
                let longest = QUANTA_NS[QUANTA_NS.len() - 1];
                let times = if own > ns(longest) { own.0 / ns(QUANTA_NS[2]).0 } else { 1 };
                QUANTA_NS.iter().map(|&quantum| Setting::Quantum(ns(quantum * times))).collect()
            }
            Setting::Delay(..) => {
                DELAYS_NS.iter().map(|&(low, high)| Setting::Delay(ns(low), ns(high))).collect()
            }
            Setting::Utilization(..) => {
                UTILIZATIONS.iter().map(|&(low, high)| Setting::Utilization(low, high)).collect()
            }
        };
        if !grid.contains(&self) {
            grid.push(self);
        }
        grid
    }

    /// Quanta between this one and those next to it that were tried: geometric means, rounded to 10 ns.
    pub(crate) fn between(self, tried: &[Setting]) -> Vec<Setting> {
        let Setting::Quantum(own) = self else { return Vec::new() };
        let others = tried.iter().filter_map(|setting| match setting {
            Setting::Quantum(quantum) => Some(quantum.0),
            _ => None,
        });
        let below = others.clone().filter(|&other| other < own.0).max();
        let above = others.filter(|&other| other > own.0).min();
        let mean = |other: u64| {
            let mean_ps = (own.0 as f64 * other as f64).sqrt();
            Setting::Quantum(Picos((mean_ps / 1e4).round() as u64 * 10_000))
        };
        [below, above].into_iter().flatten().map(mean).filter(|setting| !tried.contains(setting)).collect()
    }

    pub(crate) fn apply(self, candidate: &Candidate) -> Candidate {
        let mut plan = SystemPlan::clone(&candidate.plan);
        let tuned = match (self, &mut plan.system.discipline, &mut plan.system.allocation) {
            (Setting::Quantum(quantum), DisciplineConfig::ProcessorSharing(config), _) => {
                config.quantum = quantum;
                vec![("discipline.quantum".to_owned(), quantum.to_string().into())]
            }
            (Setting::Quantum(quantum), DisciplineConfig::Las(config), _) => {
                config.quantum = quantum;
                vec![("discipline.quantum".to_owned(), quantum.to_string().into())]
            }
            (Setting::Delay(low, high), _, AllocationConfig::DelayRange(config)) => {
                (config.low, config.high) = (low, high);
                range(low.to_string().into(), high.to_string().into())
            }
            (Setting::Utilization(low, high), _, AllocationConfig::UtilizationRange(config)) => {
                (config.low, config.high) = (low, high);
                range(low.into(), high.into())
            }
            _ => Vec::new(),
        };
        let interval = candidate.tuned.iter().filter(|(key, _)| key == INTERVAL).cloned();
        let tuned = tuned.into_iter().chain(interval).collect();
        Candidate { plan: Arc::new(plan), tuned, ..candidate.clone() }
    }
}

impl std::fmt::Display for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Setting::Quantum(quantum) => write!(f, "{quantum}"),
            Setting::Delay(low, high) => write!(f, "{low} to {high}"),
            Setting::Utilization(low, high) => write!(f, "{low} to {high}"),
        }
    }
}

fn range(low: serde_json::Value, high: serde_json::Value) -> Vec<(String, serde_json::Value)> {
    vec![("allocation.low".to_owned(), low), ("allocation.high".to_owned(), high)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quantum(ns: u64) -> Setting {
        Setting::Quantum(Picos::from_nanos(ns))
    }

    #[test]
    fn the_published_quantum_is_always_tried() {
        assert_eq!(quantum(2_000).grid().len(), 6);
        assert!(quantum(15_000).grid().contains(&quantum(15_000)));
    }

    #[test]
    fn neighbours_lie_between_on_a_logarithmic_scale() {
        let grid = quantum(2_000).grid();
        assert_eq!(quantum(2_000).between(&grid), [quantum(1_410), quantum(3_160)]);
        assert_eq!(quantum(500).between(&grid), [quantum(710)], "nothing is tried beyond the grid");
        let band = Setting::Utilization(0.5, 0.75);
        assert_eq!(band.between(&band.grid()), []);
    }
}
