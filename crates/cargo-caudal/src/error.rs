//! The errors of `cargo caudal`, each with the way to mend it. `main` and `link` print them by [`complain`] and end with its exit code.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use caudal_driver::{DriverError, say_error};

/// See the [module](self).
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(transparent)]
    Driver(#[from] DriverError),
    #[error("`{0}` is no command of cargo caudal")]
    UnknownCommand(String),
    #[error("`{0}` needs a value")]
    NoValue(&'static str),
    #[error("`{}` can not be run: {source}", .program.display())]
    Cargo { program: PathBuf, source: io::Error },
    #[error("`{} -vV` does not say {what}", .program.display())]
    Rustc { program: PathBuf, what: &'static str },
    #[error("there are no probes for `{0}`")]
    Target(String),
    #[error("the configuration names several targets: {0}")]
    SeveralTargets(String),
    #[error("`{key}` is a string, which cargo cuts at blanks, and `{flag}` has to be added to it")]
    Blank { key: String, flag: String },
    #[error("{place}: {message}")]
    Configuration { place: String, message: String },
    #[error("{}: {source}", .path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{} can not be made: {source}", .path.display())]
    Cache { path: PathBuf, source: io::Error },
    #[error("no module of `{}` got the pass", .0.display())]
    NoPass(PathBuf),
    #[error("{} got no pass: {}", counted(.modules.len()), .modules.join(", "))]
    ModulesWithoutPass { modules: Vec<String> },
}

impl Error {
    /// The way to mend it; empty where the error says it.
    pub(crate) fn help(&self) -> String {
        match self {
            Error::Driver(error) => error.help(),
            Error::UnknownCommand(_) => {
                "build, run, test and bench are; what makes no program, as check, clippy and doc, needs no probes and is cargo's own; \
                 see `cargo caudal --help`"
                    .to_owned()
            }
            Error::SeveralTargets(_) => "name the one that is meant by --target".to_owned(),
            Error::Blank { key, .. } => format!("make it a list: {key} = [\"…\", \"…\"]"),
            Error::Cache { .. } => "set XDG_CACHE_HOME to a directory that may be written to".to_owned(),
            Error::Target(_) => "x86-64 Linux is what there are probes for".to_owned(),
            Error::NoPass(_) => {
                "link-time optimisation did not run: is there an option of the linker in the flags \
                                 that turns it off?"
                    .to_owned()
            }
            Error::ModulesWithoutPass { .. } => {
                "they are machine code already: a wrapper of rustc, or a library from \
                                                 elsewhere, left -Clinker-plugin-lto out"
                    .to_owned()
            }
            _ => String::new(),
        }
    }
}

fn counted(modules: usize) -> String {
    if modules == 1 { "a module".to_owned() } else { format!("{modules} modules") }
}

/// Prints an error and the way to mend it on stderr. Returns the exit code for bad input, the same as that of the command `caudal`.
pub(crate) fn complain(name: &str, error: &Error) -> ExitCode {
    say_error(name, error, &error.help())
}
