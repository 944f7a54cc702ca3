//! Fidelity: does the simulator, with the costs of this machine, say what the runtime does on it?
//! `make fidelity` runs it.
//!
//! The same mixes of requests with the same arrivals: run by the runtime for about a second, several rounds, and simulated under
//! the same policy with what was measured of its parts: the `[costs]` of this machine, stalls included, and how long the handlers
//! take by themselves. Both give traces, and both traces go through one filter: *raw* sojourn times stand beside raw ones, and
//! *filtered* ones, without the requests that a stall touched, beside filtered ones. (A simulation without stalls would not do: a filter
//! drops long requests rather than short ones, and the slow among the long.) What a worker that has nothing to do notices of a
//! stall is in [`idle`], for both.
//!
//! A virtual machine has other costs when its host has moved it, which may happen within a minute. So each run has a calibration of
//! its own; it is repeated if the path from arrival to handler was longer or shorter in it than in the run to completion just before. What
//! is judged is the median of the rounds' ratios.

mod idle;
mod measured;
pub(crate) mod predicted;
mod range;
mod services;

use std::error::Error;
use std::path::PathBuf;

use caudal_machine::busy::{Busy, Moment};
use caudal_measure::compare::{Spread, ratio};
use caudal_measure::contestant::duration_ns;
use caudal_measure::filter::{GapsOf, report};
use caudal_measure::work::Work;
use caudal_policy::Picos;
use clap::Args;

use self::idle::note_idle_stalls;
use self::measured::Measured;
use self::predicted::{Given, Predicted};
use self::range::{StallsSeen, Verdict, verdict};
use self::services::{Services, path_ns};
use crate::runs::{Once, RunOptions};
use crate::workloads::{Workload, workloads};

/// How far a simulated percentile may be off, as a share of the measured one.
const P50_WITHIN: f64 = 0.15;
/// As [`P50_WITHIN`].
const P99_WITHIN: f64 = 0.25;
/// A class of fewer requests in all rounds has no 99th percentile to speak of.
const COUNT_MIN: u64 = 5_000;

/// Runs that say too little, or whose machine was another one afterwards, are repeated so many times.
const REPEATS: u32 = 4;
/// The machine is the same in two runs if the path from arrival to handler takes at most so many times as long in one as in the other.
const PATH_WITHIN: f64 = 1.3;

fn are_alike(one_ns: f64, other_ns: f64) -> bool {
    one_ns <= other_ns * PATH_WITHIN && other_ns <= one_ns * PATH_WITHIN
}

/// `costs` with such a path from arrival to the handler: what dispatcher and start do not take of it is the hop.
fn costs_of_path(mut costs: Vec<String>, path_ns: f64) -> Result<Vec<String>, Box<dyn Error>> {
    let mut left_ns = path_ns;
    for key in ["costs.dispatcher=", "costs.start="] {
        if let Some(cost) = costs.iter_mut().find(|cost| cost.starts_with(key)) {
            let picos = Picos::parse(cost[key.len()..].trim_matches('"'))?;
            let ns = (picos.0 as f64 / 1e3).min(left_ns);
            *cost = format!("{key}{ns:.1}ns");
            left_ns -= ns;
        }
    }
    costs.retain(|cost| !cost.starts_with("costs.hop="));
    costs.push(format!("costs.hop={left_ns:.1}ns"));
    Ok(costs)
}

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
    #[arg(long, default_value_t = 7)]
    rounds: u32,
    #[command(flatten)]
    runs: RunOptions,
    /// The policy's quantum; times within a probe's distance of it are hard to tell
    #[arg(long, default_value = "2us", value_parser = duration_ns, value_name = "DURATION")]
    quantum: u64,
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
    raw: Pair,
    filtered: Pair,
    /// How far apart they may be; none where there were too few requests.
    within: Option<f64>,
    /// Rounds in which the machine had other stalls than its calibrations saw.
    left: usize,
}

/// A statistic over the rounds, in ns, and how many times as much is simulated as measured, round by round. Each round is simulated with
/// the stalls that its calibration saw, so the spread of what is simulated is the interval of the prediction.
#[derive(Clone, Copy)]
struct Pair {
    measured: Spread,
    simulated: Spread,
    ratio: Spread,
}

impl Pair {
    fn of(measured: &[f64], simulated: &[f64]) -> Option<Pair> {
        Some(Pair {
            measured: Spread::of(measured)?,
            simulated: Spread::of(simulated)?,
            ratio: ratio(simulated, measured)?,
        })
    }
}

impl Row {
    fn verdict(&self) -> Option<Verdict> {
        let Pair { measured, simulated, ratio } = self.filtered;
        self.within.map(|within| verdict(ratio, measured, simulated, within, self.left))
    }
}

/// The measurements and predictions of a workload at a load.
struct Point {
    workload: Workload,
    load: f64,
    measured: Measured,
    predicted: Predicted,
    stalls: StallsSeen,
}

impl Fidelity {
    /// Measures, simulates and prints.
    ///
    /// # Errors
    /// If a runtime can not start, or a simulation is refused.
    pub fn run(&self) -> Result<(), Box<dyn Error>> {
        let before = Moment::now();
        let work = self.runs.work()?;
        let mut points = self.points()?;
        let mut costs = Vec::new();
        for round in 0..self.rounds {
            for point in &mut points {
                let (name, load) = (point.workload.name, point.load);
                eprintln!("round {} of {}: {name} at {load}", round + 1, self.rounds);
                costs = self.round(point, work, round)?;
            }
        }
        if !self.json {
            print_head();
        }
        points.iter().for_each(|point| self.print(&table(point)));
        if !self.json {
            println!();
            points.iter().for_each(print_idle_stalls);
            points.iter().for_each(print_stalls_seen);
        }
        let stalls: Vec<f64> =
            points.iter().flat_map(|point| point.measured.stalls_per_second.iter().copied()).collect();
        let kept_least = points.iter().map(|point| point.measured.kept_least).fold(1.0, f64::min);
        let busy = Busy::between(before, Moment::now(), 2);
        let unlike = points.iter().map(|point| point.measured.unlike).sum();
        self.print_machine(&stalls, kept_least, unlike, busy, &costs);
        Ok(())
    }

    /// Every workload that is wanted at every load.
    fn points(&self) -> Result<Vec<Point>, Box<dyn Error>> {
        let wanted =
            |workload: &Workload| self.only.as_ref().is_none_or(|only| workload.name.contains(only.as_str()));
        let workloads = workloads(&self.trace)?.into_iter().filter(wanted);
        let at = |workload: Workload| {
            self.loads.iter().map(move |&load| Point {
                measured: Measured::new(workload.classes.len()),
                predicted: Predicted::new(workload.classes.len()),
                stalls: StallsSeen::default(),
                workload: workload.clone(),
                load,
            })
        };
        Ok(workloads.flat_map(at).collect())
    }

    /// One more round of a point.
    fn round(&self, point: &mut Point, work: Work, round: u32) -> Result<Vec<String>, Box<dyn Error>> {
        let Point { workload, load, .. } = &*point;
        for attempt in 0.. {
            let seed = u64::from(round * REPEATS + attempt) + 1;
            let run =
                Once { options: &self.runs, workload, load: *load, work, seed, quantum_ns: self.quantum };
            let costs = self.costs()?;
            let services = Services::measure(&run)?;
            let mut trace = run.trace("processor-sharing", &[])?;
            let stalls = report(&trace, GapsOf::WorkAndGenerator).stalls;
            let calibrated = range::share_of(&costs)?;
            let idle_stalls = note_idle_stalls(&mut trace);
            let measured = report(&trace, GapsOf::WorkAndGenerator);
            let is_same = are_alike(services.path_ns, path_ns(&trace).unwrap_or(services.path_ns));
            if (measured.must_be_repeated() || !is_same) && attempt + 1 < REPEATS {
                continue;
            }
            let costs = costs_of_path(costs, services.path_ns)?;
            let given = Given {
                workload,
                load: *load,
                services: services.file(),
                costs: &costs,
                quantum_ns: self.quantum,
                seed,
            };
            let (predicted, simulated_idle_stalls) = given.report()?;
            point.measured.unlike += u32::from(!is_same);
            point.measured.add(&measured, stalls.per_second, idle_stalls);
            point.predicted.add(&predicted, simulated_idle_stalls);
            point.stalls.add(calibrated, stalls.share);
            return Ok(costs);
        }
        unreachable!("the last attempt counts")
    }

    /// The overrides that put this machine's costs into a file, as they are now.
    fn costs(&self) -> Result<Vec<String>, Box<dyn Error>> {
        if let Some(path) = &self.costs {
            return Ok(caudal_config::costs_as_overrides(path)?);
        }
        self.runs.costs()
    }

    fn print(&self, rows: &[Row]) {
        if self.json {
            return rows.iter().for_each(print_json);
        }
        for row in rows {
            let spread = |of: Spread, unit: f64| {
                format!("{:.2} ({:.2}–{:.2})", of.median / unit, of.low / unit, of.high / unit)
            };
            println!(
                "{:<16} {:>4} {:<8} {:<3} | {:>22} {:>22} {:>17} {:<8} | {:>24} {:>9.2} {:>6.2}",
                row.workload,
                row.load,
                row.class,
                row.statistic,
                spread(row.filtered.measured, 1e3),
                spread(row.filtered.simulated, 1e3),
                spread(row.filtered.ratio, 1.0),
                row.verdict().map_or("–", Verdict::word),
                spread(row.raw.measured, 1e3),
                row.raw.simulated.median / 1e3,
                row.raw.ratio.median
            );
        }
    }

    fn print_machine(&self, stalls: &[f64], kept_least: f64, unlike: u32, busy: Busy, costs: &[String]) {
        let said = Spread::of(stalls).map_or_else(String::new, |rate| {
            format!("{:.0} a second of work ({:.0}–{:.0})", rate.median, rate.low, rate.high)
        });
        eprintln!(
            "\nstalls during the runs: {said}; at least {:.0} % of the requests kept by the filter",
            kept_least * 100.0
        );
        if unlike > 0 {
            eprintln!(
                "{unlike} runs counted though the machine had changed just before, {REPEATS} times in turn"
            );
        }
        eprint!("costs of the last run: ");
        for cost in costs.iter().filter(|cost| !cost.starts_with("costs.stalls")) {
            eprint!("{cost} ");
        }
        eprintln!();
        if let Some(warning) = busy.warning() {
            eprintln!("warning: {warning}");
        }
    }
}

fn print_head() {
    println!(
        "{:<16} {:>4} {:<8} {:<3} | {:>22} {:>22} {:>17} {:<8} | {:>24} {:>9} {:>6}",
        "workload",
        "load",
        "class",
        "",
        "filtered, us (rounds)",
        "simulated (rounds)",
        "ratio (rounds)",
        "",
        "raw, us (rounds)",
        "simulated",
        "ratio"
    );
}

/// Prints the share of the requests that a stall has met at an idle worker, by their waits, for both sides.
fn print_idle_stalls(point: &Point) {
    let share = |shares: &[f64]| {
        let spread = Spread::of(shares)?;
        let [median, low, high] = [spread.median, spread.low, spread.high].map(|share| 100.0 * share);
        Some(format!("{median:.2} % ({low:.2}–{high:.2})"))
    };
    let (measured, simulated) = (share(&point.measured.idle_stalls), share(&point.predicted.idle_stalls));
    if let (Some(measured), Some(simulated)) = (measured, simulated) {
        println!(
            "{:<16} {:>4} of the requests waited more than 2.5 us at an idle worker: {measured}, simulated {simulated}",
            point.workload.name, point.load
        );
    }
}

/// Says where the machine had other stalls in the runs than in the calibrations, from which the runs were predicted.
fn print_stalls_seen(point: &Point) {
    if let Some(said) = point.stalls.said() {
        println!("{:<16} {:>4} {said}", point.workload.name, point.load);
    }
}

fn table(point: &Point) -> Vec<Row> {
    let mut rows = Vec::new();
    for (class, name) in point.workload.classes.iter().map(|class| class.name.clone()).enumerate() {
        let (measured, predicted) = (&point.measured.classes[class], &point.predicted.classes[class]);
        for (statistic, percentile, within) in [("p50", 0, P50_WITHIN), ("p99", 1, P99_WITHIN)] {
            let pair = |measured: &[[f64; 2]], simulated: &[[f64; 2]]| {
                let of =
                    |rounds: &[[f64; 2]]| rounds.iter().map(|round| round[percentile]).collect::<Vec<_>>();
                Pair::of(&of(measured), &of(simulated))
            };
            let (Some(raw), Some(filtered)) =
                (pair(&measured.raw, &predicted.raw), pair(&measured.filtered, &predicted.filtered))
            else {
                continue;
            };
            rows.push(Row {
                workload: point.workload.name,
                load: point.load,
                class: name.clone(),
                statistic,
                raw,
                filtered,
                within: (percentile == 0 || measured.count >= COUNT_MIN).then_some(within),
                left: point.stalls.left(),
            });
        }
    }
    rows
}

fn print_json(row: &Row) {
    let spread = |of: Spread| serde_json::json!({ "median": of.median, "low": of.low, "high": of.high });
    let pair = |pair: &Pair| {
        serde_json::json!({
            "measured_ns": spread(pair.measured), "simulated_ns": spread(pair.simulated), "ratio": spread(pair.ratio),
        })
    };
    println!(
        "{}",
        serde_json::json!({
            "workload": row.workload, "load": row.load, "class": row.class, "statistic": row.statistic,
            "filtered": pair(&row.filtered), "raw": pair(&row.raw), "within": row.within, "rounds_with_other_stalls": row.left,
            "verdict": row.verdict().map(Verdict::word),
        })
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_from_arrival_to_handler_is_split_among_its_parts() {
        let costs =
            ["costs.dispatcher=\"40ns\"", "costs.start=\"80.5ns\"", "costs.hop=\"9ns\""].map(str::to_owned);
        let split = |path_ns| costs_of_path(costs.to_vec(), path_ns).unwrap();
        assert_eq!(split(300.0), ["costs.dispatcher=40.0ns", "costs.start=80.5ns", "costs.hop=179.5ns"]);
        assert_eq!(split(100.0), ["costs.dispatcher=40.0ns", "costs.start=60.0ns", "costs.hop=0.0ns"]);
    }
}
