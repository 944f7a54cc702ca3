//! `caudal sim FILE`: simulate everything that a file asks for.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use caudal_config::{File, Options, Point};
use caudal_sim::recorded::Recorded;
use clap::Args;
use serde_json::Value;

use crate::bounds;
use crate::exit::{Failure, Interrupted};
use crate::exit_code;
use crate::global::Global;
use crate::results::{Meta, Results, digest, digests, make_dir};
use crate::sweep::{HDR, Stopped, Swept, sweep};
use crate::table::{Table, digits, estimate, time};
use crate::timeline::Window;

#[derive(Args, Debug)]
pub(crate) struct SimArgs {
    /// The file; lists in it (load, allocation.cores, discipline.quantum, ...) are swept
    file: PathBuf,
    /// Change a key of the file, as in --set system.discipline.quantum=1us
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Take the costs of this file, as `caudal calibrate` writes it, instead of those of FILE; --set and costs of a system
    /// win
    #[arg(long, value_name = "COSTS")]
    costs: Option<PathBuf>,
    /// Keep results in this directory, and go on there if it has some already
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Keep the latencies of each point in DIR/hdr as well, as logs that the tools of HdrHistogram read
    #[arg(long, requires = "out")]
    hdr: bool,
    /// Write a timeline of the first point for Perfetto (ui.perfetto.dev) to this file
    #[arg(long, value_name = "FILE")]
    timeline: Option<PathBuf>,
    /// The part of the run that the timeline shows, in simulated time
    #[arg(long, value_name = "FROM..TO", default_value = "1ms..1.2ms", requires = "timeline")]
    window: String,
    /// Check after every event of 100,000 requests whether lanes keep their bounds (Q-Zilla, equations 1 and 3); exit with
    /// 1 if they do not
    #[arg(long)]
    check_bounds: bool,
}

pub(crate) fn run(args: &SimArgs, global: &Global) -> miette::Result<ExitCode> {
    let options = Options { overrides: args.overrides()?, ..Options::default() };
    let file = File::read_with(&args.file, &options)?;
    let points = file.points()?;
    if let Some(workload) = &file.workload {
        for finding in workload.service.findings() {
            errln!("note: {finding}");
        }
    }
    let in_order = file.workload.as_deref().and_then(crate::describe::in_order);
    for note in crate::describe::nothing_forks(&file).into_iter().chain(in_order) {
        errln!("note: {note}");
    }
    let timeline = args.timeline.as_ref().map(|path| Window::open(path, &args.window)).transpose()?;
    let results = args.out.as_ref().map(|dir| args.open(dir, &file, points.len(), global)).transpose()?;
    if let (Some(window), Some(point)) = (timeline, points.first()) {
        window.write(point, global)?;
    }
    let broken = if args.check_bounds { bounds::check(&points, global)? } else { 0 };
    let kept = results.is_some();
    let Swept { rows, outcome } = sweep(&points, results, args.hdr, global);
    // What there is comes first, whatever went wrong after it.
    if !global.json && (!rows.is_empty() || outcome.is_ok()) {
        out!("{}", table(&points, &rows));
        for note in
            [full_lane(&rows), too_short(&rows), cut_off(&rows), at_gap(&rows), vague_misses(&points, &rows)]
                .into_iter()
                .flatten()
        {
            outln!("\n{note}");
        }
    }
    match outcome {
        Err(Stopped::Interrupted) => {
            let done = format!("{} of {} points are done", rows.len(), points.len());
            let how =
                if kept { "; the same command goes on from there" } else { "; --out DIR would keep them" };
            Err(Interrupted(format!(": {done}{how}")).into())
        }
        Err(Stopped::Failed(error)) => Err(error),
        Ok(()) if broken > 0 => Ok(ExitCode::from(exit_code::NO)),
        Ok(()) => Ok(ExitCode::SUCCESS),
    }
}

impl SimArgs {
    /// What wins over the file: the costs of another one, and then what --set says.
    fn overrides(&self) -> miette::Result<Vec<String>> {
        let mut overrides =
            self.costs.as_ref().map(caudal_config::costs_as_overrides).transpose()?.unwrap_or_default();
        overrides.extend(self.set.iter().cloned());
        Ok(overrides)
    }

    fn open(&self, dir: &Path, file: &File, points: usize, global: &Global) -> miette::Result<Results> {
        // Without overrides as it was written, comments and all.
        let text = match self.set.is_empty() && self.costs.is_none() {
            true => std::fs::read_to_string(&self.file)
                .map_err(|error| Failure(format!("can not read `{}` again: {error}", self.file.display())))?,
            false => {
                let costs = self.costs.iter().map(|path| format!(" --costs {}", path.display()));
                let set = self.set.iter().map(|set| format!(" --set {set}"));
                let with: String = costs.chain(set).collect();
                format!("# {} with{with}\n\n{}", self.file.display(), file.effective)
            }
        };
        let mut asked = vec![
            ("what the file says".to_owned(), digest(file.effective.as_bytes()).into()),
            ("--quick".to_owned(), global.quick.into()),
        ];
        asked.extend(digests(file.workload.as_ref().map_or(&[], |workload| &workload.files))?);
        let meta = Meta { command: "sim", seed: file.measure.seed, points: Some(points), asked };
        let results = Results::open(dir, &text, &meta)?;
        if self.hdr {
            make_dir(&results.path(HDR))?;
        }
        Ok(results)
    }
}

/// What to say of points whose runs were too short, if there are any.
fn too_short(rows: &[Value]) -> Option<String> {
    let short =
        |row: &&Value| row["steady"] == false && row["overloaded"] == false && row.get("recorded").is_none();
    let short = rows.iter().filter(short).count();
    (short > 0).then(|| {
        format!(
            "{short} of {} points are too short for their steady state, their tails may be longer: give \
             `measure.requests` more, or leave out --quick (key `steady` of the rows)",
            rows.len()
        )
    })
}

/// What to say of recorded arrivals that were not played to their end, if there are any.
fn cut_off(rows: &[Value]) -> Option<String> {
    let recorded = |row: &Value| serde_json::from_value::<Recorded>(row["recorded"].clone()).ok();
    let cut: Vec<Recorded> = rows.iter().filter_map(recorded).filter(|it| !it.is_whole()).collect();
    let first = cut.first()?;
    Some(format!(
        "{} of {} points played only {} of {} recorded arrivals, and are about these: give `measure.requests` or \
         `measure.stop.max_requests` more (key `recorded` of the rows)",
        cut.len(),
        rows.len(),
        indicatif::HumanCount(first.left_out + first.measured),
        indicatif::HumanCount(first.arrivals)
    ))
}

/// What to say of lanes that have more to do than they can, if there are any.
fn full_lane(rows: &[Value]) -> Option<String> {
    let full = |row: &&Value| {
        row["lanes"].as_array().into_iter().flatten().any(|lane| lane["busy"].as_f64() >= Some(1.0))
    };
    let first = rows.iter().find(full)?;
    let lanes = first["lanes"].as_array()?;
    let lane =
        lanes.iter().max_by(|a, b| a["busy"].as_f64().partial_cmp(&b["busy"].as_f64()).expect("no NaN"))?;
    let (busy, servers) = (lane["busy"].as_f64()?, lane["servers"].as_f64()?);
    Some(format!(
        "{} of {} points have a lane that can not keep up, whatever the other cores do: at load {} of `{}`, lane {} asks for \
         {} cores and has at most {servers}; `caudal lanes` finds cutoffs and reservations (key `lanes` of the rows)",
        rows.iter().filter(full).count(),
        rows.len(),
        plain(&first["load"]),
        plain(&first["system"]),
        plain(&lane["lane"]),
        digits(busy * servers),
    ))
}

/// What to say of miss ratios that are known worse than was asked, if there are any: how many requests it takes.
fn vague_misses(points: &[Point], rows: &[Value]) -> Option<String> {
    let error = points.first()?.measure.stop.relative_error;
    let needed = |row: &Value| {
        let found: Vec<caudal_sim::row::Miss> = serde_json::from_value(row["misses"].clone()).ok()?;
        let worst = found.iter().map(|miss| miss.ratio.relative_half_width()).fold(0.0, f64::max);
        // An error as large as the ratio says nothing of how many it takes.
        let factor = if worst < 1.0 { (worst / error).powi(2) } else { f64::INFINITY };
        (worst > error).then(|| row["requests"].as_f64().unwrap_or(0.0) * factor)
    };
    let most = rows.iter().filter_map(needed).fold(0.0, f64::max);
    (most > 0.0).then(|| {
        let how = "(`measure.stop.max_requests`, `measure.requests`)";
        let percent = digits(100.0 * error);
        match most.is_finite() {
            true => format!(
                "to know the rarest of these miss ratios to {percent} % takes about {} M requests of its system: errors \
                 shrink with the square root {how}",
                digits(most / 1e6)
            ),
            false => format!(
                "the rarest of these miss ratios stems from so few misses, or from one burst of them, that it can not be told \
                 how many requests would show it to {percent} %: begin with ten times as many {how}"
            ),
        }
    })
}

/// What to say of percentiles that lie at a gap, if there are any.
fn at_gap(rows: &[Value]) -> Option<String> {
    let gaps = |row: &Value| row["at_gap"].as_array().cloned().unwrap_or_default();
    let with = rows.iter().filter(|row| !gaps(row).is_empty()).count();
    let gap = rows.iter().flat_map(gaps).next()?;
    let (low, high) = (time(gap["low_ns"].as_f64()?), time(gap["high_ns"].as_f64()?));
    Some(format!(
        "{with} of {} points have a percentile at a gap, as the {} between {low} and {high}: hardly any request takes a \
         time between, on which side a run finds it is luck, so it does not count for the precision (key `at_gap` of \
         the rows)",
        rows.len(),
        caudal_stats::percentile_label(gap["percentile"].as_f64()?)
    ))
}

/// The rows as a table.
pub(crate) fn table(points: &[Point], rows: &[Value]) -> Table {
    let varied = varied(points);
    let percentiles = points.first().map(|point| point.measure.percentiles.clone()).unwrap_or_default();
    let labels: Vec<String> = percentiles.iter().map(|&p| caudal_stats::percentile_label(p)).collect();
    let mut head = vec!["system"];
    head.extend(&varied);
    head.extend(["load", "mean"]);
    head.extend(labels.iter().map(String::as_str));
    let waits = points.first().is_some_and(|point| point.measure.wait);
    let waiting: Vec<String> = std::iter::once("mean")
        .chain(labels.iter().map(String::as_str))
        .filter(|_| waits)
        .map(|statistic| format!("wait {statistic}"))
        .collect();
    head.extend(waiting.iter().map(String::as_str));
    let late = points.first().map(|point| point.measure.miss.clone()).unwrap_or_default();
    let misses: Vec<String> = late.iter().map(|late| format!("miss {late}")).collect();
    head.extend(misses.iter().map(String::as_str));
    head.extend(["efficiency", "cores", "preempt/req"]);
    let loads: Vec<f64> = rows.iter().filter_map(|row| row["load"].as_f64()).collect();
    let decimals = decimals(&loads);
    let mut table = Table::new(&head);
    for row in rows {
        let mut cells = vec![row["system"].as_str().unwrap_or("?").to_owned()];
        cells.extend(varied.iter().map(|key| match &row["varied"][*key] {
            Value::Null => "–".to_owned(),
            value => plain(value),
        }));
        cells.push(row["load"].as_f64().map_or("?".into(), |value| load(value, decimals)));
        let latency = &row["latency_ns"];
        if row["overloaded"] == true {
            cells.push("overloaded".into());
            cells.extend(labels.iter().map(|_| "–".to_owned()));
        } else {
            cells.push(shown(&latency["mean"], time));
            cells.extend(labels.iter().map(|label| shown(&latency[label.as_str()], time)));
        }
        cells.extend(waiting.iter().map(|name| shown(&row["waiting_ns"][&name["wait ".len()..]], time)));
        cells
            .extend((0..late.len()).map(|at| {
                shown(&row["misses"][at]["ratio"], |share| format!("{} %", digits(100.0 * share)))
            }));
        cells.push(shown(&row["efficiency"], |share| format!("{:.1} %", 100.0 * share)));
        cells.push(shown(&row["cores_mean"], digits));
        cells.push(shown(&row["preemptions_per_request"], digits));
        table.row(cells);
    }
    table
}

/// The keys that vary from point to point, but for the load: a file may have several systems, each with its own.
fn varied(points: &[Point]) -> Vec<&str> {
    let mut keys: Vec<&str> = Vec::new();
    for (key, _) in points.iter().flat_map(|point| &point.varied) {
        if key != "load" && !keys.contains(&key.as_str()) {
            keys.push(key);
        }
    }
    keys
}

/// Digits behind the point that tell these loads apart; at least two.
fn decimals(loads: &[f64]) -> usize {
    let distinct = |texts: Vec<String>| texts.into_iter().collect::<BTreeSet<_>>().len();
    let all = distinct(loads.iter().map(f64::to_string).collect());
    let told_apart =
        |decimals: &usize| distinct(loads.iter().map(|load| format!("{load:.decimals$}")).collect()) == all;
    (2..7).find(told_apart).unwrap_or(7)
}

/// A load, however small it is.
fn load(value: f64, decimals: usize) -> String {
    if value >= 0.01 { format!("{value:.decimals$}") } else { format!("{value:.2e}") }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn shown(value: &Value, show: impl Fn(f64) -> String) -> String {
    let read: Result<caudal_stats::Estimate, _> = serde_json::from_value(value.clone());
    read.map_or("–".to_owned(), |known| estimate(&known, show))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_that_differ_look_different() {
        let shown = |loads: &[f64]| -> Vec<String> {
            loads.iter().map(|&value| load(value, decimals(loads))).collect()
        };
        assert_eq!(shown(&[0.935, 0.94, 0.945]), ["0.935", "0.940", "0.945"]);
        assert_eq!(shown(&[0.5, 0.5]), ["0.50", "0.50"]);
        assert_eq!(shown(&[0.001, 0.9]), ["1.00e-3", "0.90"]);
    }
}
