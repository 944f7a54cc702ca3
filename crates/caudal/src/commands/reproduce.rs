//! `caudal reproduce [NAME|all]...`: the figures of the papers, and what became of their statements.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use caudal_report::{Outcome, Report};
use caudal_sim::experiment::ExperimentError;
use clap::Args;
use miette::{IntoDiagnostic, miette};
use serde_json::json;

use crate::exit::{self, Interrupted};
use crate::global::Global;
use crate::progress::Progress;
use crate::reproduce::figure::{Figure, Measured, Source};
use crate::reproduce::page::{Judged, Part, page, word};
use crate::reproduce::refine::refine;
use crate::reproduce::run::{Plan, RunError};
use crate::reproduce::{FIGURES, stands_for};
use crate::results::{cannot_write, make_dir, write_whole};

/// What is kept of a figure for the page: its verdicts, and its part of the text.
const VERDICTS: &str = "verdicts.json";
/// See [`VERDICTS`].
const SECTION: &str = "section.md";

#[derive(Args, Debug)]
pub(crate) struct ReproduceArgs {
    /// A figure such as policies-figure-3; policies-figure-5 stands for 5a to 5c, policies, tiny-quanta,
    /// q-zilla or tail-control for all of a paper
    #[arg(default_value = "all", value_name = "NAME|all")]
    names: Vec<String>,
    /// Keep rows, figures, verdicts and reports in this directory
    #[arg(long, value_name = "DIR", default_value = "caudal-results-reproduce")]
    out: PathBuf,
    /// Write reproduction.md and figures/ into this directory; of figures that are not run now, what the directory of --out has
    /// from before
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = "docs", conflicts_with = "quick")]
    docs: Option<PathBuf>,
    /// Exit with 1 if a statement does not hold
    #[arg(long)]
    strict: bool,
}

pub(crate) fn run(args: &ReproduceArgs, global: &Global) -> miette::Result<ExitCode> {
    let figures = chosen(args)?;
    let plans =
        figures.iter().map(|figure| Plan::new(figure, global.quick)).collect::<Result<Vec<_>, _>>()?;
    make_dir(&args.out)?;
    args.docs.as_deref().map_or(Ok(()), make_dir)?;
    let steps: usize = plans.iter().map(Plan::steps).sum();
    let progress = Progress::new(global, steps as u64, "reproducing");
    let mut measured = Vec::new();
    for (figure, plan) in figures.iter().zip(&plans) {
        measured.push((figure.name, measure(figure, plan, args, global, &progress)?));
        keep(&judged(figure, &measured)?, &measured, &args.out)?;
    }
    if !global.quick {
        refine(&figures, &plans, &mut measured, global, &progress)
            .map_err(|error| broken(error, "points"))?;
    }
    progress.finish();
    let all = figures.iter().map(|figure| judged(figure, &measured)).collect::<Result<Vec<_>, _>>()?;
    for judged in &all {
        keep(judged, &measured, &args.out)?;
        show(judged, &measured, global);
    }
    if let Some(docs) = &args.docs {
        write_docs(&all, &args.out, docs)?;
    }
    let failed =
        all.iter().flat_map(|judged| &judged.verdicts).any(|verdict| verdict.verdict == Outcome::DoesNotHold);
    Ok(if args.strict && failed { ExitCode::from(exit::NO) } else { ExitCode::SUCCESS })
}

fn judged(figure: &'static Figure, measured: &[(&'static str, Measured)]) -> miette::Result<Judged> {
    Judged::new(figure, measured).ok_or_else(|| miette!("{} has not been measured", figure.name))
}

/// What to tell when simulating was broken off.
fn broken(RunError { point, source }: RunError, place: &str) -> miette::Report {
    match source {
        ExperimentError::Interrupted(_) => Interrupted("; figures that were done are kept".to_owned()).into(),
        source => miette!("{place}, {point}: {source}"),
    }
}

/// The figures that are named, in the order of the page: what a statement needs comes before it.
fn chosen(args: &ReproduceArgs) -> miette::Result<Vec<&'static Figure>> {
    if let Some(unknown) =
        args.names.iter().find(|name| !FIGURES.iter().any(|figure| stands_for(name, figure)))
    {
        let names: Vec<&str> = FIGURES.iter().map(|figure| figure.name).collect();
        let help = format!("write all, or one of {}", names.join(", "));
        return Err(miette!(help = help, "no figure is called `{unknown}`"));
    }
    let named = |figure: &&Figure| args.names.iter().any(|name| stands_for(name, figure));
    Ok(FIGURES.iter().filter(named).collect())
}

/// Its files, one after the other.
fn config(figure: &Figure) -> String {
    match figure.files {
        [one] => one.text.to_owned(),
        several => {
            let part = |source: &Source| format!("# ---- {}\n\n{}", source.path(figure.name), source.text);
            several.iter().map(part).collect::<Vec<_>>().join("\n")
        }
    }
}

/// Simulates a figure; its rows are written as they come.
fn measure(
    figure: &Figure,
    plan: &Plan,
    args: &ReproduceArgs,
    global: &Global,
    progress: &Progress,
) -> miette::Result<Measured> {
    let dir = args.out.join(figure.name);
    let rows = std::fs::create_dir_all(&dir).and_then(|()| File::create(dir.join("rows.jsonl")));
    let mut rows = rows.map_err(|error| cannot_write(&dir, &error))?;
    for source in figure.files {
        let name = if source.workload.is_empty() { "config" } else { source.workload };
        write_whole(&dir.join(format!("{name}.toml")), source.text)?;
    }
    let mut written = Ok(());
    let found = plan.run(global, progress, &mut |row| {
        if written.is_ok() {
            written = rows.write_all(format!("{row}\n").as_bytes());
        }
    });
    written.map_err(|error| cannot_write(&dir, &error))?;
    found.map_err(|error| broken(error, figure.name))
}

fn rows<'a>(
    figure: &Figure,
    measured: &'a [(&'static str, Measured)],
) -> impl Iterator<Item = serde_json::Value> + 'a {
    let name = figure.name;
    measured.iter().filter(move |(other, _)| *other == name).flat_map(|(_, found)| found.rows())
}

/// Rows, figures, verdicts and report of a figure, in its directory.
fn keep(judged: &Judged, measured: &[(&'static str, Measured)], out: &Path) -> miette::Result<()> {
    let dir = out.join(judged.figure.name);
    let lines: String = rows(judged.figure, measured).map(|row| format!("{row}\n")).collect();
    write_whole(&dir.join("rows.jsonl"), &lines)?;
    for (chart, name) in judged.charts.iter().zip(judged.chart_names()) {
        write_whole(&dir.join(name), &chart.to_svg())?;
    }
    let verdicts = serde_json::to_string_pretty(&judged.verdicts).into_diagnostic()?;
    write_whole(&dir.join(VERDICTS), &(verdicts + "\n"))?;
    write_whole(&dir.join(SECTION), &Part::of(judged).section)?;
    let report = Report {
        title: judged.figure.title.to_owned(),
        question: judged.figure.shows.to_owned(),
        verdicts: judged.verdicts.clone(),
        charts: Some(judged.charts.clone()),
        config_toml: config(judged.figure),
        provenance: vec![("caudal".to_owned(), env!("CARGO_PKG_VERSION").to_owned())],
        ..Report::default()
    };
    write_whole(&dir.join("report.html"), &report.to_html())
}

fn show(judged: &Judged, measured: &[(&'static str, Measured)], global: &Global) {
    if global.json {
        rows(judged.figure, measured).for_each(|row| outln!("{row}"));
        for verdict in &judged.verdicts {
            let (statement, verdict_word) = (&verdict.statement, word(verdict.verdict));
            outln!(
                "{}",
                json!({
                    "figure": judged.figure.name, "statement": statement, "source": verdict.source,
                    "verdict": verdict_word, "numbers": verdict.numbers,
                })
            );
        }
        return;
    }
    let mut text = format!("\n{}\n\n", judged.figure.title);
    for sheet in &judged.sheets {
        text += &format!("{}\n{}\n", sheet.title, sheet.to_table());
    }
    for verdict in &judged.verdicts {
        text += &format!("{:<13} {} ({})\n", word(verdict.verdict), verdict.statement, verdict.source);
        text += &format!("{:<13}   {}\n", "", verdict.numbers);
    }
    outln!("{text}");
}

/// The page of all figures; those that were not judged now are as they were kept in `out`.
fn write_docs(all: &[Judged], out: &Path, docs: &Path) -> miette::Result<()> {
    let part = |figure: &'static Figure| match all.iter().find(|judged| judged.figure.name == figure.name) {
        Some(judged) => Ok(Part::of(judged)),
        None => kept(figure, out),
    };
    let parts = FIGURES.iter().map(part).collect::<miette::Result<Vec<_>>>()?;
    let figures = docs.join("figures");
    make_dir(&figures)?;
    for judged in all {
        for (chart, name) in judged.charts.iter().zip(judged.chart_names()) {
            write_whole(&figures.join(name), &chart.to_svg())?;
        }
    }
    let is_kept = |figure: &&Figure| all.iter().all(|judged| judged.figure.name != figure.name);
    for figure in FIGURES.iter().filter(is_kept) {
        copy_charts(&out.join(figure.name), &figures)?;
    }
    let path = docs.join("reproduction.md");
    write_whole(&path, &page(&parts))?;
    errln!("wrote {}", path.display());
    Ok(())
}

/// Copies the charts that an earlier run has kept.
fn copy_charts(from: &Path, to: &Path) -> miette::Result<()> {
    let unreadable = |error| miette!("{} can not be read: {error}", from.display());
    for entry in std::fs::read_dir(from).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let (true, Some(name)) = (path.extension() == Some("svg".as_ref()), path.file_name()) else {
            continue;
        };
        let copy = to.join(name);
        std::fs::copy(&path, &copy).map_err(|error| cannot_write(&copy, &error))?;
    }
    Ok(())
}

/// What an earlier run has kept of a figure.
fn kept(figure: &'static Figure, out: &Path) -> miette::Result<Part> {
    let dir = out.join(figure.name);
    let read = |name: &str| std::fs::read_to_string(dir.join(name)).ok();
    let verdicts = read(VERDICTS).and_then(|text| serde_json::from_str(&text).ok());
    let part =
        verdicts.zip(read(SECTION)).and_then(|(verdicts, section)| Part::kept(figure, verdicts, section));
    part.ok_or_else(|| {
        miette!(
            help = format!("run caudal reproduce {} --out {} first, or all", figure.name, out.display()),
            "{} has nothing of {} that this version made: the page has all figures",
            out.display(),
            figure.name
        )
    })
}
