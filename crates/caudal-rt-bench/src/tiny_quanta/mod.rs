//! Tiny Quanta's Figures 5 to 12 (Luo et al., ASPLOS 2024) as far as one machine shows them: the runtime on one worker, beside the same
//! runtime run to completion, with a slow yield and with inexact timing. `make measure-tiny-quanta` runs it; the result is kept in `data/`
//! and shown on the pages of the reproduction, apart from what is simulated.
//!
//! The paper has 16 workers, a network and rivals of its own. Here a dispatcher generates the requests, one worker runs them, and the network
//! is left out. What only several workers show (the dispatch variants of Figure 12) can not be measured so: beside each measured point
//! stands the same system on 16 workers, simulated with the costs of this machine and without its stalls.

mod judge;
mod series;

use std::error::Error;
use std::path::PathBuf;

use caudal_config::{File, Options};
use caudal_machine::busy::{Busy, Moment};
use caudal_measure::compare::Spread;
use caudal_measure::trace::Trace;
use caudal_measure::work::Work;
use caudal_sim::engine::{Length, Run};
use clap::Args;
use serde_json::{Value, json};

use self::judge::judge;
use self::series::{Judged, Measurable, Series, all};
use crate::fidelity::predicted::simulated;
use crate::runs::{Once, RunOptions};
use crate::workloads::Workload;

/// Workers of the paper, and requests that are simulated on them at each point.
const SIMULATED: (u32, u64) = (16, 2_000_000);

/// The command.
#[derive(Args)]
pub struct TinyQuanta {
    #[command(flatten)]
    runs: RunOptions,
    /// Loads of the worker
    #[arg(long, value_delimiter = ',', default_values_t = [0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])]
    loads: Vec<f64>,
    /// Rounds, of which the medians are taken
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// Only workloads with this in their names
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Measured times of RocksDB's requests
    #[arg(long, default_value = "data/rocksdb-get-scan.csv", value_name = "FILE")]
    trace: PathBuf,
    /// Write all points here, as JSON
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// One point under one system: a number for each that the series is judged by, of each round.
struct Point {
    load: f64,
    system: Measurable,
    /// By what is judged: raw and filtered, in ns or as a slowdown.
    raw: Vec<Vec<f64>>,
    filtered: Vec<Vec<f64>>,
    simulated: Vec<Option<f64>>,
}

impl TinyQuanta {
    /// Measures, simulates, prints, and writes what was found.
    ///
    /// # Errors
    /// If a runtime can not start, a simulation is refused, or the file can not be written.
    pub fn run(&self) -> Result<(), Box<dyn Error>> {
        let before = Moment::now();
        let work = self.runs.work()?;
        let costs = self.runs.costs()?;
        let wanted =
            |series: &Series| self.only.as_ref().is_none_or(|only| series.workload.name.contains(only));
        let mut found = Vec::new();
        for series in all(&self.trace)?.into_iter().filter(wanted) {
            let mut points = self.points(&series);
            for round in 0..self.rounds {
                for point in &mut points {
                    let (name, system, load) = (series.workload.name, point.system.name, point.load);
                    eprintln!("round {} of {}: {name}, {system} at {load}", round + 1, self.rounds);
                    self.measure(&series, point, work, round)?;
                }
            }
            for point in &mut points {
                point.simulated = simulate(&series, point, &costs)?;
            }
            found.extend(rows(&series, &points));
        }
        found.iter().for_each(print);
        let busy = Busy::between(before, Moment::now(), 2);
        if let Some(warning) = busy.warning() {
            eprintln!("warning: {warning}");
        }
        if let Some(path) = &self.out {
            let all = json!({
                "processor": processor(), "rounds": self.rounds, "span_ns": self.runs.span, "costs": costs,
                "busy": busy.warning(), "rows": found,
            });
            std::fs::write(path, serde_json::to_string_pretty(&all)? + "\n")?;
        }
        Ok(())
    }

    fn points(&self, series: &Series) -> Vec<Point> {
        let none = vec![Vec::new(); series.judged.len()];
        let point = |load: f64, system: Measurable| Point {
            load,
            system,
            raw: none.clone(),
            filtered: none.clone(),
            simulated: Vec::new(),
        };
        // Systems take turns at each load, so that a bad minute of the machine hits all.
        self.loads
            .iter()
            .flat_map(|&load| series.systems.iter().map(move |&system| (load, system)))
            .map(|(load, system)| point(load, system))
            .collect()
    }

    /// One more round of a point.
    fn measure(
        &self,
        series: &Series,
        point: &mut Point,
        work: Work,
        round: u32,
    ) -> Result<(), Box<dyn Error>> {
        let Measurable { discipline, quantum_ns, variant, .. } = point.system;
        let (options, workload, load, seed) =
            (&self.runs, &series.workload, point.load, u64::from(round) + 1);
        let once = Once { options, workload, load, work, seed, quantum_ns };
        let trace = once.trace(discipline, &["--variant", variant])?;
        for (at, judged) in series.judged.iter().enumerate() {
            if let Some(found) = judge(&trace, workload, *judged) {
                point.raw[at].push(found.raw);
                point.filtered[at].push(found.filtered);
            }
        }
        Ok(())
    }
}

/// The same system on as many workers as the paper has, with these costs; none for what is not simulated.
fn simulate(series: &Series, point: &Point, costs: &[String]) -> Result<Vec<Option<f64>>, Box<dyn Error>> {
    let Some(more_ns) = point.system.simulated_with else { return Ok(vec![None; series.judged.len()]) };
    let trace = simulated_trace(&series.workload, point, more_ns, costs)?;
    Ok(series.judged.iter().map(|&judged| Some(judge(&trace, &series.workload, judged)?.raw)).collect())
}

fn simulated_trace(
    workload: &Workload,
    point: &Point,
    more_ns: f64,
    costs: &[String],
) -> Result<Trace, Box<dyn Error>> {
    let discipline = match point.system.discipline {
        "fcfs" => "\"fcfs\"".to_owned(),
        other => format!("{{ policy = \"{other}\", quantum = \"{}ns\" }}", point.system.quantum_ns),
    };
    let ties = if point.system.discipline == "fcfs" { "random" } else { "msq" };
    let classes: Vec<String> = workload
        .classes
        .iter()
        .map(|class| {
            let (name, share, ns) = (&class.name, class.share, class.service_ns);
            format!("{{ name = \"{name}\", weight = {share:?}, service = {{ distribution = \"constant\", value = \"{ns}ns\" }} }}")
        })
        .collect();
    let text = format!(
        "[workload]\nservice = {{ distribution = \"mixture\", classes = [{}] }}\nload = 0.5\n[system]\ncores = {}\n\
         pools = \"per-core\"\ndispatch = {{ policy = \"jsq\", ties = \"{ties}\" }}\ndiscipline = {discipline}\n",
        classes.join(", "),
        SIMULATED.0
    );
    // Workers that a dispatcher feeds do not sleep here; stalls would not be filtered on 16 workers as they are on one.
    let mut overrides: Vec<String> =
        costs.iter().filter(|cost| !cost.starts_with("costs.stalls")).cloned().collect();
    overrides.push("costs.wake_up=0ns".to_owned());
    if let (Some(cost), true) =
        (overrides.iter_mut().find(|cost| cost.starts_with("costs.preemption=")), more_ns > 0.0)
    {
        let typed = cost["costs.preemption=".len()..].trim_matches('"').to_owned();
        let ns = caudal_policy::Picos::parse(&typed)?.0 as f64 / 1e3;
        *cost = format!("costs.preemption={}ns", ns + more_ns);
    }
    let options = Options { overrides, ..Options::default() };
    let config = File::parse_with(&text, "tiny-quanta.toml", &options)?.points()?.remove(0);
    let run = Run {
        mean_gap_ps: config.workload.service.mean_ps() / (point.load * f64::from(SIMULATED.0)),
        seed: 1,
        ..Run::of(&config, Length { warm_up: 0, measured: SIMULATED.1 })
    };
    simulated(&run, config.workload.service.classes(), workload, point.load)
}

/// The rows of a series, as they are written.
fn rows(series: &Series, points: &[Point]) -> Vec<Value> {
    let spread =
        |of: &[f64]| Spread::of(of).map(|it| json!({ "median": it.median, "low": it.low, "high": it.high }));
    let of_point = |point: &Point| {
        let row = |(at, judged): (usize, &Judged)| {
            json!({
                "figures": judged.figures, "workload": series.workload.name, "system": point.system.name,
                "load": point.load, "requests_per_s": point.load * 1e9 / series.workload.mean_ns(),
                "requests": if judged.kind.is_empty() { "all" } else { judged.kind }, "percentile": judged.percentile,
                "is_slowdown": judged.is_slowdown, "limit": judged.limit,
                "raw": spread(&point.raw[at]), "filtered": spread(&point.filtered[at]),
                "simulated_on_16": point.simulated.get(at).copied().flatten(),
            })
        };
        series.judged.iter().enumerate().map(row).collect::<Vec<_>>()
    };
    points.iter().flat_map(of_point).collect()
}

fn print(row: &Value) {
    let unit = if row["is_slowdown"] == true { 1.0 } else { 1e3 };
    let show =
        |value: &Value| value.as_f64().map_or("–".to_owned(), |value| format!("{:.2}", value / unit));
    println!(
        "{:<16} {:<18} {:>4} {:<6} p{:<5} raw {:>9} filtered {:>9} simulated on 16 {:>9}{}",
        row["workload"].as_str().unwrap_or_default(),
        row["system"].as_str().unwrap_or_default(),
        row["load"],
        row["requests"].as_str().unwrap_or_default(),
        row["percentile"],
        show(&row["raw"]["median"]),
        show(&row["filtered"]["median"]),
        show(&row["simulated_on_16"]),
        if unit == 1.0 { "" } else { " us" },
    );
}

/// The processor's name, as the kernel has it.
fn processor() -> String {
    let about = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = about.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    model.map_or("unknown".to_owned(), |(_, name)| name.to_owned())
}
