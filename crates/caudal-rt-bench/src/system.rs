//! The systems that are measured, as the runtime takes them.
//! Contests and the dispatcher's benchmark start them.

use caudal_config::{ConfigError, File, Options, SystemHost, SystemPlan};

/// A system of one pool a core, from its policies as a file has them.
pub(crate) fn system(cores: usize, dispatch: &str, discipline: &str) -> Result<SystemPlan, ConfigError> {
    let text = format!(
        "[system]\ncores = {cores}\npools = \"per-core\"\ndispatch = {dispatch}\ndiscipline = {discipline}\n"
    );
    let options = Options { host: SystemHost::Runtime, ..Options::default() };
    let file = File::parse_with(&text, "bench.toml", &options)?;
    Ok(file.systems.into_iter().next().unwrap_or_else(|| unreachable!("the file has one system")))
}

/// Processor sharing with a quantum in nanoseconds.
pub(crate) fn processor_sharing(quantum_ns: u64) -> String {
    format!("{{ policy = \"processor-sharing\", quantum = \"{quantum_ns}ns\" }}")
}
