//! Errors of the start of a runtime. The builder returns them.

use caudal_config::ConfigError;

crate::base::text::debug_is_text!(StartError);

/// A runtime that can not start.
#[derive(thiserror::Error)]
pub enum StartError {
    /// The policy's file can not be read, or says what the runtime can not do.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The file has more systems than one, or none.
    #[error(
        "{path}: a runtime runs one system, and the file has {systems}; leave one `[system]` table, without swept keys"
    )]
    Systems {
        /// The file.
        path: String,
        /// How many it has.
        systems: usize,
    },
    /// More threads than processors.
    #[error(
        "system.cores = {workers}: {workers} workers{and_dispatcher} need a core each, and this process may use {available}; write \
         fewer `cores`, plan anew with `caudal plan --runnable --workers {fits}`, or override with `Builder::workers({fits})`"
    )]
    Cores {
        /// Workers that were asked for.
        workers: usize,
        /// " and a dispatcher", or nothing.
        and_dispatcher: &'static str,
        /// Processors that the process may use.
        available: usize,
        /// Workers for which there would be room.
        fits: usize,
    },
    /// Other runtimes of the process have the cores.
    #[error(
        "system.cores = {workers}: {workers} workers{and_dispatcher} need a core each, and of the {available} that this process may use, \
         {taken} are those of other runtimes of this process; write fewer `cores`, end the others first, or share cores on purpose \
         (`Pinning::These`, `Pinning::None`)"
    )]
    CoresTaken {
        /// Workers that were asked for.
        workers: usize,
        /// " and a dispatcher", or nothing.
        and_dispatcher: &'static str,
        /// Processors that the process may use.
        available: usize,
        /// The ones among them that other runtimes have.
        taken: usize,
    },
    /// A setting out of its range.
    #[error("{name} = {value}: {instead}")]
    Setting {
        /// The setting of the [`Builder`](crate::Builder).
        name: &'static str,
        /// Its value.
        value: String,
        /// Advice: a right value.
        instead: &'static str,
    },
    /// Compiled with `panic = "abort"`.
    #[error(
        "this program is compiled with panic = \"abort\", so a panic of one request would end all of them; remove it from the Cargo profile"
    )]
    PanicAbort,
    /// The processor's time-stamp counter does not run evenly.
    #[error(
        "the time-stamp counter of this processor stops or changes its rate ({missing} is missing in /proc/cpuinfo)"
    )]
    Clock {
        /// The flags that are missing.
        missing: &'static str,
    },
    /// Stacks of that size, or so many, can not be had.
    #[error(transparent)]
    Stacks(#[from] caudal_fiber::stack::StackError),
    /// The operating system refused something.
    #[error("{what}: {source}")]
    System {
        /// The thing that it refused.
        what: &'static str,
        /// Its reason.
        source: std::io::Error,
    },
    /// This process was forked from one whose runtimes had threads, which do not exist here, and may have left things half done.
    #[error(
        "this process was forked from one with a running runtime, whose threads do not exist here and may have left things half done: \
         fork before the first runtime starts or after the last has ended, or start the runtime in a program that the child executes"
    )]
    Forked,
}
