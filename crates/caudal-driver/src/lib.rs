//! Compilers that put probes in: `caudal cc` and `caudal c++`, drop-ins for clang, and what `cargo caudal` shares with them.
//!
//! A call goes through these steps, a file each:
//!
//! ```text
//! words      response files replaced by what is in them
//! probes     our options taken out, the rest is clang's
//! call       what clang's part of the call does: compile? link? what, and with link-time optimisation?
//! jobs       what clang itself says of the link, which has options from elsewhere in it
//! toolchain  clang and lld, their versions
//! plugin     the plugin for that version of LLVM
//! beside     a directory with the plugin and its options, named by a hash of both
//! compose    clang's command line
//! version_script  what an executable shows, the probe library's names among it
//! linked     what came out of the link: is it what was asked for?
//! report     what the pass wrote, in words
//! ```
//!
//! The plugin reads its options from a file beside it, for compilations as for links: an `-mllvm` option would be refused by
//! clang's assembler, which gets it too and loads no plugin.

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
