//! The program of the benchmarks of the runtime, which `scripts/bench-rt` runs as `benches/README.md` says.

use std::process::ExitCode;

use caudal_rt_bench::{contest, dispatcher, fidelity, scan, tiny_quanta};
use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(about, version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs a schedule of requests and writes their trace: a contestant of benches/rivals
    Contest(contest::Contest),
    /// How many requests a second the dispatcher places
    Dispatcher(dispatcher::DispatcherBench),
    /// Holds the simulator, with the costs of this machine, against measured runs of the runtime
    Fidelity(fidelity::Fidelity),
    /// Gets beside scans on LevelDB, with probes and without: the programs are built by scripts/bench-rt-scan
    Scan(scan::Scan),
    /// Tiny Quanta's Figures 5 to 12 as far as one worker shows them: measured, and simulated with this machine's costs
    TinyQuanta(tiny_quanta::TinyQuanta),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Contest(contest) => contest.run(),
        Command::Dispatcher(bench) => bench.run(),
        Command::Fidelity(fidelity) => fidelity.run(),
        Command::Scan(scan) => scan.run(),
        Command::TinyQuanta(figures) => figures.run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
