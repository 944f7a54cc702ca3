//! The numbers of a figure: what was simulated or computed for it. `run` makes them, and statements, charts and tables read them. Data
//! only.

use caudal_sim::experiment::Results;

use super::cell::{Cell, STATIC};
use super::search::Highest;
use super::thresholds::Thresholds;
use super::trace::Trace;

/// The numbers of a figure.
#[derive(Default)]
pub(crate) struct Measured {
    /// Its points, in the order of the file.
    pub(crate) cells: Vec<Cell>,
    /// The replications that they were made of, to add more to.
    pub(crate) results: Vec<Results>,
    /// The highest rates, where those are looked for.
    pub(crate) highest: Vec<Highest>,
    /// Thresholds, where those are shown.
    pub(crate) thresholds: Vec<Thresholds>,
    /// Runs, where those are shown.
    pub(crate) traces: Vec<Trace>,
}

impl Measured {
    /// Its rows as results are written.
    pub(crate) fn rows(&self) -> impl Iterator<Item = serde_json::Value> + '_ {
        let cells = self.cells.iter().map(|cell| cell.row.clone());
        let found = cells.chain(self.highest.iter().map(Highest::row));
        found.chain(self.thresholds.iter().map(Thresholds::row)).chain(self.traces.iter().map(Trace::row))
    }

    /// The curve of a system on the same cores all the time, along the number of cores.
    pub(crate) fn curve(&self, system: &str) -> Vec<&Cell> {
        self.cells.iter().filter(|cell| cell.system == system && cell.allocation == STATIC).collect()
    }

    /// The point of a system under one of several workloads.
    pub(crate) fn of(&self, workload: &str, system: &str) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.workload == workload && cell.system == system)
    }

    /// The static point of a system on so many cores.
    pub(crate) fn held(&self, system: &str, held: u32) -> Option<&Cell> {
        self.curve(system).into_iter().find(|cell| cell.held == held)
    }

    /// Points of a system under an allocation policy, along the load.
    pub(crate) fn under(&self, system: &str, allocation: &str) -> Vec<&Cell> {
        self.cells.iter().filter(|cell| cell.system == system && cell.allocation == allocation).collect()
    }

    /// The point of a system under an allocation policy.
    pub(crate) fn point(&self, system: &str, allocation: &str) -> Option<&Cell> {
        self.under(system, allocation).into_iter().next()
    }

    /// Pairs of static points of two systems on the same cores at the same load, of which at least one
    /// carries the load.
    pub(crate) fn pairs(&self, first: &str, second: &str) -> Vec<(&Cell, &Cell)> {
        let same = |a: &Cell, b: &Cell| a.held == b.held && a.load == b.load;
        let second = self.curve(second);
        let pairs = self.curve(first).into_iter();
        pairs
            .filter_map(|a| second.iter().find(|b| same(a, b)).map(|&b| (a, b)))
            .filter(|(a, b)| !(a.overloaded && b.overloaded))
            .collect()
    }

    /// Different values of `of` in the order of the file.
    pub(crate) fn values<T: PartialEq>(&self, of: impl Fn(&Cell) -> T) -> Vec<T> {
        let mut values = Vec::new();
        for value in self.cells.iter().map(of) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values
    }
}

/// A cell with the results that it was made of.
pub(crate) type Refined = (Cell, Results);
