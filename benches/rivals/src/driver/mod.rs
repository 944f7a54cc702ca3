//! Rounds of turns: every contestant at every load once a round, in an order that stays the same.

mod contestants;
mod table;
mod turn;

use std::error::Error;
use std::path::Path;

use caudal_measure::clock::Tsc;
use caudal_measure::filter::{self, GapsOf, Report};
use caudal_measure::schedule::{Mix, Schedule};
use caudal_measure::stalls::{StallStats, stalls};
use caudal_measure::trace::Trace;
use caudal_measure::work::Work;

use self::contestants::Contestant;
use self::turn::Conditions;
use crate::RunOptions;

/// How long the bare machine is watched before each load of each round, in seconds.
const WATCHED_S: f64 = 0.2;

/// All turns of one contestant at one load; a turn that failed ends its part.
pub(crate) struct Series {
    pub(crate) contestant: Contestant,
    pub(crate) reports: Vec<Report>,
    pub(crate) repeated: u32,
    pub(crate) failed: Option<String>,
}

/// Everything at one load.
pub(crate) struct AtLoad {
    pub(crate) load: f64,
    pub(crate) series: Vec<Series>,
    /// The bare worker core, once a round.
    pub(crate) machine: Vec<StallStats>,
}

/// Runs everything and prints it; what is done when a contestant fails is printed all the same.
pub(crate) fn run(options: &RunOptions) -> Result<(), Box<dyn Error>> {
    let everybody = contestants::assemble(&options.only, &options.extra)?;
    let (tsc, work) = crate::calibrate(options.worker_core)?;
    let mix = options.mix.clone().unwrap_or_else(Mix::extreme_bimodal);
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
        .map(|&load| AtLoad { load, series: everybody.iter().map(series).collect(), machine: Vec::new() })
        .collect();
    for round in 0..options.rounds {
        for at in &mut loads {
            round_at(at, round, &mix, options, tsc, work)?;
        }
        eprintln!("round {} of {} is done", round + 1, options.rounds);
    }
    for at in &loads {
        if options.json {
            table::json(at, !options.extra.is_empty())
        } else {
            table::print(at, !options.extra.is_empty())
        }
    }
    if loads.iter().any(|at| at.series.iter().any(|one| one.failed.is_some())) {
        return Err("not every contestant could be measured".into());
    }
    Ok(())
}

fn round_at(
    at: &mut AtLoad,
    round: u32,
    mix: &Mix,
    options: &RunOptions,
    tsc: Tsc,
    work: Work,
) -> Result<(), Box<dyn Error>> {
    at.machine.push(stalls(tsc, options.worker_core, WATCHED_S)?);
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
        gaps_of: gaps_of(options.generator_gaps),
        directory: directory.path(),
    };
    for series in at.series.iter_mut().filter(|series| series.failed.is_none()) {
        match turn::take(&series.contestant, &conditions) {
            Ok(turn) => {
                series.repeated += turn.tries - 1;
                series.reports.push(turn.report);
            }
            Err(error) => {
                eprintln!("{} fails at load {}: {error}", series.contestant.name, at.load);
                series.failed = Some(error.to_string());
            }
        }
    }
    Ok(())
}

/// Prints the figures of one trace.
pub(crate) fn show(path: &Path, generator_gaps: bool) -> Result<(), Box<dyn Error>> {
    let trace = Trace::read(path)?;
    let report = filter::report(&trace, gaps_of(generator_gaps));
    let contestant =
        Contestant { name: trace.contestant, command: Vec::new(), quantum: "", reads_schedule: false };
    let series = Series { contestant, reports: vec![report], repeated: 0, failed: None };
    table::print(&AtLoad { load: trace.load, series: vec![series], machine: Vec::new() }, false);
    Ok(())
}

fn gaps_of(generator_gaps: bool) -> GapsOf {
    if generator_gaps { GapsOf::WorkAndGenerator } else { GapsOf::Work }
}

/// A mix as `--mix` takes it.
fn as_option(mix: &Mix) -> String {
    let classes = mix.classes().iter().map(|class| format!("{}:{}ns", class.share, class.service_ns));
    classes.collect::<Vec<String>>().join(",")
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
