//! The subcommands of `caudal`, one file each, and the parser of their arguments. The program's `main` parses with [`Cli`] and then calls
//! [`run`], which hands the arguments on to the file of the subcommand.

mod arrives;
mod break_even;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod calibrate;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod cc;
mod check;
mod compare;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod doctor;
mod forks;
mod input;
mod journal;
mod lanes;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod load;
mod plan;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod probes;
#[cfg(target_os = "linux")]
mod record;
mod report;
mod reproduce;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod serve;
mod sim;
mod systems;
mod threshold;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod top;
mod workload;

use std::process::ExitCode;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
use caudal_driver::cc::Language;
use clap::{Parser, Subcommand};

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(crate) use cc::as_compiler;

use crate::exit;
use crate::global::{Global, Shared};

/// From a measured service to the scheduling policy that keeps its tail short
#[derive(Parser, Debug)]
#[command(name = "caudal", version, max_term_width = 100, after_help = exit::HELP)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) shared: Shared,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Simulate a file; lists in it are swept
    Sim(sim::SimArgs),
    /// Find the system that carries the most load, or needs the fewest cores, within latency targets
    Plan(plan::PlanArgs),
    /// Find lanes for a service: where they end, and how many servers each is entitled to
    Lanes(lanes::LanesArgs),
    /// Find how many hardware contexts of a core are best at which rate
    BreakEven(break_even::BreakEvenArgs),
    /// Find from how much work on tail-control gives a parallel request up, by the number of active requests
    Threshold(threshold::ThresholdArgs),
    /// Hold two systems against each other on the same requests
    Compare(compare::CompareArgs),
    /// Check a file without simulating it
    Check(check::CheckArgs),
    /// Look at a distribution of service times
    Workload(workload::WorkloadArgs),
    /// Measure what functions of a running program take, by bpftrace
    #[cfg(target_os = "linux")]
    Record(record::RecordArgs),
    /// List the systems that have a name, and where their numbers come from
    Systems(systems::SystemsArgs),
    /// Watch a running runtime
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    Top(top::TopArgs),
    /// Serve a cache, or synthetic work, on sockets under a policy
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    Serve(serve::ServeArgs),
    /// Load a service at intended times, and measure its latency from these
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    Load(load::LoadArgs),
    /// Make the HTML report of a results directory
    Report(report::ReportArgs),
    /// Measure what this machine costs a scheduler, stalls included, for the simulator
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    Calibrate(calibrate::CalibrateArgs),
    /// Say what on this machine spoils latency, and what to do
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    Doctor(doctor::DoctorArgs),
    /// Compile C with probes: clang, with options of its own (see `caudal cc --help`)
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    Cc(cc::CcArgs),
    /// Compile C++ with probes
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    #[command(name = "c++")]
    Cxx(cc::CcArgs),
    /// Say where a compiler put probes, and what it left alone
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    Probes(probes::ProbesArgs),
    /// Simulate the figures of the papers, and judge what the papers say about them
    Reproduce(reproduce::ReproduceArgs),
}

/// Runs a command.
pub(crate) fn run(command: &Command, global: &Global) -> miette::Result<ExitCode> {
    match command {
        Command::Sim(args) => sim::run(args, global),
        Command::Plan(args) => plan::run(args, global),
        Command::Lanes(args) => lanes::run(args, global),
        Command::BreakEven(args) => break_even::run(args, global),
        Command::Threshold(args) => threshold::run(args, global),
        Command::Compare(args) => compare::run(args, global),
        Command::Check(args) => check::run(args, global),
        Command::Workload(args) => workload::run(args, global),
        #[cfg(target_os = "linux")]
        Command::Record(args) => record::run(args, global),
        Command::Systems(args) => systems::run(args, global),
        #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
        Command::Top(args) => top::run(args, global),
        #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
        Command::Serve(args) => serve::run(args, global),
        #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
        Command::Load(args) => load::run(args, global),
        Command::Report(args) => report::run(args, global),
        #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
        Command::Calibrate(args) => calibrate::run(args, global),
        #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
        Command::Doctor(args) => doctor::run(args, global),
        #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
        Command::Cc(args) => Ok(cc::run("caudal cc", Language::C, args)),
        #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
        Command::Cxx(args) => Ok(cc::run("caudal c++", Language::Cxx, args)),
        #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
        Command::Probes(args) => probes::run(args, global),
        Command::Reproduce(args) => reproduce::run(args, global),
    }
}
