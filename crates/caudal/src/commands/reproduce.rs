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

use crate::exit::Interrupted;
use crate::exit_code;
use crate::global::Global;
use crate::progress::Progress;
use crate::reproduce::figure::{Figure, Source};
use crate::reproduce::judged::Judged;
use crate::reproduce::measured::Measured;
use crate::reproduce::page::{self, word};
use crate::reproduce::parallel::RunError;
use crate::reproduce::record::{Record, Recorded};
use crate::reproduce::refine::refine;
use crate::reproduce::run::Plan;
use crate::reproduce::{FIGURES, overview, stands_for};
use crate::results::{cannot_write, make_dir, write_whole};

/// What is kept of a figure: what was found about its statements, and its page.
const RECORD: &str = "record.json";
/// See [`RECORD`].
const PAGE: &str = "page.md";
/// Where the pages of figures, and the records that they are made of, are in the directory of the docs.
const PAGES: &str = "reproduction";
/// See [`PAGES`].
const RECORDS: &str = "reproduction/results";

#[derive(Args, Debug)]
pub(crate) struct ReproduceArgs {
    /// A figure such as policies-figure-3; policies-figure-5 stands for 5a to 5c, policies, tiny-quanta,
    /// q-zilla or tail-control for all of a paper; none simulates nothing, and makes the pages of what is kept
    #[arg(default_value = "all", value_name = "NAME|all")]
    names: Vec<String>,
    /// Keep rows, figures, verdicts and reports in this directory
    #[arg(long, value_name = "DIR", default_value = "caudal-results-reproduce")]
    out: PathBuf,
    /// Write reproduction.md, reproduction/ and figures/ into this directory; figures that are not run now are as
    /// reproduction/results has them
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
        write_docs(&all, docs)?;
    }
    let failed =
        all.iter().flat_map(|judged| &judged.verdicts).any(|verdict| verdict.verdict == Outcome::DoesNotHold);
    Ok(if args.strict && failed { ExitCode::from(exit_code::NO) } else { ExitCode::SUCCESS })
}

/// No figure: the pages are made of what is kept.
const NONE: &str = "none";

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
        args.names.iter().find(|name| *name != NONE && !FIGURES.iter().any(|figure| stands_for(name, figure)))
    {
        let names: Vec<&str> = FIGURES.iter().map(|figure| figure.name).collect();
        let help = format!("write all, none, or one of {}", names.join(", "));
        return Err(miette!(help = help, "no figure is called `{unknown}`"));
    }
    let named = |figure: &&'static Figure| args.names.iter().any(|name| stands_for(name, figure));
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
    let recorded = Recorded { figure: judged.figure, record: Record::of(judged) };
    write_whole(&dir.join(RECORD), &written(&recorded.record)?)?;
    write_whole(&dir.join(PAGE), &page::of_figure(&recorded))?;
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

fn written(record: &Record) -> miette::Result<String> {
    Ok(serde_json::to_string_pretty(record).into_diagnostic()? + "\n")
}

/// The pages of all figures, and the overview; figures that were not judged now are as they were kept in `docs`.
fn write_docs(all: &[Judged], docs: &Path) -> miette::Result<()> {
    let (records, figures) = (docs.join(RECORDS), docs.join("figures"));
    make_dir(&docs.join(PAGES))?;
    make_dir(&records)?;
    make_dir(&figures)?;
    for judged in all {
        for (chart, name) in judged.charts.iter().zip(judged.chart_names()) {
            write_whole(&figures.join(name), &chart.to_svg())?;
        }
        write_whole(&records.join(format!("{}.json", judged.figure.name)), &written(&Record::of(judged))?)?;
    }
    let recorded = FIGURES.iter().map(|figure| kept(figure, &records)).collect::<miette::Result<Vec<_>>>()?;
    for (name, text) in pages(&recorded) {
        write_whole(&docs.join(&name), &text)?;
    }
    errln!("wrote {}", docs.join("reproduction.md").display());
    Ok(())
}

/// All pages, by their names in the directory of the docs.
fn pages(recorded: &[Recorded]) -> Vec<(String, String)> {
    let figure =
        |recorded: &Recorded| (format!("{PAGES}/{}.md", recorded.figure.name), page::of_figure(recorded));
    let mut pages: Vec<(String, String)> = recorded.iter().map(figure).collect();
    pages.push((format!("{PAGES}/method.md"), page::method()));
    pages.push(("reproduction.md".to_owned(), overview::page(recorded)));
    pages
}

/// What is kept of a figure.
fn kept(figure: &'static Figure, records: &Path) -> miette::Result<Recorded> {
    let path = records.join(format!("{}.json", figure.name));
    let text = std::fs::read_to_string(&path).ok();
    let record: Option<Record> = text.and_then(|text| serde_json::from_str(&text).ok());
    record.and_then(|record| Recorded::new(figure, record)).ok_or_else(|| {
        miette!(
            help = format!("name {} too, or all", figure.name),
            "{} has nothing of {} that its files and statements, as they are now, have made",
            path.display(),
            figure.name
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn docs() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
    }

    /// What is kept is of the figures as they are, and the pages are what it makes.
    #[test]
    fn the_pages_in_the_docs_are_those_of_the_results_that_are_kept() {
        let recorded: Vec<Recorded> = FIGURES
            .iter()
            .map(|figure| kept(figure, &docs().join(RECORDS)).unwrap_or_else(|error| panic!("{error:?}")))
            .collect();
        for (name, text) in pages(&recorded) {
            let there = std::fs::read_to_string(docs().join(&name)).unwrap_or_default();
            assert!(there == text, "docs/{name} is stale: run `caudal reproduce none --docs docs`");
        }
    }

    #[test]
    fn every_chart_that_a_page_shows_is_there_and_none_besides() {
        let kept = |figure| kept(figure, &docs().join(RECORDS)).unwrap_or_else(|error| panic!("{error:?}"));
        let mut shown: Vec<String> = FIGURES.iter().flat_map(|figure| kept(figure).record.charts).collect();
        let there = std::fs::read_dir(docs().join("figures")).expect("docs/figures");
        let names = there.map(|entry| entry.expect("a file").file_name().to_string_lossy().into_owned());
        let mut there: Vec<String> = names.filter(|name| name.ends_with(".svg")).collect();
        shown.sort();
        there.sort();
        assert_eq!(shown, there);
    }

    /// Two screens: a page that is longer is read by nobody.
    #[test]
    fn the_overview_is_short() {
        let page = std::fs::read_to_string(docs().join("reproduction.md")).expect("the page");
        let (lines, words) = (page.lines().count(), page.split_whitespace().count());
        assert!(lines <= 80 && words <= 2_200, "{lines} lines, {words} words");
    }
}
