//! Compilers that put probes in: `caudal cc` and `caudal c++`, drop-ins for clang, and what `cargo caudal` shares with them.
//!
//! A call goes through these steps, a file each:
//!
//! ```text
//! words      response files replaced by their contents
//! probes     our own options taken out; the rest is for clang
//! call       what the call asks of clang: does it compile or link, which files, with link-time optimisation?
//! jobs       the link as clang itself plans it, with options from other places than the command line
//! toolchain  clang and lld, their versions
//! plugin     the plugin for that version of LLVM
//! beside     a directory with the plugin and its options, named by a hash of both
//! compose    clang's command line
//! version_script  the symbols that an executable exports, with those of the probe library
//! linked     a check of the linked file: is it what was asked for?
//! report     the report of the pass, in words
//! ```
//!
//! The plugin reads its options from a file beside it, both when compiling and when linking. An `-mllvm` option would also be given to
//! clang's assembler, which loads no plugin and would refuse it.

mod beside;
pub mod call;
pub mod cc;
mod compose;
mod error;
mod help;
pub mod jobs;
mod library;
mod linked;
mod majors;
mod plugin;
mod probes;
pub mod report;
mod run;
pub mod toolchain;
mod version_script;
mod words;

pub use beside::{Beside, Place, cache_directory, digest};
pub use compose::{Archive, Setting, compose};
pub use error::DriverError;
pub use help::OPTIONS_HELP;
pub use library::{Library, probe_library};
pub use plugin::Plugin;
pub use probes::{Mode, Own, Probes, Report, Tls};
pub use run::{complain, exit_code, replace_process, run_clang, say, say_error};
pub use version_script::show_probes;
pub use words::{Expanded, expand, response_file};
