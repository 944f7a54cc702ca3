//! The description of a figure of a paper: the file that makes it, what is drawn, and what the paper says about it. Each figure's file
//! has a constant of it, and `reproduction` runs them. Data only.

use caudal_report::chart::Chart;

use super::claim::Finding;
use super::measured::Measured;
use super::search::Within;
use super::sheet::Sheet;

/// A figure, or a part of one.
pub(crate) struct Figure {
    /// Its name on the command line and of its file.
    pub(crate) name: &'static str,
    /// The heading: `Policies paper, Figure 3`.
    pub(crate) title: &'static str,
    /// A description of a sentence or two.
    pub(crate) shows: &'static str,
    /// The files in `experiments/` that it is made from, in order.
    pub(crate) files: &'static [Source],
    /// How its numbers are had.
    pub(crate) kind: FigureKind,
    /// The paper's statements about it.
    pub(crate) statements: &'static [Statement],
    /// Its charts.
    pub(crate) charts: fn(&Measured) -> Vec<Chart>,
    /// Its tables.
    pub(crate) sheets: fn(&Measured) -> Vec<Sheet>,
}

/// The beginnings of the names of a paper's figures.
const PAPERS: [&str; 4] = ["policies", "tiny-quanta", "q-zilla", "tail-control"];

/// Figures of which the paper has measurements.
const OF_REAL_SYSTEMS: [&str; 11] = [
    "policies-figure-8",
    "tiny-quanta-figure-5",
    "tiny-quanta-figure-6",
    "tiny-quanta-figure-7",
    "tiny-quanta-figure-8",
    "tiny-quanta-figure-9",
    "tiny-quanta-figure-10",
    "tiny-quanta-figure-11",
    "tiny-quanta-figure-12",
    "tiny-quanta-figure-16",
    "tiny-quanta-latencies",
];

impl Figure {
    /// Its paper, as figures' names begin.
    pub(crate) fn paper(&self) -> &'static str {
        PAPERS.into_iter().find(|paper| self.name.starts_with(paper)).unwrap_or(self.name)
    }

    /// Is it no paper's, but what the project says itself?
    pub(crate) fn is_own(&self) -> bool {
        !self.name.contains("-figure-") && !self.is_of_real_systems()
    }

    /// Did its paper measure real systems, where here they are simulated?
    pub(crate) fn is_of_real_systems(&self) -> bool {
        OF_REAL_SYSTEMS.contains(&self.name)
    }
}

/// A file that a figure is made from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
    /// The workload that it is about, where a figure has a file for each; else empty.
    pub(crate) workload: &'static str,
    /// Its text.
    pub(crate) text: &'static str,
}

impl Source {
    /// The only file of a figure.
    pub(crate) const fn alone(text: &'static str) -> Source {
        Source { workload: "", text }
    }

    /// Where it is kept, for a figure of this name.
    pub(crate) fn path(&self, figure: &str) -> String {
        match self.workload {
            "" => format!("experiments/{figure}.toml"),
            workload => format!("experiments/{figure}/{workload}.toml"),
        }
    }
}

/// How a figure's numbers are had.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FigureKind {
    /// Every point of the file is simulated.
    Points,
    /// For every system of the file, the highest load within a limit is looked for; the limit may depend on what the file
    /// is about.
    HighestLoad(fn(&'static str) -> Within),
    /// Nothing is simulated: of every point, tail-control's thresholds are worked out.
    Thresholds,
    /// Every point is simulated once, and all arrivals and completions are kept.
    Traces,
}

/// A statement of a paper.
pub(crate) struct Statement {
    /// The statement, close to the paper's words.
    pub(crate) text: &'static str,
    /// Where it says so.
    pub(crate) source: &'static str,
    /// How it is read here, where the words leave it open; may be empty.
    pub(crate) reading: &'static str,
    /// Other figures that it takes.
    pub(crate) needs: &'static [&'static str],
    /// Judges it; only called when all that it needs is there.
    pub(crate) judge: fn(&Study<'_>) -> Finding,
}

/// The figures that have been measured so far, and the one that is judged.
pub(crate) struct Study<'a> {
    figures: &'a [(&'static str, Measured)],
    here: &'a Measured,
}

impl<'a> Study<'a> {
    /// The study of the figure called `name`, if it has been measured.
    pub(crate) fn of(figures: &'a [(&'static str, Measured)], name: &str) -> Option<Study<'a>> {
        let here = figures.iter().find(|(other, _)| *other == name)?;
        Some(Study { figures, here: &here.1 })
    }

    /// The figure that the statement belongs to.
    pub(crate) fn here(&self) -> &'a Measured {
        self.here
    }

    /// A figure that the statement needs.
    ///
    /// # Panics
    /// If the statement does not name it under `needs`.
    pub(crate) fn figure(&self, name: &str) -> &'a Measured {
        let found = self.figures.iter().find(|(other, _)| *other == name);
        &found.unwrap_or_else(|| panic!("a statement uses {name} without needing it")).1
    }

    /// Are all these figures there?
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        names.iter().all(|name| self.figures.iter().any(|(other, _)| other == name))
    }
}
