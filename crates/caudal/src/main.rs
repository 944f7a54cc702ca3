//! The program `caudal`: from a measured service to the policy that keeps its tail short. `main` parses the arguments, runs the
//! subcommand (`commands`) and turns its result into an exit code; the work is done by libraries below.
//!
//! stdout is data, stderr is progress and errors. Exit codes: see [`exit_code`].

#[macro_use]
mod out;

mod answer;
mod commands;
mod exit;
mod exit_code;
mod global;
mod numbers;
mod progress;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    if let Some(code) = commands::as_compiler(std::env::args_os()) {
        return code;
    }
    let cli = commands::Cli::parse();
    global::install_error_style();
    let global = match global::Global::new(&cli.shared) {
        Ok(global) => global,
        Err(error) => return exit::report(&error),
    };
    match commands::run(&cli.command, &global) {
        Ok(code) => code,
        Err(error) => exit::report(&error),
    }
}
