//! The combinations and values that are refused, in one table. The reader of a file refuses them, and the docs print them. `file` and
//! `costs_file` judge a system by [`check`] as soon as it is read; the tuner asks it for each system that it makes up. Pure functions.

mod broken;
mod rules;

use std::ops::RangeInclusive;

use caudal_policy::Picos;

pub(crate) use self::broken::unbuildable;
use self::rules::RULES;
use crate::{ContextsConfig, Costs, System};

/// The host that is to run a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SystemHost {
    /// Virtual time: it also runs systems that can not be built.
    Simulator,
    /// Real cores.
    Runtime,
}

/// A combination or a value that is refused.
#[derive(Debug)]
pub struct Rule {
    /// Its name, by which tests refer to it.
    pub name: &'static str,
    /// The refused combination or value, as the end of "refused: …".
    pub refused: &'static str,
    /// The reason.
    pub why: &'static str,
    /// The edit that mends it.
    pub instead: &'static str,
    /// Whether only the runtime refuses it; else both hosts do.
    pub runtime_only: bool,
    /// The keys that break it, the most telling one first: `system.rebalance`.
    pub keys: &'static [&'static str],
    broken: fn(&System, &Costs) -> bool,
}

/// A rule that a system breaks.
#[derive(Clone, Debug)]
pub struct Incoherence {
    /// The rule.
    pub rule: &'static Rule,
    /// The part of the rule that is broken here, and the edit that mends it, where the rule has several parts.
    fault: Option<String>,
}

impl Incoherence {
    /// The edit that mends it.
    pub fn instead(&self) -> &str {
        self.fault.as_deref().unwrap_or(self.rule.instead)
    }
}

impl std::fmt::Display for Incoherence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}; {}", self.rule.refused, self.rule.why, self.instead())
    }
}

/// Every rule, in the order in which they are judged.
pub fn table() -> &'static [Rule] {
    RULES
}

/// The rules that a system breaks on `host`; empty if it breaks none.
pub fn check(system: &System, costs: &Costs, host: SystemHost) -> Vec<Incoherence> {
    let judged = |rule: &&Rule| host == SystemHost::Runtime || !rule.runtime_only;
    let broken = |rule: &&'static Rule| (rule.broken)(system, costs);
    let incoherence = |rule: &'static Rule| {
        let contexts = system.contexts.as_ref().filter(|_| rule.name == rules::CONTEXTS);
        Incoherence { rule, fault: contexts.and_then(ContextsConfig::fault) }
    };
    RULES.iter().filter(judged).filter(broken).map(incoherence).collect()
}

/// The table of [`table`] as Markdown.
pub fn table_markdown() -> String {
    let mut text = String::from("| refused | because | instead | by |\n| --- | --- | --- | --- |\n");
    for rule in RULES {
        let by = if rule.runtime_only { "runtime" } else { "both" };
        text += &format!("| {} | {} | {} | {by} |\n", rule.refused, rule.why, rule.instead);
    }
    text
}

/// The shortest quantum: below it a slice is shorter than the switch that ends it.
pub const QUANTUM_MIN: Picos = Picos::from_nanos(100);
/// The shortest quantum of the runtime.
pub const RUNTIME_QUANTUM_MIN: Picos = Picos::from_nanos(500);
/// The longest quantum of a runtime; a longer one is taken for a mistake in the unit.
pub const RUNTIME_QUANTUM_MAX: Picos = Picos::from_micros(100_000);
/// The longest time that a policy may be given.
pub const TIME_MAX: Picos = Picos(3_600 * 1_000_000_000_000);
/// The highest cost of a single action.
pub const COST_MAX: Picos = Picos(1_000_000_000_000);
/// The factors by which instrumentation may stretch service times.
pub const PROBE_FACTORS: RangeInclusive<f64> = 1.0..=100.0;
