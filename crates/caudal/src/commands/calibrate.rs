//! `caudal calibrate`: what this machine costs a scheduler, as the `[costs]` that the simulator reads. `run` measures on all cores for
//! some seconds, prints the costs, and writes them to a file if `--output` names one.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use caudal_machine::calibrate::{Calibration, Options, calibrate};
use clap::Args;
use miette::miette;

use crate::exit::{Failure, Interrupted};
use crate::global::Global;
use caudal_results::table::{Table, time};

#[derive(Args, Debug)]
pub(crate) struct CalibrateArgs {
    /// Write the table of costs to this file, for `--costs` of sim, plan and compare
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Processor of the worker [default: the last one that this process may use]
    #[arg(long, value_name = "CPU")]
    worker_cpu: Option<usize>,
    /// Processor of the dispatcher [default: the one before it]
    #[arg(long, value_name = "CPU")]
    dispatcher_cpu: Option<usize>,
    /// Rounds of which the medians are taken [default: 5; 2 with --quick]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: Option<u32>,
    /// Under real-time priority (SCHED_FIFO), in bursts that leave the system alive: for machines on which others run
    #[arg(long)]
    real_time: bool,
}

pub(crate) fn run(args: &CalibrateArgs, global: &Global) -> miette::Result<ExitCode> {
    let rounds = args.rounds.unwrap_or(if global.quick { 2 } else { 5 });
    let options = Options {
        worker_cpu: args.worker_cpu,
        other_cpu: args.dispatcher_cpu,
        rounds,
        real_time: args.real_time,
        ..Options::default()
    };
    if args.worker_cpu.is_some() && args.worker_cpu == args.dispatcher_cpu {
        return Err(miette!(
            help = "give the dispatcher another processor",
            "--worker-cpu and --dispatcher-cpu are the same"
        ));
    }
    let began = Instant::now();
    let mut progress = |done: u32, all: u32, what: &str| {
        if global.quiet || what.is_empty() {
            return;
        }
        let left_s = began.elapsed().as_secs_f64() / f64::from(done.max(1)) * f64::from(all - done);
        let left = if done == 0 { String::new() } else { format!(", {left_s:.0} s left") };
        errln!("calibrating {}/{all}: {what}{left}", done + 1);
    };
    let found = calibrate(&options, &global.stop, &mut progress).map_err(|error| miette!("{error}"))?;
    let toml = found.to_toml();
    if let Some(path) = &args.output {
        std::fs::write(path, &toml)
            .map_err(|error| Failure(format!("can not write `{}`: {error}", path.display())))?;
    }
    if global.json {
        outln!("{}", found.to_json());
    } else {
        print(&found, args.output.is_none(), &toml);
    }
    if let Some(warning) = found.busy.warning() {
        errln!("warning: {warning}");
    }
    found.missing().iter().for_each(|line| errln!("warning: {line}"));
    if !found.complete {
        let kept = if args.output.is_some() { "; what was measured is written" } else { "" };
        return Err(Interrupted(format!(": what stands here is of fewer rounds{kept}")).into());
    }
    Ok(ExitCode::SUCCESS)
}

fn print(found: &Calibration, with_file: bool, toml: &str) {
    let mut table =
        Table::new(&["action", "median", "rounds from", "to", "elsewhere, ns", "what it is"]).left();
    for item in &found.items {
        let cells = [
            item.name.to_owned(),
            time(item.median),
            time(item.low),
            time(item.high),
            item.papers.to_owned(),
            item.what.to_owned(),
        ];
        table.row(cells.to_vec());
    }
    outln!("{table}");
    if let Some(stalls) = &found.stalls {
        let stats = stalls.stats();
        outln!(
            "stalls: {:.0} a second and core, {:.2} % of the time; half of them up to {}, 99 % up to {}, the longest {}",
            stats.per_second,
            stats.share * 100.0,
            time(stats.p50_ns as f64),
            time(stats.p99_ns as f64),
            time(stats.max_ns as f64)
        );
        let by_cpu: Vec<String> =
            stalls.by_cpu().iter().map(|(cpu, rate)| format!("processor {cpu}: {rate:.0}/s")).collect();
        outln!("        {}", by_cpu.join(", "));
    }
    if with_file {
        outln!("\n{toml}");
    }
}
