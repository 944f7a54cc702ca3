//! Rounds of turns: every contestant at every load once a round, in an order that stays the same.

mod beside;
mod contestants;
mod table;
mod theory;
mod turn;

use std::error::Error;
use std::path::Path;

use caudal_measure::clock::Tsc;
use caudal_measure::pin::RealTime;
use caudal_measure::schedule::{Mix, Schedule};
use caudal_measure::stalls::{StallStats, stalls};
use caudal_measure::trace::Trace;
use caudal_measure::work::Work;

use self::contestants::Contestant;
use self::turn::{Conditions, Reports};
use crate::RunOptions;

/// How long the bare machine is watched before each load of each round, in seconds.
const WATCHED_S: f64 = 0.2;
/// The longest turn with real-time priority, in ns.
const REAL_TIME_LENGTH_NS: u64 = 850_000_000;

/// All turns of one contestant at one load; a turn that failed ends its part.
pub(crate) struct Series {
    pub(crate) contestant: Contestant,
    pub(crate) reports: Vec<Reports>,
    pub(crate) repeated: u32,
    pub(crate) failed: Option<String>,
}

/// Everything at one load.
pub(crate) struct AtLoad {
    pub(crate) load: f64,
    pub(crate) mix: Mix,
    /// So many of the first contestants were given as commands: what others are compared with.
    pub(crate) given: usize,
    pub(crate) series: Vec<Series>,
    /// The bare worker core, once a round.
    pub(crate) machine: Vec<StallStats>,
}

/// Runs everything and prints it; what is done when a contestant fails is printed all the same.
pub(crate) fn run(options: &RunOptions) -> Result<(), Box<dyn Error>> {
    let everybody = contestants::assemble(&options.only, &options.extra)?;
    let real_time = real_time(options)?;
    let (tsc, work) = crate::calibrate(options.worker_core)?;
    let mix = options.mix.clone().unwrap_or_else(Mix::extreme_bimodal);
    let common = Common { options, mix: &mix, tsc, work, real_time };
    say_calibration(tsc, work, &mix);
    // From here on this process only waits: on the generator's core.
    caudal_measure::pin::pin_to(options.generator_core)?;
    let series = |contestant: &Contestant| Series {
        contestant: contestant.clone(),
        reports: Vec::new(),
        repeated: 0,
        failed: None,
    };
    let mut loads: Vec<AtLoad> = options
        .loads
        .iter()
        .map(|&load| AtLoad {
            load,
            mix: mix.clone(),
            given: options.extra.len(),
            series: everybody.iter().map(series).collect(),
            machine: Vec::new(),
        })
        .collect();
    for round in 0..options.rounds {
        for at in &mut loads {
            round_at(at, round, &common)?;
        }
    }
    for at in &loads {
        if options.json {
            table::json(at);
        } else {
            table::print(at);
        }
    }
    if loads.iter().any(|at| at.series.iter().any(|one| one.failed.is_some())) {
        return Err("not every contestant could be measured".into());
    }
    Ok(())
}

/// What holds in all rounds.
struct Common<'a> {
    options: &'a RunOptions,
    mix: &'a Mix,
    tsc: Tsc,
    work: Work,
    real_time: bool,
}

fn round_at(at: &mut AtLoad, round: u32, common: &Common<'_>) -> Result<(), Box<dyn Error>> {
    let Common { options, mix, tsc, work, real_time } = *common;
    let priority = if real_time { Some(RealTime::enter(turn::PRIORITY)?) } else { None };
    at.machine.push(stalls(tsc, options.worker_core, WATCHED_S)?);
    if priority.is_some() {
        drop(priority);
        std::thread::sleep(turn::PAUSE);
    }
    let requests = (options.length as f64 * mix.rate_per_ns(at.load, 1)).round().max(1.0) as usize;
    let schedule = Schedule::poisson(mix.clone(), at.load, 1, requests, options.seed + u64::from(round));
    let directory = tempfile::tempdir()?;
    let file = directory.path().join("schedule");
    crate::as_file(&schedule, tsc, &file)?;
    let classes = options.mix.as_ref().map(as_option);
    let conditions = Conditions {
        schedule: &schedule,
        file: &file,
        classes: classes.as_deref(),
        work,
        worker_core: options.worker_core,
        generator_core: options.generator_core,
        real_time,
        directory: directory.path(),
    };
    for series in at.series.iter_mut().filter(|series| series.failed.is_none()) {
        match turn::take(&series.contestant, &conditions) {
            Ok(turn) => {
                say_turn(&series.contestant.name, at.load, round, &turn);
                series.repeated += turn.tries - 1;
                series.reports.push(turn.reports);
            }
            Err(error) => {
                eprintln!("{} fails at load {}: {error}", series.contestant.name, at.load);
                series.failed = Some(error.to_string());
            }
        }
    }
    Ok(())
}

/// Whether contestants get real-time priority: without it whatever else wants a core takes it for milliseconds.
fn real_time(options: &RunOptions) -> Result<bool, Box<dyn Error>> {
    if options.ordinary {
        return Ok(false);
    }
    if options.length > REAL_TIME_LENGTH_NS {
        return Err("turns with real-time priority are at most 850ms long: the kernel takes 50 ms of every second from \
                    those who spin; give a shorter --length, or --ordinary"
            .into());
    }
    match RealTime::enter(turn::PRIORITY) {
        Ok(_) => Ok(true),
        Err(error) => {
            eprintln!("ordinary priority: {error}");
            Ok(false)
        }
    }
}

/// Prints the figures of one trace.
pub(crate) fn show(path: &Path) -> Result<(), Box<dyn Error>> {
    let trace = Trace::read(path)?;
    let reports = Reports::of(&trace);
    let contestant =
        Contestant { name: trace.contestant, command: Vec::new(), quantum: "", reads_schedule: false };
    let series = Series { contestant, reports: vec![reports], repeated: 0, failed: None };
    let (load, mix) = (trace.load, trace.mix);
    table::print(&AtLoad { load, mix, given: 0, series: vec![series], machine: Vec::new() });
    Ok(())
}

/// A mix as `--mix` takes it.
fn as_option(mix: &Mix) -> String {
    let classes = mix.classes().iter().map(|class| format!("{}:{}ns", class.share, class.service_ns));
    classes.collect::<Vec<String>>().join(",")
}

/// What was found so far is there to read also if the rest never comes.
fn say_turn(name: &str, load: f64, round: u32, turn: &turn::Turn) {
    let (work, short) = (&turn.reports.work, &turn.reports.work.classes[0]);
    eprintln!(
        "round {} load {load} {name}: p99 {:.1} us, filtered {:.1} us, kept {:.1} %{}",
        round + 1,
        short.raw.p99_ns as f64 * 1e-3,
        short.filtered.p99_ns as f64 * 1e-3,
        work.kept_share * 100.0,
        if turn.tries > 1 { format!(", the best of {} turns", turn.tries) } else { String::new() }
    );
}

fn say_calibration(tsc: Tsc, work: Work, mix: &Mix) {
    eprintln!("clock {:.6} GHz (off by at most {:.1} ppm), work {work}", tsc.hz() * 1e-9, tsc.error_ppm());
    for class in mix.classes() {
        let measured = work.measure(tsc, class.service_ns);
        eprintln!("a job of {} ns takes {measured:.1} ns on the undisturbed core", class.service_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mix_survives_the_command_line() {
        let mix = Mix::extreme_bimodal();
        assert_eq!(caudal_measure::contestant::mix(&as_option(&mix)), Ok(mix));
    }
}
