//! The numbers of the kept results, as the notes ask for them: a cell of a figure's table, a number by which a statement was judged, a
//! workload of a figure's file. The notes of each paper look their numbers up here when a page is made. It reads the results that stand
//! in the docs.

use std::fmt;
use std::sync::Arc;

use caudal_config::{File, Workload};
use caudal_results::table::digits;

use super::super::record::RecordedFigure;
use super::super::sheet::Sheet;

/// The results that are kept, for a note on the page of one figure.
pub(super) struct Kept<'a> {
    here: &'a RecordedFigure,
    all: &'a [RecordedFigure],
}

/// A number that a note asks for, and that is not in what is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Missing {
    figure: String,
    /// The name of the number, or table, row and column.
    key: String,
    problem: String,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.figure, self.key, self.problem)
    }
}

impl<'a> Kept<'a> {
    /// All figures' results for the page of `here`, which may be missing among `all`.
    pub(super) fn new(here: &'a RecordedFigure, all: &'a [RecordedFigure]) -> Kept<'a> {
        Kept { here, all }
    }

    /// The figure on whose page the note stands.
    pub(super) fn here(&self) -> Results<'a> {
        Results::of(self.here)
    }

    /// Another figure.
    ///
    /// # Errors
    /// If nothing is kept of it.
    pub(super) fn figure(&self, name: &str) -> Result<Results<'a>, Missing> {
        let mut figures = std::iter::once(self.here).chain(self.all);
        let found = figures.find(|recorded| recorded.figure.name == name);
        let missing = || Missing {
            figure: name.to_owned(),
            key: "all".to_owned(),
            problem: "nothing is kept of this figure".to_owned(),
        };
        found.map(Results::of).ok_or_else(missing)
    }

    /// An error: on this figure's page, a number is missing that is called `key`.
    pub(super) fn missing(&self, key: &str, problem: &str) -> Missing {
        self.here().missing(key.to_owned(), problem)
    }
}

/// The results of a figure.
pub(super) struct Results<'a> {
    recorded: &'a RecordedFigure,
    tables: Vec<Sheet>,
}

impl<'a> Results<'a> {
    fn of(recorded: &'a RecordedFigure) -> Results<'a> {
        Results { recorded, tables: Sheet::all_of(&recorded.record.tables) }
    }

    fn missing(&self, key: String, problem: &str) -> Missing {
        Missing { figure: self.recorded.figure.name.to_owned(), key, problem: problem.to_owned() }
    }

    /// A cell of the table whose title begins with `table`: in the row that has all of these labels, in the column of this name.
    fn text(&self, table: &str, row: &[&str], column: &str) -> Result<&str, Missing> {
        let missing = |problem: &str| self.missing(format!("{table}, {}, {column}", row.join(" ")), problem);
        let sheet = self.tables.iter().find(|sheet| sheet.title.starts_with(table));
        let sheet = sheet.ok_or_else(|| missing("there is no such table"))?;
        let at = sheet.head.iter().position(|name| name == column);
        let at = at.ok_or_else(|| missing("there is no such column"))?;
        let has = |cells: &&Vec<String>| row.iter().all(|label| cells.iter().any(|cell| cell == label));
        let mut rows = sheet.rows.iter().filter(has);
        match (rows.next(), rows.next()) {
            (Some(cells), None) => cells.get(at).map(String::as_str).ok_or_else(|| missing("it has no cell")),
            (None, _) => Err(missing("there is no such row")),
            (Some(_), Some(_)) => Err(missing("there are several such rows")),
        }
    }

    /// The number in a cell, before its interval; times in us. The table is named by the beginning of its title, the row by labels.
    ///
    /// # Errors
    /// If there is no such cell, or no number in it.
    pub(super) fn cell(&self, table: &str, row: &[&str], column: &str) -> Result<f64, Missing> {
        let cell = self.text(table, row, column)?;
        number(cell).ok_or_else(|| {
            let key = format!("{table}, {}, {column}", row.join(" "));
            self.missing(key, &format!("`{cell}` is no number"))
        })
    }

    /// The numbers of a row in several columns.
    ///
    /// # Errors
    /// If one of them is missing.
    pub(super) fn cells(&self, table: &str, row: &[&str], columns: &[&str]) -> Result<Vec<f64>, Missing> {
        columns.iter().map(|column| self.cell(table, row, column)).collect()
    }

    /// The numbers of all columns but the first, of a row: at least one.
    ///
    /// # Errors
    /// If one of them is missing, or there is no such column.
    pub(super) fn row(&self, table: &str, row: &[&str]) -> Result<Vec<f64>, Missing> {
        let columns = self.columns(table)?;
        if columns.is_empty() {
            return Err(self.missing(table.to_owned(), "it has one column"));
        }
        columns.iter().map(|column| self.cell(table, row, column)).collect()
    }

    /// The columns of a table but the first, which has the labels.
    ///
    /// # Errors
    /// If there is no such table.
    pub(super) fn columns(&self, table: &str) -> Result<&[String], Missing> {
        let sheet = self.tables.iter().find(|sheet| sheet.title.starts_with(table));
        let sheet = sheet.ok_or_else(|| self.missing(table.to_owned(), "there is no such table"))?;
        sheet.head.get(1..).ok_or_else(|| self.missing(table.to_owned(), "it has no columns"))
    }

    /// The second number of a cell that has ours and the authors' simulator's, `11.1 µs / 13.0 µs`.
    ///
    /// # Errors
    /// If there is no such cell, or no such number in it.
    pub(super) fn authors(&self, row: &[&str], column: &str) -> Result<f64, Missing> {
        const TABLE: &str = "The paper's text / the authors' published simulator";
        let cell = self.text(TABLE, row, column)?;
        let second = cell.split_once(" / ").and_then(|(_, second)| number(second));
        second.ok_or_else(|| {
            let key = format!("{TABLE}, {}, {column}", row.join(" "));
            self.missing(key, &format!("`{cell}` has no second number"))
        })
    }

    /// The number by which the statement that begins so was judged; of several, the first.
    ///
    /// # Errors
    /// If no statement begins so, or it was judged by no number.
    pub(super) fn judged(&self, begins: &str) -> Result<f64, Missing> {
        let mut lines = self.recorded.statements().filter(|line| line.statement.text.starts_with(begins));
        let missing = |problem: &str| self.missing(begins.to_owned(), problem);
        let line = lines.next().ok_or_else(|| missing("no statement begins so"))?;
        let value = line.found.values.first().and_then(|value| value[0]);
        value.ok_or_else(|| missing("it was judged by no number"))
    }

    /// The requests of the figure's file about this workload; the name is empty where there is one file.
    ///
    /// # Errors
    /// If there is no such file.
    pub(super) fn workload(&self, name: &str) -> Result<Arc<Workload>, Missing> {
        let missing = || self.missing(name.to_owned(), "no file is about this workload");
        self.file(name)?.workload.ok_or_else(missing)
    }

    /// The requests that arrive in a us at the first point of the file about this workload: millions a second.
    ///
    /// # Errors
    /// If there is no such file, or it has no points.
    pub(super) fn arrivals_per_us(&self, workload: &str) -> Result<f64, Missing> {
        let points = self.file(workload)?.points();
        let points = points.map_err(|error| self.missing(workload.to_owned(), &error.to_string()))?;
        let first =
            points.first().ok_or_else(|| self.missing(workload.to_owned(), "its file has no points"))?;
        Ok(1e6 / first.mean_gap_ps())
    }

    fn file(&self, workload: &str) -> Result<File, Missing> {
        let figure = self.recorded.figure;
        let missing = |problem: &str| self.missing(workload.to_owned(), problem);
        let source = figure.files.iter().find(|source| source.workload == workload);
        let source = source.ok_or_else(|| missing("no file is about this workload"))?;
        File::parse(source.text, source.path(figure.name)).map_err(|error| missing(&error.to_string()))
    }

    /// The workloads that the figure has a file about each.
    pub(super) fn workloads(&self) -> impl Iterator<Item = &'static str> {
        self.recorded.figure.files.iter().map(|source| source.workload)
    }
}

/// The number at the beginning of a cell: `13.3 µs ±1.6%`, `57.8 %`, `1.14 [1.12, 1.16]`, `3.330 M/s`. Times are in us. None if the cell
/// has none (`overload`, `–`).
fn number(cell: &str) -> Option<f64> {
    let mut words = cell.split_whitespace();
    let value: f64 = words.next()?.parse().ok()?;
    Some(match words.next() {
        Some("ns") => value / 1e3,
        Some("ms") => value * 1e3,
        _ => value,
    })
}

/// The least of some numbers.
pub(super) fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The most of some numbers.
pub(super) fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// A small whole number as a word.
pub(super) fn in_words(value: f64) -> String {
    const WORDS: [&str; 11] =
        ["none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    match WORDS.get(value.round() as usize) {
        Some(word) if value >= 0.0 => (*word).to_owned(),
        _ => digits(value),
    }
}

/// So many times, in words.
pub(super) fn times(value: f64) -> String {
    match in_words(value).as_str() {
        "one" => "once".to_owned(),
        "two" => "twice".to_owned(),
        other => format!("{other} times"),
    }
}

#[cfg(test)]
mod tests {
    use caudal_report::Outcome;

    use super::super::super::figures::FIGURES;
    use super::super::super::record::{Found, Record};
    use super::*;

    const TABLES: &str = "p99 of the latency\n\n| system | a | b |\n| --- | ---: | ---: |\n| x | 894 ns | 2.38 ms ±3% |\n\
                          | y | overload | 1.14 [1.12, 1.16] |\n\nCores\n\n| balancing | load | held |\n| --- | ---: | ---: |\n\
                          | x | 0.10 | 4.05 |\n| x | 0.20 | 7.46 |\n\n";

    fn recorded() -> RecordedFigure {
        let figure = &FIGURES[0];
        let found = |value| Found {
            statement: String::new(),
            verdict: Outcome::Holds,
            numbers: String::new(),
            values: vec![[value, None, None]],
        };
        let verdicts = vec![found(Some(2.5)), found(None)];
        let (fingerprint, charts) = (String::new(), Vec::new());
        RecordedFigure { figure, record: Record { fingerprint, verdicts, charts, tables: TABLES.to_owned() } }
    }

    #[test]
    fn a_cell_is_found_by_table_row_and_column_and_times_are_in_us() {
        let recorded = recorded();
        let kept = Kept::new(&recorded, &[]).here();
        assert_eq!(kept.row("p99", &["x"]), Ok(vec![0.894, 2380.0]));
        assert_eq!(kept.cell("p99", &["y"], "b"), Ok(1.14));
        assert_eq!(kept.cell("Cores", &["x", "0.20"], "held"), Ok(7.46));
    }

    #[test]
    fn what_is_not_there_is_named_with_its_figure() {
        let recorded = recorded();
        let kept = Kept::new(&recorded, &[]);
        let shown = |found: Result<f64, Missing>| found.expect_err("nothing is there").to_string();
        let here = kept.here();
        let name = FIGURES[0].name;
        assert_eq!(
            shown(here.cell("p99", &["y"], "a")),
            format!("{name}: p99, y, a: `overload` is no number")
        );
        assert_eq!(shown(here.cell("p9", &["z"], "a")), format!("{name}: p9, z, a: there is no such row"));
        assert_eq!(
            shown(here.cell("Cores", &["x"], "held")),
            format!("{name}: Cores, x, held: there are several such rows")
        );
        assert_eq!(shown(here.judged("Nobody")), format!("{name}: Nobody: no statement begins so"));
        assert_eq!(here.judged(FIGURES[0].statements[0].text), Ok(2.5));
        assert!(here.judged(FIGURES[0].statements[1].text).is_err() && kept.figure("another").is_err());
    }

    #[test]
    fn small_numbers_are_words() {
        assert_eq!([times(2.06), times(2.98), times(17.0)], ["twice", "three times", "17.0 times"]);
    }
}
