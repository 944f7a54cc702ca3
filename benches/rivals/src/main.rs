//! What one would pick instead of Caudal's runtime, on the same requests: alternates the contestants and prints one table a
//! load. See README.md.

mod driver;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use caudal_measure::clock::Tsc;
use caudal_measure::contestant;
use caudal_measure::pin::pin_to;
use caudal_measure::schedule::{Mix, Schedule};
use caudal_measure::trace::{Recorder, Run};
use clap::{Args, Parser, Subcommand};

#[derive(Parser)]
#[command(about = "What one would pick instead of Caudal's runtime, on the same requests")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run contestants in turns and print one table a load
    Run(RunOptions),
    /// Write a schedule for a contestant that does not draw it itself (Go, oneTBB)
    Schedule(ScheduleOptions),
    /// Print the table of one trace again
    Show {
        /// A trace that a contestant wrote
        trace: PathBuf,
    },
}

/// What to run, and how often.
#[derive(Args, Debug)]
struct RunOptions {
    /// Loads, each a table
    #[arg(long, value_delimiter = ',', default_values_t = [0.2, 0.4, 0.6])]
    loads: Vec<f64>,
    /// Rounds, in each of which every contestant has a turn; fewer than 5 are to try it out, not to judge
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// Length of a turn; at most 850ms, unless --ordinary
    #[arg(long, default_value = "800ms", value_parser = contestant::duration_ns, value_name = "DURATION")]
    length: u64,
    /// Classes as SHARE:SERVICE; extreme bimodal if not given
    #[arg(long, value_parser = contestant::mix, value_name = "CLASSES")]
    mix: Option<Mix>,
    /// Seed of the first round; the others count on
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// CPU of the worker
    #[arg(long, default_value_t = 1)]
    worker_core: usize,
    /// CPU of the generator
    #[arg(long, default_value_t = 0)]
    generator_core: usize,
    /// Ordinary priority, for longer turns; otherwise contestants run under SCHED_FIFO if that is permitted
    #[arg(long)]
    ordinary: bool,
    /// Only these contestants (extra ones always run), or `none`
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    only: Vec<String>,
    /// A contestant more: a command line that takes the options of all contestants; the first one is what others are compared with
    #[arg(long, value_name = "NAME=COMMAND")]
    extra: Vec<String>,
    /// Print JSON lines instead of tables
    #[arg(long)]
    json: bool,
}

#[derive(Args, Debug)]
struct ScheduleOptions {
    /// Share of the time that the worker is to be busy
    #[arg(long)]
    load: f64,
    /// Number of requests
    #[arg(long)]
    requests: usize,
    /// Seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Classes as SHARE:SERVICE; extreme bimodal if not given
    #[arg(long, value_parser = contestant::mix, value_name = "CLASSES")]
    mix: Option<Mix>,
    /// File to write
    #[arg(long)]
    out: PathBuf,
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Run(options) => driver::run(&options),
        Command::Schedule(options) => write_schedule(&options),
        Command::Show { trace } => driver::show(&trace),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("rivals: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write_schedule(options: &ScheduleOptions) -> Result<(), Box<dyn Error>> {
    let mix = options.mix.clone().unwrap_or_else(Mix::extreme_bimodal);
    let schedule = Schedule::poisson(mix, options.load, 1, options.requests, options.seed);
    Ok(as_file(&schedule, Tsc::calibrate()?, &options.out)?)
}

/// A schedule is a trace in which nothing has run.
fn as_file(
    schedule: &Schedule,
    tsc: Tsc,
    path: &std::path::Path,
) -> Result<(), caudal_measure::trace::TraceError> {
    let run = Run { contestant: "", tsc, epoch: 0, schedule, gaps: &[], generator_gaps: None };
    Recorder::new(schedule.arrivals.len()).trace(&run).write(path)
}

/// The clock, and the speed of the work on the worker's core, once for all contestants.
fn calibrate(worker_core: usize) -> Result<(Tsc, caudal_measure::work::Work), Box<dyn Error>> {
    pin_to(worker_core)?;
    let tsc = Tsc::calibrate()?;
    Ok((tsc, caudal_measure::work::Work::calibrate(tsc)))
}
