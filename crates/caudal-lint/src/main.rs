//! `caudal-lint [WORKSPACE]`: what the checks find in the crates and pages of a workspace, and which of it is new. Called by `make lint`.
//!
//! Exit code 0: as listed in `crates/caudal-lint/known.txt`; 1: something is new, or gone and still listed; 2: the source cannot be read.

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let workspace = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("."), PathBuf::from);
    match caudal_lint::check(&workspace) {
        Ok(faults) if faults.is_empty() => ExitCode::SUCCESS,
        Ok(faults) => {
            faults.iter().for_each(|fault| eprintln!("{fault}"));
            ExitCode::from(1)
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
