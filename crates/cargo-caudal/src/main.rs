//! `cargo caudal build|run|test|bench`: Rust programs with probes, by the stable compiler.
//!
//! ```text
//!  cargo caudal build --release --probe-mode=flag
//!    │  rustc -vV: which LLVM, which host?  the plugin, a clang and an lld of that version
//!    │  <cache>/cargo-<hash>/caudal-clang   a link to this program   (directory.rs)
//!    │                       link.rsp       what it is told there
//!    ▼
//!  cargo build --release --target <host>, with two more flags       (flags.rs, cargo_config.rs)
//!    │    -Clinker-plugin-lto               crates are compiled to bitcode
//!    │    -Clinker=.../caudal-clang         and linked by this program (link.rs)
//!    ▼
//!  caudal-clang ...: clang and lld with the pass, but for modules that it has compiled before (cache.rs); then what went in is held
//!    against what the pass reports
//! ```
//!
//! The pass runs at the link, where all of the program is there. With `--target`, flags do not reach build scripts and
//! procedural macros. The hash is of the plugin and its options: a change of either is another flag, and cargo builds anew.

mod archive;
mod arguments;
mod cache;
mod cargo_config;
mod directory;
mod error;
mod flags;
mod libraries;
mod link;
mod rustc;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};

use caudal_driver::report::Summary;
use caudal_driver::toolchain::{self, Tool};
use caudal_driver::{OPTIONS_HELP, Plugin, Report, exit_code, say};

use crate::arguments::{Arguments, Parsed};
use crate::cargo_config::Configuration;
use crate::directory::Directory;
use crate::error::Error;
use crate::flags::Flags;
use crate::rustc::Rustc;

const NAME: &str = "cargo caudal";

fn main() -> ExitCode {
    let mut args = std::env::args_os();
    let program = PathBuf::from(args.next().unwrap_or_default());
    let args: Vec<OsString> = args.collect();
    if program.file_name() == Some(directory::LINKER.as_ref()) {
        return link::main(&program, args);
    }
    match run(args) {
        Ok(code) => code,
        Err(error) => error::complain(NAME, &error),
    }
}

fn run(args: Vec<OsString>) -> Result<ExitCode, Error> {
    match Arguments::parse(args)? {
        Parsed::Help => {
            println!("{}\n{OPTIONS_HELP}", arguments::HELP);
            Ok(ExitCode::SUCCESS)
        }
        Parsed::Version => {
            println!("cargo-caudal {}", env!("CARGO_PKG_VERSION"));
            Ok(ExitCode::SUCCESS)
        }
        Parsed::Call(arguments) => call_cargo(&arguments),
    }
}

fn call_cargo(arguments: &Arguments) -> Result<ExitCode, Error> {
    let rustc = Rustc::ask()?;
    let configuration = Configuration::read(&arguments.configurations)?;
    let target =
        match arguments.target.clone().map_or_else(|| configuration.target(), |target| Ok(Some(target)))? {
            Some(target) if target != "host-tuple" => target,
            _ => rustc.host.clone(),
        };
    rustc::check_target(&target)?;
    let plugin = Plugin::find(arguments.own.plugin.as_deref(), Path::new("rustc"), rustc.llvm_major)?;
    let clang = clang_of(arguments.own.clang.as_deref(), &plugin)?;
    let lld = toolchain::lld(&clang, None)?;
    let directory = Directory::make(&arguments.own, &plugin, &clang, &lld)?;
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.arg(&arguments.command).args(["--target", &target]);
    Flags::of_user(&configuration, &target)?.append(&directory.flags(), &mut cargo)?;
    cargo.args(arguments.profile_settings()).args(&arguments.rest);
    let status = if arguments.own.probes.report == Report::Words {
        with_summary(&mut cargo)?
    } else {
        status_of(&mut cargo)?
    };
    if status.success() && arguments.command == "build" && !arguments.own.probes.off && !arguments.is_quiet()
    {
        for note in libraries::notes(arguments, &target) {
            say(&format!("{NAME}: {note}\n"));
        }
    }
    Ok(exit_code(status))
}

/// A clang of the plugin's version, as the linker's driver.
fn clang_of(given: Option<&Path>, plugin: &Plugin) -> Result<Tool, Error> {
    if given.is_none() {
        let named = PathBuf::from(format!("clang-{}", plugin.major));
        if let Ok(clang) = toolchain::clang(Some(&named), None) {
            return Ok(clang);
        }
    }
    let clang = toolchain::clang(given, Some(&plugin.path))?;
    // The same check again, with clang's name in what it says.
    Plugin::find(Some(&plugin.path), &clang.path, clang.major)?;
    Ok(clang)
}

fn status_of(cargo: &mut Command) -> Result<ExitStatus, Error> {
    cargo.status().map_err(|source| Error::Cargo { program: cargo.get_program().into(), source })
}

/// The report of the links of this call, on stderr.
fn with_summary(cargo: &mut Command) -> Result<ExitStatus, Error> {
    let place = caudal_driver::Place::of_this_call()?;
    let file = place.path().join("report.jsonl");
    let status = status_of(cargo.env(directory::REPORT_VARIABLE, &file))?;
    match Summary::read(&file)? {
        Some(summary) => say(&summary.in_words(NAME)),
        None if status.success() => {
            say(&format!(
                "{NAME}: nothing was linked anew, so there is nothing to report; a change of a source or an option links anew\n"
            ));
        }
        None => {}
    }
    Ok(status)
}
