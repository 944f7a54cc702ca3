//! Gets and scans on LevelDB as requests of the runtime: what it is worth to gets that a scan yields wherever a compiler has put
//! probes, in code that nobody has edited.
//! `scripts/bench-rt-scan` builds the programs and runs it.
//!
//! The programs are `benches/scan`'s, one worker each, which differ by nothing but probes. They take turns on the same schedules
//! of Poisson arrivals; a request's time is from when it was to arrive to when it was complete. Each program compares every
//! answer with what it was without a runtime, and here all programs' answers are compared.

mod table;
mod turn;

use std::error::Error;
use std::path::PathBuf;

use caudal_measure::clock::Tsc;
use caudal_measure::contestant::duration_ns;
use caudal_measure::pin::RealTime;
use caudal_measure::schedule::{Class, Mix, Schedule};
use clap::Args;

use self::turn::{Alone, Conditions, Program, Turn};

/// Any does: the programs are alone in having one.
const PRIORITY: u32 = 10;
/// The longest turn under real-time priority: the kernel takes 50 ms of each second from who spins.
const REAL_TIME_LENGTH_NS: u64 = 850_000_000;

/// The command.
#[derive(Args)]
pub struct Scan {
    /// Programs of benches/scan: the first without probes, the others with
    #[arg(long = "program", required = true, value_name = "NAME=FILE")]
    programs: Vec<Program>,
    /// Policy of their runtime
    #[arg(long, value_name = "FILE")]
    policy: PathBuf,
    /// Loads, each a table
    #[arg(long, value_delimiter = ',', default_values_t = [0.3])]
    loads: Vec<f64>,
    /// Rounds, in each of which every program has a turn
    #[arg(long, default_value_t = 9)]
    rounds: u32,
    /// Length of a turn; at most 850ms, unless --ordinary
    #[arg(long, default_value = "800ms", value_parser = duration_ns, value_name = "DURATION")]
    length: u64,
    /// Share of the requests that are scans
    #[arg(long, default_value_t = 0.005)]
    scans: f64,
    /// Seed of the first round; the others count on
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// CPU of the worker; comes behind the generator's
    #[arg(long, default_value_t = 1)]
    worker_core: usize,
    /// CPU of the generator
    #[arg(long, default_value_t = 0)]
    generator_core: usize,
    /// Ordinary priority; otherwise programs run under SCHED_FIFO if that is permitted
    #[arg(long)]
    ordinary: bool,
    /// Print one JSON object a line instead of tables
    #[arg(long)]
    json: bool,
}

/// All turns of one program at one load.
struct Series {
    program: Program,
    alone: Alone,
    turns: Vec<Turn>,
}

impl Scan {
    /// Measures and prints.
    ///
    /// # Errors
    /// If a program fails, its answers are not the others', or it does not yield where it should.
    pub fn run(&self) -> Result<(), Box<dyn Error>> {
        let priority = self.priority()?;
        let directory = tempfile::tempdir()?;
        let conditions = Conditions {
            policy: &self.policy,
            generator_core: self.generator_core,
            worker_core: self.worker_core,
            priority,
            directory: directory.path(),
        };
        let alone: Vec<Alone> =
            self.programs.iter().map(|program| self.alone(program)).collect::<Result<_, _>>()?;
        for &load in &self.loads {
            let mut series: Vec<Series> = self.programs.iter().zip(&alone).map(Series::new).collect();
            for round in 0..self.rounds {
                self.round(load, round, &conditions, &mut series)?;
            }
            let at = table::AtLoad { load, scans: self.scans, series: &series };
            if self.json { at.print_json() } else { at.print() }
        }
        Ok(())
    }

    fn alone(&self, program: &Program) -> Result<Alone, Box<dyn Error>> {
        let alone = program.alone(self.worker_core)?;
        eprintln!("{}: alone, a get takes {} ns, a scan {} ns", program.name, alone.get_ns, alone.scan_ns);
        Ok(alone)
    }

    /// A turn each; every round another one begins.
    fn round(
        &self,
        load: f64,
        round: u32,
        conditions: &Conditions<'_>,
        all: &mut [Series],
    ) -> Result<(), Box<dyn Error>> {
        // The load is that of the first one: probes cost what they cost.
        let Alone { get_ns, scan_ns } = all[0].alone;
        let get = Class { share: 1.0 - self.scans, service_ns: get_ns };
        let mix = Mix::new(vec![get, Class { share: self.scans, service_ns: scan_ns }])?;
        let requests = (self.length as f64 * mix.rate_per_ns(load, 1)).round().max(1.0) as usize;
        let schedule = Schedule::poisson(mix, load, 1, requests, self.seed + u64::from(round));
        conditions.write(&schedule, Tsc::calibrate()?)?;
        let count = all.len();
        for turn in 0..count {
            let number = (turn + round as usize) % count;
            let series = &mut all[number];
            let turn = conditions.turn(&series.program)?;
            say(&series.program.name, load, round, &turn);
            must_yield(&series.program.name, number > 0, turn.yields)?;
            series.turns.push(turn);
        }
        let answers = |series: &Series| series.turns.last().map(|turn| turn.checksum.clone());
        match all.iter().find(|series| answers(series) != answers(&all[0])) {
            Some(other) => {
                Err(format!("{} answers otherwise than {}", other.program.name, all[0].program.name).into())
            }
            None => Ok(()),
        }
    }

    /// Of the programs' threads: without it whatever else wants a core takes it for milliseconds.
    fn priority(&self) -> Result<u32, Box<dyn Error>> {
        if self.ordinary {
            return Ok(0);
        }
        if self.length > REAL_TIME_LENGTH_NS {
            return Err("under real-time priority a turn is at most 850ms long: give a shorter --length, or --ordinary".into());
        }
        Ok(match RealTime::enter(PRIORITY) {
            Ok(_) => PRIORITY,
            Err(error) => {
                eprintln!("ordinary priority: {error}");
                0
            }
        })
    }
}

impl Series {
    fn new((program, alone): (&Program, &Alone)) -> Series {
        Series { program: program.clone(), alone: *alone, turns: Vec::new() }
    }
}

/// Prints a turn as soon as it is known, so that it can be read even if the rest never comes.
fn say(name: &str, load: f64, round: u32, turn: &Turn) {
    eprintln!(
        "round {} load {load} {name}: gets p99 {:.1} us, scans p50 {:.0} us, {} yields, kept {:.0} %",
        round + 1,
        turn.gets.raw.p99_ns as f64 * 1e-3,
        turn.scans.raw.p50_ns as f64 * 1e-3,
        turn.yields,
        turn.kept_share * 100.0,
    );
}

/// Checks that a program yields if it has probes, and only then.
fn must_yield(name: &str, has_probes: bool, yields: u64) -> Result<(), String> {
    match (has_probes, yields) {
        (true, 0) => Err(format!("{name} has never yielded: it has no probes")),
        (false, 1..) => Err(format!("{name} has yielded {yields} times: it has probes")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_what_they_are_said_to_be() {
        assert!(must_yield("without", false, 0).is_ok() && must_yield("with", true, 1).is_ok());
        assert!(must_yield("with", true, 0).unwrap_err().contains("no probes"));
        assert!(must_yield("without", false, 7).unwrap_err().contains("has probes"));
        assert_eq!("by hand=/a=b".parse::<Program>().unwrap().name, "by hand");
        assert!("/a".parse::<Program>().is_err());
    }
}
