//! Short requests beside long ones: 99.5 % take 0.5 us, 0.5 % take 500 us. Caudal beside run to completion, on this machine.
//!
//! ```console
//! $ cargo run --release --example bimodal -- --load 0.4
//! ```
//!
//! Both run in the same runtime, with the same dispatcher and the same requests; they differ in one line of the policy's file:
//! `discipline = "fcfs"` or `discipline = { policy = "processor-sharing", quantum = "1us" }`.

use std::error::Error;

use caudal_measure::clock::Tsc;
use caudal_measure::compare::Spread;
use caudal_measure::contestant::{Options, duration_ns};
use caudal_measure::filter::{self, GapsOf, Report};
use caudal_measure::work::Work;
use caudal_rt_bench::contest::{Discipline, Dispatch, measure};
use clap::Parser;

/// Caudal beside run to completion on one worker
#[derive(Parser)]
struct Arguments {
    /// Share of the time that the worker is to be busy
    #[arg(long, default_value_t = 0.4)]
    load: f64,
    /// How long a request runs before others have their turn
    #[arg(long, default_value = "1us", value_parser = duration_ns, value_name = "DURATION")]
    quantum: u64,
    /// Turns of each
    #[arg(long, default_value_t = 5)]
    rounds: u64,
    /// Length of a turn
    #[arg(long, default_value = "800ms", value_parser = duration_ns, value_name = "DURATION")]
    length: u64,
    /// CPU of the worker
    #[arg(long, default_value_t = 1)]
    worker_core: usize,
    /// CPU of the dispatcher, which makes the requests
    #[arg(long, default_value_t = 0)]
    dispatcher_core: usize,
}

const CONTESTANTS: [(&str, Discipline); 2] =
    [("run to completion", Discipline::Fcfs), ("caudal", Discipline::ProcessorSharing)];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    if !(0.01..0.95).contains(&arguments.load) {
        return Err(format!("--load {}: write a share from 0.01 to 0.95", arguments.load).into());
    }
    caudal_measure::pin::pin_to(arguments.worker_core)?;
    eprintln!("measuring how fast this core works");
    let work = Work::calibrate(Tsc::calibrate()?);
    let mut reports: [Vec<Report>; 2] = [Vec::new(), Vec::new()];
    for round in 0..arguments.rounds {
        for ((name, discipline), reports) in CONTESTANTS.iter().zip(&mut reports) {
            eprintln!("round {} of {}: {name}", round + 1, arguments.rounds);
            let trace = measure(&options(&arguments, work, round), Dispatch::TwoLevel, *discipline)?;
            reports.push(filter::report(&trace, GapsOf::WorkAndGenerator));
        }
    }
    print(&arguments, &reports);
    Ok(())
}

fn options(arguments: &Arguments, work: Work, round: u64) -> Options {
    // The mean service time of extreme bimodal is 2.9975 us.
    let requests = (arguments.length as f64 * arguments.load / 2_997.5).max(1_000.0) as usize;
    Options {
        load: arguments.load,
        requests,
        seed: round + 1,
        worker_core: arguments.worker_core,
        generator_core: arguments.dispatcher_core,
        quantum: arguments.quantum,
        iterations_per_us: Some(work),
        mix: None,
        out: std::path::PathBuf::new(),
    }
}

fn print(arguments: &Arguments, reports: &[Vec<Report>; 2]) {
    println!(
        "load {}, quantum {} us; sojourn in us, medians of {} turns; filtered: without requests that a stall of the machine touched",
        arguments.load,
        arguments.quantum as f64 / 1e3,
        arguments.rounds
    );
    println!(
        "{:20}{:>12}{:>12}{:>12}{:>14}{:>12}{:>8}",
        "", "short p50", "p99", "p99.9", "filtered p99", "long p50", "kept"
    );
    let median = |reports: &[Report], of: &dyn Fn(&Report) -> f64| {
        Spread::of(&reports.iter().map(of).collect::<Vec<f64>>()).map_or(f64::NAN, |spread| spread.median)
    };
    for ((name, _), reports) in CONTESTANTS.iter().zip(reports) {
        let us = |of: &dyn Fn(&Report) -> f64| median(reports, of) / 1e3;
        println!(
            "{name:20}{:>12.2}{:>12.2}{:>12.2}{:>14.2}{:>12.0}{:>7.1}%",
            us(&|r| r.classes[0].raw.p50_ns as f64),
            us(&|r| r.classes[0].raw.p99_ns as f64),
            us(&|r| r.classes[0].raw.p999_ns as f64),
            us(&|r| r.classes[0].filtered.p99_ns as f64),
            us(&|r| r.classes[1].filtered.p50_ns as f64),
            100.0 * median(reports, &|r| r.kept_share),
        );
    }
    let p99 = |reports: &[Report]| median(reports, &|r| r.classes[0].filtered.p99_ns as f64);
    println!("short requests' filtered p99: {:.0} times lower", p99(&reports[0]) / p99(&reports[1]));
    let stalls = median(&reports[1], &|r| r.stalls.per_second);
    println!("this machine took the worker's core {stalls:.0} times a second");
}
