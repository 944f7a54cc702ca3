//! `caudal sim FILE`: simulate everything that a file asks for.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;

use caudal_config::{File, Options, Point};
use caudal_sim::experiment::ExperimentError;
use caudal_sim::row::Row;
use caudal_sim::sweep::Sweep;
use clap::Args;
use miette::{IntoDiagnostic, WrapErr};
use serde_json::{Value, json};

use crate::exit::Interrupted;
use crate::global::Global;
use crate::progress::Progress;
use crate::results::Results;
use crate::table::{Table, digits, estimate, time};

#[derive(Args, Debug)]
pub(crate) struct SimArgs {
    /// The file; lists in it (load, allocation.cores, discipline.quantum, ...) are swept
    file: PathBuf,
    /// Change a key of the file, as in --set system.discipline.quantum=1us
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Keep results in this directory, and go on there if it has some already
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write a timeline of the first point for Perfetto (ui.perfetto.dev) to this file
    #[arg(long, value_name = "FILE")]
    timeline: Option<PathBuf>,
    /// The part of the run that the timeline shows, in simulated time
    #[arg(long, value_name = "FROM..TO", default_value = "1ms..1.2ms", requires = "timeline")]
    window: String,
}

pub(crate) fn run(args: &SimArgs, global: &Global) -> miette::Result<ExitCode> {
    let options = Options { overrides: args.set.clone(), ..Options::default() };
    let file = File::read_with(&args.file, &options)?;
    let points = file.points()?;
    if let Some(workload) = &file.workload {
        for finding in workload.service.findings() {
            eprintln!("note: {finding}");
        }
    }
    if let (Some(path), Some(point)) = (&args.timeline, points.first()) {
        crate::timeline::write(path, &args.window, point)?;
        eprintln!("wrote {}: open it at ui.perfetto.dev", path.display());
    }
    let text =
        std::fs::read_to_string(&args.file).into_diagnostic().wrap_err("can not read the file again")?;
    let asked = json!({ "config": text, "set": args.set, "quick": global.quick });
    let results = args.out.as_ref().map(|dir| Results::open(dir, &text, &asked)).transpose()?;
    let rows = sweep(&points, results, "simulating", global)?;
    if !global.json {
        out!("{}", table(&points, &rows));
    }
    Ok(ExitCode::SUCCESS)
}

/// Simulates the points that `results` does not have yet; returns all rows in the order of the points.
///
/// # Errors
/// [`Interrupted`], with what was done in the results directory.
pub(crate) fn sweep(
    points: &[Point],
    results: Option<Results>,
    what: &str,
    global: &Global,
) -> miette::Result<Vec<Value>> {
    let done = results.as_ref().map(Results::points_done).unwrap_or_default();
    let found = results.as_ref().map(|results| results.found.clone()).unwrap_or_default();
    let todo: Vec<usize> = (0..points.len()).filter(|&index| !done.contains(&points[index].key)).collect();
    let progress = Progress::new(global, points.len() as u64, what);
    progress.set_done((points.len() - todo.len()) as u64);
    let mut rows: Vec<Option<Value>> = points
        .iter()
        .map(|point| found.iter().find(|row| row["point"] == point.key.as_str()).cloned())
        .collect();
    if global.json {
        rows.iter().flatten().for_each(|row| outln!("{row}"));
    }
    let collected = Mutex::new((results, &mut rows, Ok(())));
    let mut on_row = |index: usize, row: Row| {
        let value = serde_json::to_value(&row).unwrap_or_else(|error| json!({ "error": error.to_string() }));
        let mut collected = collected.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let (results, rows, outcome) = &mut *collected;
        if global.json {
            progress.note_data(&value);
        }
        if let (Some(results), Ok(())) = (results.as_mut(), &outcome) {
            *outcome = results.add(&value);
        }
        rows[index] = Some(value);
        progress.step();
    };
    let requests = |more| progress.requests(more);
    let Global { threads, quick, ref stop, .. } = *global;
    let outcome = Sweep { points, quick, threads, stop, progress: &requests }.run(&todo, &mut on_row);
    progress.finish();
    let (results, _, written) = collected.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    written?;
    if let Err(error) = outcome {
        return Err(match error.source {
            ExperimentError::Interrupted(_) => {
                let kept = if results.is_some() { "; what was done is kept" } else { "" };
                Interrupted(kept.to_owned()).into()
            }
            source => miette::miette!("{}: {source}", error.point),
        });
    }
    let rows: Vec<Value> = rows.into_iter().flatten().collect();
    if let Some(results) = &results {
        results.finish(&rows)?;
        super::report::write(&results.path("report.html"), &rows, &results.path("config.toml"))?;
        eprintln!("wrote {}", results.path("report.html").display());
    }
    Ok(rows)
}

/// The rows as a table.
pub(crate) fn table(points: &[Point], rows: &[Value]) -> Table {
    let varied: Vec<&str> = points.first().map_or(Vec::new(), |point| {
        point.varied.iter().map(|(key, _)| key.as_str()).filter(|key| *key != "load").collect()
    });
    let percentiles = points.first().map(|point| point.measure.percentiles.clone()).unwrap_or_default();
    let labels: Vec<String> = percentiles.iter().map(|&p| caudal_stats::percentile_label(p)).collect();
    let mut head = vec!["system"];
    head.extend(&varied);
    head.extend(["load", "mean"]);
    head.extend(labels.iter().map(String::as_str));
    head.extend(["efficiency", "cores", "preempt/req"]);
    let mut table = Table::new(&head);
    for row in rows {
        let mut cells = vec![row["system"].as_str().unwrap_or("?").to_owned()];
        cells.extend(varied.iter().map(|key| plain(&row["varied"][*key])));
        cells.push(row["load"].as_f64().map_or("?".into(), digits));
        let latency = &row["latency_ns"];
        if row["overloaded"] == true {
            cells.push("overloaded".into());
            cells.extend(labels.iter().map(|_| "–".to_owned()));
        } else {
            cells.push(shown(&latency["mean"], time));
            cells.extend(labels.iter().map(|label| shown(&latency[label.as_str()], time)));
        }
        cells.push(shown(&row["efficiency"], |share| format!("{:.1} %", 100.0 * share)));
        cells.push(shown(&row["cores_mean"], digits));
        cells.push(shown(&row["preemptions_per_request"], digits));
        table.row(cells);
    }
    table
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn shown(value: &Value, show: impl Fn(f64) -> String) -> String {
    let read: Result<caudal_stats::Estimate, _> = serde_json::from_value(value.clone());
    read.map_or("–".to_owned(), |known| estimate(&known, show))
}
