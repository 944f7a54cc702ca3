//! Does the simulator, with the costs of this machine, say what the runtime does on it?
//!
//! The same mixes of requests at the same loads: run by the runtime for a second or two, several rounds, and simulated under
//! the same policy with the measured `[costs]`. *Filtered* sojourn times, without the requests that a stall touched, stand
//! beside a simulation without stalls; *raw* ones beside one with the stalls that were measured.

mod measured;
mod predicted;
mod workloads;

use std::error::Error;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use caudal_machine::busy::{Busy, Moment};
use caudal_machine::calibrate::{Options, calibrate};
use caudal_measure::clock::Tsc;
use caudal_measure::compare::Spread;
use caudal_measure::contestant::duration_ns;
use caudal_measure::work::Work;
use clap::Args;

use self::measured::Measured;
use self::predicted::Predicted;
use self::workloads::{Workload, workloads};

/// How far a simulated percentile may be off, as a share of the measured one.
const P50_WITHIN: f64 = 0.15;
/// As [`P50_WITHIN`].
const P99_WITHIN: f64 = 0.25;
/// A class of fewer requests in all rounds has no 99th percentile to speak of.
const COUNT_MIN: u64 = 5_000;

/// The command.
#[derive(Args)]
pub struct Fidelity {
    /// The costs of this machine, as `caudal calibrate` writes it; measured anew if not given
    #[arg(long, value_name = "COSTS")]
    costs: Option<PathBuf>,
    /// Loads
    #[arg(long, value_delimiter = ',', default_values_t = [0.3, 0.6])]
    loads: Vec<f64>,
    /// Rounds, of which the medians are taken
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// How long each run lasts
    #[arg(long, default_value = "1.5s", value_parser = duration_ns, value_name = "DURATION")]
    span: u64,
    /// Runs of 0.8 s under real-time priority: for machines on which others run
    #[arg(long)]
    real_time: bool,
    /// CPU of the worker
    #[arg(long, default_value_t = 1)]
    worker_core: usize,
    /// CPU of the dispatcher
    #[arg(long, default_value_t = 0)]
    dispatcher_core: usize,
    /// The measured workload of a third of the table
    #[arg(long, default_value = "data/rocksdb-get-scan.csv", value_name = "FILE")]
    trace: PathBuf,
    /// Only workloads with this in their names
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Print one JSON object a line instead of a table
    #[arg(long)]
    json: bool,
}

/// One line of the table.
struct Row {
    workload: &'static str,
    load: f64,
    class: String,
    statistic: &'static str,
    /// In ns: measured over the rounds, and simulated.
    raw: (Spread, f64),
    filtered: (Spread, f64),
    /// How far apart they may be; none where there were too few requests.
    within: Option<f64>,
}

impl Row {
    fn ratio(&self) -> f64 {
        self.filtered.1 / self.filtered.0.median
    }

    fn verdict(&self) -> &'static str {
        match self.within {
            None => "–",
            Some(within) if (self.ratio() - 1.0).abs() <= within => "met",
            Some(_) => "missed",
        }
    }
}

impl Fidelity {
    /// Measures, simulates and prints.
    ///
    /// # Errors
    /// If a runtime can not start, or a simulation is refused.
    pub fn run(&self) -> Result<(), Box<dyn Error>> {
        let before = Moment::now();
        let costs = self.costs()?;
        let work = self.work()?;
        let (mut rows, mut stalls, mut kept_least) = (Vec::new(), Vec::new(), 1.0_f64);
        for workload in workloads(&self.trace)? {
            if self.only.as_ref().is_some_and(|only| !workload.name.contains(only.as_str())) {
                continue;
            }
            for &load in &self.loads {
                eprintln!("{} at {load}", workload.name);
                let measured = Measured::run(self, &workload, load, work)?;
                stalls.extend(measured.stalls_per_second.iter().copied());
                kept_least = kept_least.min(measured.kept_least);
                let predicted = Predicted::simulate(&workload, load, &costs)?;
                rows.extend(table(&workload, load, &measured, &predicted));
            }
        }
        self.print(&rows);
        let busy = Busy::between(before, Moment::now(), 2);
        self.print_machine(&stalls, kept_least, busy, &costs);
        Ok(())
    }

    /// The overrides that put this machine's costs into a file.
    fn costs(&self) -> Result<Vec<String>, Box<dyn Error>> {
        if let Some(path) = &self.costs {
            return Ok(caudal_config::costs_as_overrides(path)?);
        }
        let options = Options {
            worker_cpu: Some(self.worker_core),
            other_cpu: Some(self.dispatcher_core),
            real_time: self.real_time,
            ..Options::default()
        };
        let mut said = |done: u32, all: u32, what: &str| eprintln!("calibrating {done}/{all} {what}");
        let found = calibrate(&options, &AtomicBool::new(false), &mut said)?;
        Ok(caudal_config::costs_as_overrides_of_text(&found.to_toml())?)
    }

    /// The speed of the work, on the worker's core.
    fn work(&self) -> Result<Work, Box<dyn Error>> {
        let core = self.worker_core;
        let calibrated = std::thread::spawn(move || {
            caudal_measure::pin::pin_to(core).map_err(|error| error.to_string())?;
            Ok::<Work, String>(Work::calibrate(Tsc::calibrate().map_err(|error| error.to_string())?))
        });
        Ok(calibrated.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?)
    }

    fn print(&self, rows: &[Row]) {
        if self.json {
            return rows.iter().for_each(print_json);
        }
        println!(
            "{:<18} {:>4} {:<8} {:<4} | {:>21} {:>9} {:>6} {:<6} | {:>21} {:>9} {:>6}",
            "workload",
            "load",
            "class",
            "",
            "filtered, us (rounds)",
            "simulated",
            "ratio",
            "",
            "raw, us (rounds)",
            "simulated",
            "ratio"
        );
        for row in rows {
            let measured = |spread: Spread| {
                format!("{:.2} ({:.2}–{:.2})", spread.median / 1e3, spread.low / 1e3, spread.high / 1e3)
            };
            println!(
                "{:<18} {:>4} {:<8} {:<4} | {:>21} {:>9.2} {:>6.2} {:<6} | {:>21} {:>9.2} {:>6.2}",
                row.workload,
                row.load,
                row.class,
                row.statistic,
                measured(row.filtered.0),
                row.filtered.1 / 1e3,
                row.ratio(),
                row.verdict(),
                measured(row.raw.0),
                row.raw.1 / 1e3,
                row.raw.1 / row.raw.0.median
            );
        }
    }

    fn print_machine(&self, stalls: &[f64], kept_least: f64, busy: Busy, costs: &[String]) {
        let said = Spread::of(stalls).map_or_else(String::new, |rate| {
            format!("{:.0} a second of work ({:.0}–{:.0})", rate.median, rate.low, rate.high)
        });
        eprintln!(
            "\nstalls during the runs: {said}; at least {:.0} % of the requests kept by the filter",
            kept_least * 100.0
        );
        for cost in costs.iter().filter(|cost| !cost.starts_with("costs.stalls")) {
            eprint!("{cost} ");
        }
        eprintln!();
        if let Some(warning) = busy.warning() {
            eprintln!("warning: {warning}");
        }
    }
}

fn table(workload: &Workload, load: f64, measured: &Measured, predicted: &Predicted) -> Vec<Row> {
    let mut rows = Vec::new();
    for (class, name) in workload.classes.iter().map(|class| class.name.clone()).enumerate() {
        let of = &measured.classes[class];
        for (statistic, percentile, within) in [("p50", 0, P50_WITHIN), ("p99", 1, P99_WITHIN)] {
            let spread = |rounds: &[[f64; 2]]| {
                Spread::of(&rounds.iter().map(|round| round[percentile]).collect::<Vec<_>>())
            };
            let (Some(raw), Some(filtered)) = (spread(&of.raw), spread(&of.filtered)) else { continue };
            rows.push(Row {
                workload: workload.name,
                load,
                class: name.clone(),
                statistic,
                raw: (raw, predicted.raw[class][percentile]),
                filtered: (filtered, predicted.filtered[class][percentile]),
                within: (percentile == 0 || of.count >= COUNT_MIN).then_some(within),
            });
        }
    }
    rows
}

fn print_json(row: &Row) {
    let pair = |(measured, simulated): (Spread, f64)| {
        serde_json::json!({
            "measured_ns": measured.median, "low_ns": measured.low, "high_ns": measured.high, "simulated_ns": simulated,
            "ratio": simulated / measured.median,
        })
    };
    println!(
        "{}",
        serde_json::json!({
            "workload": row.workload, "load": row.load, "class": row.class, "statistic": row.statistic,
            "filtered": pair(row.filtered), "raw": pair(row.raw), "within": row.within, "verdict": row.verdict(),
        })
    );
}
