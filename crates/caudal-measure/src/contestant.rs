//! Common part of all contestants of a comparison: their command line, and what they prepare from it.
//!
//! ```text
//! PROGRAM --load 0.4 --requests 200000 --seed 1 --worker-core 1 --generator-core 0 --quantum 1us
//!         --iterations-per-us 1032.5:19.4 --out FILE
//! ```

use std::path::PathBuf;

use crate::clock::{ClockError, Tsc};
use crate::gaps::{GAP_NS, GapLog};
use crate::schedule::{Class, Mix, Schedule};
use crate::trace::{Recorder, Run, TraceError};
use crate::work::{Job, Work};

/// Gaps for which a run has room: at 1,400 a second, two minutes.
const GAPS: usize = 1 << 18;
/// Time after the last arrival for which a contestant waits for unfinished requests, in ns.
pub const PATIENCE_NS: u64 = 2_000_000_000;

/// The command line of a contestant; flatten it into a program's own.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Share of the time that the worker is to be busy
    #[arg(long, value_parser = positive)]
    pub load: f64,
    /// Number of requests
    #[arg(long)]
    pub requests: usize,
    /// Seed of the schedule
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// CPU of the worker
    #[arg(long, default_value_t = 1)]
    pub worker_core: usize,
    /// CPU of the generator
    #[arg(long, default_value_t = 0)]
    pub generator_core: usize,
    /// How long a request runs before others have their turn, such as 1us or 500ns; contestants that run to completion ignore it
    #[arg(long, default_value = "1us", value_parser = duration_ns, value_name = "DURATION")]
    pub quantum: u64,
    /// Speed of the work as RATE:OVERHEAD, the same for all contestants of a comparison; measured if not given
    #[arg(long, value_name = "RATE:OVERHEAD")]
    pub iterations_per_us: Option<Work>,
    /// Classes as SHARE:SERVICE, such as 0.995:500ns,0.005:500us; extreme bimodal if not given
    #[arg(long, value_parser = mix, value_name = "CLASSES")]
    pub mix: Option<Mix>,
    /// Trace to write
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

/// The means of a run, made before it starts.
#[derive(Debug)]
pub struct Setup {
    /// The clock.
    pub tsc: Tsc,
    /// The speed of the work.
    pub work: Work,
    /// The requests that will arrive.
    pub schedule: Schedule,
    /// The work of a request, by number of its class.
    pub jobs: Vec<Job>,
    /// Where starts and completions go.
    pub recorder: Recorder,
}

impl Options {
    /// Calibrates the clock, and the work unless its speed was given; draws the schedule; takes the memory.
    ///
    /// The speed of the work is measured on the calling thread: pin it to the worker's core, or give the speed.
    ///
    /// # Errors
    /// If the time stamp counter is no clock here.
    pub fn prepare(&self) -> Result<Setup, ClockError> {
        let tsc = Tsc::calibrate()?;
        let work = self.iterations_per_us.unwrap_or_else(|| Work::calibrate(tsc));
        let mix = self.mix.clone().unwrap_or_else(Mix::extreme_bimodal);
        let jobs = mix.classes().iter().map(|class| work.job(class.service_ns)).collect();
        let schedule = Schedule::poisson(mix, self.load, 1, self.requests, self.seed);
        Ok(Setup { tsc, work, schedule, jobs, recorder: Recorder::new(self.requests) })
    }
}

impl Setup {
    /// The work of a request.
    ///
    /// # Panics
    /// If there is no such request.
    #[inline(always)]
    pub fn job_of(&self, request: usize) -> Job {
        self.jobs[self.schedule.arrivals[request].class as usize]
    }

    /// How many chunks of each class are one quantum, by number of the class.
    pub fn quantum_chunks(&self, quantum_ns: u64) -> Vec<u32> {
        let classes = self.schedule.mix.classes().iter().zip(&self.jobs);
        classes.map(|(class, job)| job.chunks_in(quantum_ns, class.service_ns)).collect()
    }

    /// A log for the gaps of one thread.
    pub fn gap_log(&self) -> GapLog {
        GapLog::new(self.tsc.to_ticks(GAP_NS), GAPS)
    }

    /// Until when a run that started at `epoch` is waited for, in ticks.
    pub fn deadline(&self, epoch: u64) -> u64 {
        epoch + self.tsc.to_ticks(self.schedule.duration_ns() + PATIENCE_NS)
    }

    /// Writes the trace of a run that is over.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(
        &self,
        options: &Options,
        contestant: &str,
        epoch: u64,
        gaps: &[&GapLog],
        generator_gaps: Option<&GapLog>,
    ) -> Result<(), TraceError> {
        let run = Run { contestant, tsc: self.tsc, epoch, schedule: &self.schedule, gaps, generator_gaps };
        self.recorder.trace(&run).write(&options.out)
    }
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok(number),
        _ => Err("a number above 0".to_owned()),
    }
}

/// `500ns`, `1us`, `2.5us`, `1ms`, `1s` in ns.
///
/// # Errors
/// With what would be right.
pub fn duration_ns(text: &str) -> Result<u64, String> {
    let wrong = || {
        format!(
            "`{text}` is no duration of at least 1 ns: a number and its unit, such as 500ns, 1us, 2.5ms or 1s"
        )
    };
    let digits = text.find(|c: char| c.is_ascii_alphabetic()).ok_or_else(wrong)?;
    let factor = match &text[digits..] {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return Err(wrong()),
    };
    let ns = text[..digits].parse::<f64>().map_err(|_| wrong())? * factor;
    if (1.0..1e15).contains(&ns) { Ok(ns.round() as u64) } else { Err(wrong()) }
}

/// `0.995:500ns,0.005:500us` as a mix.
///
/// # Errors
/// With what would be right.
pub fn mix(text: &str) -> Result<Mix, String> {
    let class = |part: &str| {
        let (share, service) =
            part.split_once(':').ok_or(format!("`{part}` is not SHARE:SERVICE, such as 0.995:500ns"))?;
        Ok(Class { share: positive(share)?, service_ns: duration_ns(service)? })
    };
    let classes: Result<Vec<Class>, String> = text.split(',').map(class).collect();
    Mix::new(classes?).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        options: Options,
    }

    #[test]
    fn the_command_line_of_every_contestant() {
        let line = "x --load 0.4 --requests 10 --seed 3 --worker-core 1 --generator-core 0 --quantum 2us \
                    --iterations-per-us 1000:20 --out f";
        let options = Program::try_parse_from(line.split_whitespace()).unwrap().options;
        assert_eq!((options.quantum, options.iterations_per_us), (2_000, Some(Work::new(1000.0, 20.0))));
        let setup = options.prepare().unwrap();
        assert_eq!(setup.schedule.arrivals.len(), 10);
        assert_eq!(setup.quantum_chunks(options.quantum), [12, 10]);
        assert_eq!(setup.jobs, [setup.work.job(500), setup.work.job(500_000)]);
        for wrong in ["x --load 0 --requests 1 --out f", "x --load 0.1 --requests 1 --out f --quantum 1"] {
            assert!(Program::try_parse_from(wrong.split_whitespace()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn durations_and_mixes() {
        assert_eq!(duration_ns("2.5us"), Ok(2_500));
        assert_eq!(duration_ns("1ms"), Ok(1_000_000));
        for wrong in ["5", "us", "0ns", "-1us", "1e30s", "1h", ""] {
            assert!(duration_ns(wrong).is_err(), "{wrong}");
        }
        assert_eq!(mix("0.995:500ns,0.005:500us"), Ok(Mix::extreme_bimodal()));
        assert!(mix("0.5:1us").unwrap_err().contains("sum to 0.5"));
        assert!(mix("1").unwrap_err().contains("SHARE:SERVICE"));
    }
}
