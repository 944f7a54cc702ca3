//! `caudal sim FILE`: simulate everything that a file asks for. It reads FILE, simulates each of its points on all threads, prints a
//! table or JSON lines, and keeps rows in a results directory, from which the same command goes on after a break.

use std::collections::BTreeSet;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use caudal_config::{File, Options, Point};
use caudal_results::describe::grouped;
use caudal_results::files::{writable, write_beside};
use caudal_results::table::{Table, digits, estimate, time};
use caudal_results::timeline::Window;
use caudal_results::{Meta, ResultsDirectory, ResultsError, RowStore, Swept, bounds, digest, digests, sweep};
use caudal_row::{Gap, LaneRow, Recorded, Row};
use caudal_stats::{Estimate, Summary, percentile_label};
use clap::Args;
use serde_json::Value;

use crate::exit::{Failure, Interrupted};
use crate::exit_code;
use crate::global::Global;
use crate::progress::ProgressLine;

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
    let in_order = file.workload.as_deref().and_then(caudal_results::describe::in_order);
    for note in caudal_results::describe::nothing_forks(&file).into_iter().chain(in_order) {
        errln!("note: {note}");
    }
    let timeline = args.timeline.as_deref().map(|path| args.window(path)).transpose()?;
    let mut kept = args.out.as_ref().map(|dir| args.open(dir, &file, points.len(), global)).transpose()?;
    if let (Some((window, path)), Some(point)) = (timeline, points.first()) {
        write_timeline(&window, path, point, global)?;
    }
    let broken = if args.check_bounds { check_bounds(&points, global)? } else { 0 };
    let line = ProgressLine::new(global, points.len() as u64, "simulating");
    let show = |row: &Row| {
        if global.json {
            line.note_data(&row.to_line());
        }
    };
    let store = kept.as_mut().map(|kept| kept as &mut dyn RowStore);
    let Swept { rows, outcome } =
        sweep(&points, global.quick, store, &global.control(&|progress| line.tell(progress)), &show);
    line.finish();
    if let (Some(kept), Ok(())) = (&kept, &outcome) {
        errln!("wrote {}", kept.path("report.html").display());
    }
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
        Err(ResultsError::Interrupted) => {
            let done = format!("{} of {} points are done", rows.len(), points.len());
            let how = match kept {
                Some(_) => "; the same command goes on from there",
                None => "; --out DIR would keep them",
            };
            Err(Interrupted(format!(": {done}{how}")).into())
        }
        Err(error) => Err(error.into()),
        Ok(()) if broken > 0 => Ok(ExitCode::from(exit_code::NO)),
        Ok(()) => Ok(ExitCode::SUCCESS),
    }
}

impl SimArgs {
    /// The settings that win over the file: the costs of another one, and then what --set says.
    fn overrides(&self) -> miette::Result<Vec<String>> {
        let mut overrides =
            self.costs.as_ref().map(caudal_config::costs_as_overrides).transpose()?.unwrap_or_default();
        overrides.extend(self.set.iter().cloned());
        Ok(overrides)
    }

    fn open(
        &self,
        dir: &Path,
        file: &File,
        points: usize,
        global: &Global,
    ) -> miette::Result<ResultsDirectory> {
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
        Ok(ResultsDirectory::open(dir, &text, &meta, self.hdr)?)
    }

    /// The window of the timeline, to be written to `path`, which is known to take it.
    fn window<'a>(&self, path: &'a Path) -> miette::Result<(Window, &'a Path)> {
        let window = Window::parse(&self.window)?;
        writable(path)?;
        Ok((window, path))
    }
}

/// Runs the point and writes the window of it. Under another name first: what is there already is not lost to half a file.
fn write_timeline(window: &Window, path: &Path, point: &Point, global: &Global) -> miette::Result<()> {
    let line = ProgressLine::new(global, 100, "timeline");
    let tell = |progress| line.tell(progress);
    let control = global.control(&tell);
    let watched = window.watch(point, &control);
    line.finish();
    let watched = watched.map_err(|error| match error {
        ResultsError::Interrupted => Interrupted(": the timeline is not written".to_owned()).into(),
        error => miette::Report::from(error),
    })?;
    write_beside(path, |file| watched.write(BufWriter::new(file)))?;
    errln!("wrote {}: open it at ui.perfetto.dev", path.display());
    Ok(())
}

/// The number of points whose discipline broke a bound; says of each what became of its bounds.
fn check_bounds(points: &[Point], global: &Global) -> miette::Result<usize> {
    let line = ProgressLine::new(global, bounds::steps(points) as u64, "checking bounds");
    let broken = bounds::check(points, &global.control(&|progress| line.tell(progress)), &|point, said| {
        errln!("bounds of {point}: {said}");
    });
    line.finish();
    Ok(broken?)
}

/// A note on points whose runs were too short, if there are any.
fn too_short(rows: &[Row]) -> Option<String> {
    let short = |row: &&Row| !row.steady && !row.overloaded && row.recorded.is_none();
    let short = rows.iter().filter(short).count();
    (short > 0).then(|| {
        format!(
            "{short} of {} points are too short for their steady state, their tails may be longer: give \
             `measure.requests` more, or leave out --quick (key `steady` of the rows)",
            rows.len()
        )
    })
}

/// A note on recorded arrivals that were not played to their end, if there are any.
fn cut_off(rows: &[Row]) -> Option<String> {
    let cut: Vec<Recorded> = rows.iter().filter_map(|row| row.recorded).filter(|it| !it.is_whole()).collect();
    let first = cut.first()?;
    Some(format!(
        "{} of {} points played only {} of {} recorded arrivals, and are about these: give `measure.requests` or \
         `measure.stop.max_requests` more (key `recorded` of the rows)",
        cut.len(),
        rows.len(),
        grouped(first.left_out + first.measured),
        grouped(first.arrivals)
    ))
}

/// A note on lanes that have more to do than they can, if there are any.
fn full_lane(rows: &[Row]) -> Option<String> {
    let full = |row: &&Row| row.lanes.iter().any(|lane| lane.busy >= 1.0);
    let first = rows.iter().find(full)?;
    let LaneRow { lane, busy, servers, .. } =
        *first.lanes.iter().max_by(|a, b| a.busy.partial_cmp(&b.busy).expect("no NaN"))?;
    Some(format!(
        "{} of {} points have a lane that can not keep up, whatever the other cores do: at load {} of `{}`, lane {lane} asks for \
         {} cores and has at most {servers}; `caudal lanes` finds cutoffs and reservations (key `lanes` of the rows)",
        rows.iter().filter(full).count(),
        rows.len(),
        Value::from(first.load),
        first.system,
        digits(busy * f64::from(servers)),
    ))
}

/// A note on miss ratios that are known worse than was asked, if there are any: how many requests it takes.
fn vague_misses(points: &[Point], rows: &[Row]) -> Option<String> {
    let error = points.first()?.measure.stop.relative_error;
    let needed = |row: &Row| {
        let worst = row.misses.iter().map(|miss| miss.ratio.relative_half_width()).fold(0.0, f64::max);
        // An error as large as the ratio says nothing of how many it takes.
        let factor = if worst < 1.0 { (worst / error).powi(2) } else { f64::INFINITY };
        (worst > error).then_some(row.requests as f64 * factor)
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

/// A note on percentiles that lie at a gap, if there are any.
fn at_gap(rows: &[Row]) -> Option<String> {
    let with = rows.iter().filter(|row| !row.at_gap.is_empty()).count();
    let Gap { percentile, low_ns, high_ns } = *rows.iter().flat_map(|row| &row.at_gap).next()?;
    Some(format!(
        "{with} of {} points have a percentile at a gap, as the {} between {} and {}: hardly any request takes a \
         time between, on which side a run finds it is luck, so it does not count for the precision (key `at_gap` of \
         the rows)",
        rows.len(),
        percentile_label(percentile),
        time(low_ns),
        time(high_ns),
    ))
}

/// The rows as a table.
pub(crate) fn table(points: &[Point], rows: &[Row]) -> Table {
    let varied = varied(points);
    let percentiles = points.first().map(|point| point.measure.percentiles.clone()).unwrap_or_default();
    let labels: Vec<String> = percentiles.iter().map(|&p| percentile_label(p)).collect();
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
    let loads: Vec<f64> = rows.iter().map(|row| row.load).collect();
    let decimals = decimals(&loads);
    let mut table = Table::new(&head);
    for row in rows {
        let mut cells = vec![row.system.clone()];
        cells.extend(varied.iter().map(|key| row.varied.get(*key).map_or("–".to_owned(), plain)));
        cells.push(load(row.load, decimals));
        if row.overloaded {
            cells.push("overloaded".into());
            cells.extend(labels.iter().map(|_| "–".to_owned()));
        } else {
            cells.extend(statistics(&row.latency_ns, &percentiles).map(|found| estimate(&found, time)));
        }
        if waits {
            let missing = Summary::missing(&percentiles);
            let of = row.waiting_ns.as_ref().unwrap_or(&missing);
            cells.extend(statistics(of, &percentiles).map(|found| estimate(&found, time)));
        }
        cells.extend((0..late.len()).map(|at| {
            let ratio = row.misses.get(at).map_or(Estimate::MISSING, |miss| miss.ratio);
            estimate(&ratio, |share| format!("{} %", digits(100.0 * share)))
        }));
        cells.push(estimate(&row.efficiency, |share| format!("{:.1} %", 100.0 * share)));
        cells.push(estimate(&row.cores_mean, digits));
        cells.push(estimate(&row.preemptions_per_request, digits));
        table.row(cells);
    }
    table
}

/// The mean, and these percentiles.
fn statistics(summary: &Summary, percentiles: &[f64]) -> impl Iterator<Item = Estimate> {
    let percentile = |&p: &f64| summary.percentile(p).unwrap_or(Estimate::MISSING);
    std::iter::once(summary.mean).chain(percentiles.iter().map(percentile))
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
