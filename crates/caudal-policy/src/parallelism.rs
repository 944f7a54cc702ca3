//! What a request that forks inside does with its tasks. For now no request forks.

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
