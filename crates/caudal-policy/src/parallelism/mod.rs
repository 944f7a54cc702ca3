//! Parallelism: a request forks inside: who may take its tasks, and when is a new request admitted?
//!
//! For now no request forks: [`thresholds`] is the part that is worked out before a service runs.

pub mod thresholds;

/// The parallelism policy as a policy file names it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(tag = "policy", rename_all = "kebab-case", deny_unknown_fields))]
pub enum ParallelismConfig {
    /// A request is one task.
    #[default]
    Serial,
}
