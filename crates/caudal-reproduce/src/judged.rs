//! A figure with its verdicts. `reproduction` makes one when a figure is simulated; `record` keeps it and the command prints it. Data
//! only.

use caudal_report::chart::Chart;
use caudal_report::{Outcome, Verdict};
use caudal_stats::Estimate;

use super::figure::{Figure, Study};
use super::measured::Measured;
use super::sheet::Sheet;

/// A figure with its verdicts, charts and tables.
pub(crate) struct JudgedFigure {
    pub(crate) figure: &'static Figure,
    pub(crate) verdicts: Vec<Verdict>,
    /// Of each of them, what its size is judged by.
    pub(crate) values: Vec<Vec<Estimate>>,
    pub(crate) charts: Vec<Chart>,
    pub(crate) sheets: Vec<Sheet>,
}

impl JudgedFigure {
    /// Judges the figure called `name`, with all that has been measured so far at hand. Statements that need a
    /// figure that has not been measured are undecided.
    pub(crate) fn new(
        figure: &'static Figure,
        measured: &[(&'static str, Measured)],
    ) -> Option<JudgedFigure> {
        let study = Study::of(measured, figure.name)?;
        let found = figure.statements.iter().map(|statement| {
            let (outcome, numbers, values) = if study.has(statement.needs) {
                let found = (statement.judge)(&study);
                (found.outcome, found.numbers, found.values)
            } else {
                let missing = format!("not judged: it takes {} too", statement.needs.join(", "));
                (Outcome::Undecided, missing, Vec::new())
            };
            let (statement, source) = (statement.text.to_owned(), statement.source.to_owned());
            (Verdict { statement, source, verdict: outcome, numbers }, values)
        });
        let (verdicts, values) = found.unzip();
        Some(JudgedFigure {
            figure,
            verdicts,
            values,
            charts: (figure.charts)(study.here()),
            sheets: (figure.sheets)(study.here()),
        })
    }

    /// File names of its charts.
    pub(crate) fn chart_names(&self) -> Vec<String> {
        let name = self.figure.name;
        let numbered =
            |at: usize| if at == 0 { format!("{name}.svg") } else { format!("{name}-{}.svg", at + 1) };
        (0..self.charts.len()).map(numbered).collect()
    }
}
