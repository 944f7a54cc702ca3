//! A reproduction from end to end: figures by name, simulated, judged and kept in a directory, and the pages of the docs. `caudal
//! reproduce` calls it.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use caudal_report::{Report, Verdict};
use caudal_results::files::{make_dir, write_whole};
use caudal_results::table::Table;
use caudal_results::{Control, Progress, ResultsError};
use serde_json::Value;

use super::error::ReproduceError;
use super::figure::{Figure, Source};
use super::figures::{FIGURES, stands_for};
use super::judged::JudgedFigure;
use super::measured::Measured;
use super::record::{Record, RecordedFigure};
use super::refine::refine;
use super::run::FigurePlan;
use super::{overview, page};

/// File of a figure's directory with what was found about its statements.
const RECORD: &str = "record.json";
/// File of a figure's directory with its page.
const PAGE: &str = "page.md";
/// Folder of the docs with the pages of figures.
const PAGES: &str = "reproduction";
/// Folder of the docs with the records that pages are made of.
const RECORDS: &str = "reproduction/results";
/// The name for no figure: the pages are made of what is kept.
const NONE: &str = "none";

/// Figures that are to be simulated anew, and what has been measured of them so far.
pub struct Reproduction {
    figures: Vec<&'static Figure>,
    plans: Vec<FigurePlan>,
    measured: Vec<(&'static str, Measured)>,
    out: PathBuf,
    quick: bool,
}

/// A figure with its numbers and what became of its statements.
pub struct FigureResult {
    judged: JudgedFigure,
    rows: Vec<Value>,
}

impl FigureResult {
    /// Name of the figure: `policies-figure-3`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.judged.figure.name
    }

    /// Heading of the figure: `Policies paper, Figure 3`.
    #[must_use]
    pub fn title(&self) -> &'static str {
        self.judged.figure.title
    }

    /// Its tables with their titles.
    pub fn tables(&self) -> impl Iterator<Item = (&str, Table)> {
        self.judged.sheets.iter().map(|sheet| (sheet.title.as_str(), sheet.to_table()))
    }

    /// Its statements, judged.
    #[must_use]
    pub fn verdicts(&self) -> &[Verdict] {
        &self.judged.verdicts
    }

    /// Its points, searches, thresholds and traces as results are written.
    #[must_use]
    pub fn rows(&self) -> &[Value] {
        &self.rows
    }

    /// The figure with what is kept of it.
    fn recorded(&self) -> RecordedFigure {
        RecordedFigure { figure: self.judged.figure, record: Record::of(&self.judged) }
    }
}

impl Reproduction {
    /// The figures that `names` stand for (all of a paper, parts of a figure, `all`, `none`), in the order of the page: what a statement
    /// needs comes before it. Their rows, figures, verdicts and reports are kept in `out`.
    ///
    /// # Errors
    /// If a name stands for no figure, or `out` can not be written.
    pub fn new(names: &[String], out: &Path, quick: bool) -> Result<Reproduction, ReproduceError> {
        let figures = chosen(names)?;
        let plans =
            figures.iter().map(|figure| FigurePlan::new(figure, quick)).collect::<Result<Vec<_>, _>>()?;
        make_dir(out)?;
        Ok(Reproduction { figures, plans, measured: Vec::new(), out: out.to_owned(), quick })
    }

    /// Steps of progress that it takes, at first sight.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.plans.iter().map(FigurePlan::steps).sum()
    }

    /// Simulates all figures, adds replications where statements are open, and keeps everything.
    ///
    /// # Errors
    /// If it is interrupted, or a file can not be written; figures that were done are kept.
    pub fn run(&mut self, control: &Control<'_, Progress>) -> Result<Vec<FigureResult>, ReproduceError> {
        let mut recorded = Vec::new();
        for (figure, plan) in self.figures.iter().zip(&self.plans) {
            self.measured.push((figure.name, measure(figure, plan, &self.out, control)?));
            let result = self.result(figure);
            recorded.push(result.recorded());
            keep(&result, &recorded, &self.out)?;
        }
        if !self.quick {
            refine(&self.figures, &self.plans, &mut self.measured, control)
                .map_err(|error| ReproduceError::broken(error, "points"))?;
        }
        let all: Vec<FigureResult> = self.figures.iter().map(|figure| self.result(figure)).collect();
        let recorded: Vec<RecordedFigure> = all.iter().map(FigureResult::recorded).collect();
        all.iter().try_for_each(|result| keep(result, &recorded, &self.out))?;
        Ok(all)
    }

    fn result(&self, figure: &'static Figure) -> FigureResult {
        let judged = JudgedFigure::new(figure, &self.measured).expect("the figure has been measured");
        let own = self.measured.iter().filter(|(name, _)| *name == figure.name);
        FigureResult { judged, rows: own.flat_map(|(_, found)| found.rows()).collect() }
    }
}

fn chosen(names: &[String]) -> Result<Vec<&'static Figure>, ReproduceError> {
    let is_unknown = |name: &&String| *name != NONE && !FIGURES.iter().any(|figure| stands_for(name, figure));
    if let Some(unknown) = names.iter().find(is_unknown) {
        let known = FIGURES.iter().map(|figure| figure.name).collect();
        return Err(ReproduceError::Unknown { name: unknown.clone(), known });
    }
    let named = |figure: &&'static Figure| names.iter().any(|name| stands_for(name, figure));
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
    plan: &FigurePlan,
    out: &Path,
    control: &Control<'_, Progress>,
) -> Result<Measured, ReproduceError> {
    let dir = out.join(figure.name);
    let rows = std::fs::create_dir_all(&dir).and_then(|()| File::create(dir.join("rows.jsonl")));
    let mut rows = rows.map_err(|error| ResultsError::write(&dir, &error))?;
    for source in figure.files {
        let name = if source.workload.is_empty() { "config" } else { source.workload };
        write_whole(&dir.join(format!("{name}.toml")), source.text)?;
    }
    let mut written = Ok(());
    let found = plan.run(control, &mut |row| {
        if written.is_ok() {
            written = rows.write_all(format!("{row}\n").as_bytes());
        }
    });
    written.map_err(|error| ResultsError::write(&dir, &error))?;
    found.map_err(|error| ReproduceError::broken(error, figure.name))
}

/// Rows, figures, verdicts and report of a figure, in its directory. `all` has the figures that are done, of which its notes may have
/// numbers.
fn keep(result: &FigureResult, all: &[RecordedFigure], out: &Path) -> Result<(), ReproduceError> {
    let FigureResult { judged, rows } = result;
    let dir = out.join(judged.figure.name);
    let lines: String = rows.iter().map(|row| format!("{row}\n")).collect();
    write_whole(&dir.join("rows.jsonl"), &lines)?;
    for (chart, name) in judged.charts.iter().zip(judged.chart_names()) {
        write_whole(&dir.join(name), &chart.to_svg())?;
    }
    let recorded = result.recorded();
    write_whole(&dir.join(RECORD), &written(&recorded.record)?)?;
    write_whole(&dir.join(PAGE), &page::of_figure(&recorded, all))?;
    let report = Report {
        title: judged.figure.title.to_owned(),
        question: judged.figure.shows.to_owned(),
        verdicts: judged.verdicts.clone(),
        charts: Some(judged.charts.clone()),
        config_toml: config(judged.figure),
        provenance: vec![("caudal".to_owned(), env!("CARGO_PKG_VERSION").to_owned())],
        ..Report::default()
    };
    Ok(write_whole(&dir.join("report.html"), &report.to_html())?)
}

fn written(record: &Record) -> Result<String, ResultsError> {
    Ok(serde_json::to_string_pretty(record)? + "\n")
}

/// Writes the pages of all figures and the overview into the directory `docs`; figures that are not among `all` are as they were kept
/// there. The path of the overview.
///
/// # Errors
/// If a record is missing or stale, or a file can not be written.
pub fn write_docs(all: &[FigureResult], docs: &Path) -> Result<PathBuf, ReproduceError> {
    let (records, figures) = (docs.join(RECORDS), docs.join("figures"));
    make_dir(&docs.join(PAGES))?;
    make_dir(&records)?;
    make_dir(&figures)?;
    for FigureResult { judged, .. } in all {
        for (chart, name) in judged.charts.iter().zip(judged.chart_names()) {
            write_whole(&figures.join(name), &chart.to_svg())?;
        }
        write_whole(&records.join(format!("{}.json", judged.figure.name)), &written(&Record::of(judged))?)?;
    }
    let recorded = FIGURES.iter().map(|figure| kept(figure, &records)).collect::<Result<Vec<_>, _>>()?;
    for (name, text) in pages(&recorded) {
        write_whole(&docs.join(&name), &text)?;
    }
    Ok(docs.join("reproduction.md"))
}

/// All pages, by their names in the directory of the docs.
fn pages(recorded: &[RecordedFigure]) -> Vec<(String, String)> {
    let figure =
        |one: &RecordedFigure| (format!("{PAGES}/{}.md", one.figure.name), page::of_figure(one, recorded));
    let mut pages: Vec<(String, String)> = recorded.iter().map(figure).collect();
    pages.push((format!("{PAGES}/method.md"), page::method()));
    pages.push(("reproduction.md".to_owned(), overview::page(recorded)));
    pages
}

/// The record of a figure that is kept in the docs.
fn kept(figure: &'static Figure, records: &Path) -> Result<RecordedFigure, ReproduceError> {
    let path = records.join(format!("{}.json", figure.name));
    let text = std::fs::read_to_string(&path).ok();
    let record: Option<Record> = text.and_then(|text| serde_json::from_str(&text).ok());
    let recorded = record.and_then(|record| RecordedFigure::new(figure, record));
    recorded.ok_or(ReproduceError::Stale { path, figure: figure.name })
}

/// The directory of the docs.
#[cfg(test)]
fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// The records of all figures that are kept in the docs, for tests of what is made of them.
#[cfg(test)]
pub(crate) fn kept_in_the_docs() -> Vec<RecordedFigure> {
    let records = docs().join(RECORDS);
    FIGURES.iter().map(|figure| kept(figure, &records).unwrap_or_else(|error| panic!("{error}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records are of the figures as they are, and the pages are made of them.
    #[test]
    fn the_pages_in_the_docs_are_those_of_the_results_that_are_kept() {
        for (name, text) in pages(&kept_in_the_docs()) {
            let there = std::fs::read_to_string(docs().join(&name)).unwrap_or_default();
            assert!(there == text, "docs/{name} is stale: run `caudal reproduce none --docs docs`");
        }
    }

    #[test]
    fn every_chart_that_a_page_shows_is_there_and_none_besides() {
        let mut shown: Vec<String> =
            kept_in_the_docs().into_iter().flat_map(|recorded| recorded.record.charts).collect();
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
