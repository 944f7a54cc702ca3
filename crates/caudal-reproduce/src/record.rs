//! The record of a reproduced figure: verdicts, numbers, charts and tables. `reproduction` writes one when a figure is judged, and the pages are
//! made of records alone.
//!
//! A figure's record stands in `docs/reproduction/results/`, so that the pages can be made anew, and tested, without simulating.

use caudal_report::Outcome;
use caudal_stats::Estimate;
use serde::{Deserialize, Serialize};

use super::figure::{Figure, Statement};
use super::judged::JudgedFigure;
use super::size::{self, Compared, Paper};

/// The results of a figure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    /// The fingerprint of the figure's files and statements when it was judged ([`fingerprint`]).
    pub(crate) fingerprint: String,
    /// In the order of the figure's statements.
    pub(crate) verdicts: Vec<Found>,
    /// File names of its charts.
    pub(crate) charts: Vec<String>,
    /// Its tables, in Markdown.
    pub(crate) tables: String,
}

/// The verdict on a statement, with its numbers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Found {
    pub(crate) statement: String,
    pub(crate) verdict: Outcome,
    /// The numbers that decided.
    pub(crate) numbers: String,
    /// The number that the statement is about, or the smallest and the largest of several: each as estimate and interval.
    pub(crate) values: Vec<[Option<f64>; 3]>,
}

/// A figure of the program with its record.
#[derive(Clone)]
pub(crate) struct RecordedFigure {
    pub(crate) figure: &'static Figure,
    pub(crate) record: Record,
}

impl Record {
    pub(crate) fn of(judged: &JudgedFigure) -> Record {
        let found = judged.verdicts.iter().zip(&judged.values).map(|(verdict, values)| Found {
            statement: verdict.statement.clone(),
            verdict: verdict.verdict,
            numbers: verdict.numbers.clone(),
            values: values.iter().map(kept).collect(),
        });
        Record {
            fingerprint: fingerprint(judged.figure),
            verdicts: found.collect(),
            charts: judged.chart_names(),
            tables: judged.sheets.iter().map(|sheet| sheet.to_markdown() + "\n").collect(),
        }
    }
}

/// The estimate and its interval as JSON holds them: an infinite end is left out.
fn kept(value: &Estimate) -> [Option<f64>; 3] {
    // Six digits are more than an interval leaves certain; further digits would differ between machines.
    let rounded = |value: f64| format!("{value:.5e}").parse().unwrap_or(value);
    [value.estimate, value.low, value.high].map(|value| value.is_finite().then(|| rounded(value)))
}

impl Found {
    pub(crate) fn estimates(&self) -> Vec<Estimate> {
        let estimate = |&[estimate, low, high]: &[Option<f64>; 3]| match estimate {
            None => Estimate::MISSING,
            Some(estimate) => Estimate {
                estimate,
                low: low.unwrap_or(f64::NEG_INFINITY),
                high: high.unwrap_or(f64::INFINITY),
            },
        };
        self.values.iter().map(estimate).collect()
    }
}

impl RecordedFigure {
    /// A record of this figure, unless its files or statements have changed since.
    pub(crate) fn new(figure: &'static Figure, record: Record) -> Option<RecordedFigure> {
        let same =
            record.fingerprint == fingerprint(figure) && record.verdicts.len() == figure.statements.len();
        same.then_some(RecordedFigure { figure, record })
    }

    /// Its statements, each with its verdict.
    pub(crate) fn statements(&self) -> impl Iterator<Item = Line<'_>> {
        let lines = self.figure.statements.iter().zip(&self.record.verdicts);
        lines.map(|(statement, found)| Line { figure: self.figure, statement, found })
    }
}

/// A statement with its verdict.
#[derive(Clone, Copy)]
pub(crate) struct Line<'a> {
    pub(crate) figure: &'static Figure,
    pub(crate) statement: &'static Statement,
    pub(crate) found: &'a Found,
}

/// Does our effect have the direction that the paper says?
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sign {
    Agrees,
    Disagrees,
    Open,
    /// Not comparable: the simulation measures another quantity than the paper does.
    NotComparable,
}

impl Sign {
    pub(crate) const ALL: [Sign; 4] = [Sign::Agrees, Sign::Disagrees, Sign::Open, Sign::NotComparable];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Sign::Agrees => "agrees",
            Sign::Disagrees => "disagrees",
            Sign::Open => "undecided",
            Sign::NotComparable => "not comparable",
        }
    }
}

impl Line<'_> {
    pub(crate) fn sign(&self) -> Sign {
        if super::readings::not_comparable(self.figure.name, self.statement.text).is_some() {
            return Sign::NotComparable;
        }
        match self.found.verdict {
            Outcome::Holds => Sign::Agrees,
            Outcome::DoesNotHold => Sign::Disagrees,
            Outcome::Undecided => Sign::Open,
        }
    }

    /// The paper's number, if it gives one.
    pub(crate) fn paper(&self) -> Option<Paper> {
        size::of(self.figure.name, self.statement.text)
    }

    /// Our number compared with the paper's. None if the paper gives none; open if ours is not known well enough.
    pub(crate) fn size(&self) -> Option<Compared> {
        let open = Compared { size: size::Size::Open, share: None };
        Some(self.paper()?.compare(&self.found.estimates()).unwrap_or(open))
    }
}

/// A fingerprint of everything that a figure's record depends on, except the simulator: its files and its statements.
pub(crate) fn fingerprint(figure: &Figure) -> String {
    let statements =
        figure.statements.iter().flat_map(|statement| [statement.text, statement.source, statement.reading]);
    let files = figure.files.iter().map(|source| source.text);
    let texts = [figure.title, figure.shows].into_iter().chain(files).chain(statements);
    // FNV-1a, because it is enough that an edit changes the number.
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let hash = texts.flat_map(|text| text.bytes().chain([0])).fold(0xcbf2_9ce4_8422_2325, step);
    format!("{} {hash:016x}", figure.name)
}

#[cfg(test)]
mod tests {
    use super::super::figure::Source;
    use super::super::figures::FIGURES;
    use super::*;

    #[test]
    fn a_record_is_stale_when_a_file_of_its_figure_changes() {
        const OTHER: &[Source] = &[Source::alone("other")];
        let figure = &FIGURES[0];
        let edited = Figure { files: OTHER, ..*figure };
        assert_ne!(fingerprint(figure), fingerprint(&edited));
    }

    #[test]
    fn numbers_come_back_as_they_were_kept() {
        let values = [Estimate { estimate: 2.0, low: 1.5, high: f64::INFINITY }, Estimate::MISSING];
        let found = Found {
            statement: String::new(),
            verdict: Outcome::Holds,
            numbers: String::new(),
            values: values.iter().map(kept).collect(),
        };
        let text = serde_json::to_string(&found).expect("it is written");
        let back: Found = serde_json::from_str(&text).expect("it is read");
        let back = back.estimates();
        assert_eq!((back[0].estimate, back[0].low, back[0].high), (2.0, 1.5, f64::INFINITY));
        assert!(back[1].is_missing());
    }
}
