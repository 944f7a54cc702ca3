//! The points of a file one after the other: every row is where it is safe as soon as it is there, and is handed over in the order of the
//! points. `caudal sim` calls it.

use std::sync::{Mutex, PoisonError};

use caudal_config::Point;
use caudal_row::Row;
use caudal_sim::experiment::Results as PointResults;
use caudal_sim::sweep::{Sweep, SweepError};

use crate::error::ResultsError;
use crate::{Control, Progress};

/// A place where the rows of a sweep are safe as soon as they are there.
pub trait RowStore: Send {
    /// Rows that were there before, with their points' names.
    fn found(&self) -> &[Row];

    /// Has `point`, the one at `index`, to be simulated although its row was found?
    fn lacks(&self, index: usize, point: &Point) -> bool;

    /// Takes in the results of a point, which comes with its index; its row is only to be added if `is_new`.
    ///
    /// # Errors
    /// If it can not be kept.
    fn add(
        &mut self,
        of: (usize, &Point),
        row: &Row,
        is_new: bool,
        results: &PointResults,
    ) -> Result<(), ResultsError>;

    /// All rows are there, in the order of the points.
    ///
    /// # Errors
    /// If they can not be kept.
    fn finish(&mut self, rows: &[Row]) -> Result<(), ResultsError>;
}

/// The end of a sweep.
#[derive(Debug)]
pub struct Swept {
    /// The rows that are there, in the order of the points.
    pub rows: Vec<Row>,
    /// Why they are not all, or not all kept.
    pub outcome: Result<(), ResultsError>,
}

/// Simulates the points that `store` does not have yet, `quick` with less precision; `on_row` gets every row in the order of the points.
pub fn sweep(
    points: &[Point],
    quick: bool,
    store: Option<&mut dyn RowStore>,
    control: &Control<'_, Progress>,
    on_row: &(dyn Fn(&Row) + Sync),
) -> Swept {
    let rows: Vec<Option<Row>> = points.iter().map(|point| found(store.as_deref(), point)).collect();
    let lacks = |index: usize| {
        rows[index].is_none() || store.as_deref().is_some_and(|store| store.lacks(index, &points[index]))
    };
    let todo: Vec<usize> = (0..points.len()).filter(|&index| lacks(index)).collect();
    control.tell(Progress::Done((points.len() - todo.len()) as u64));
    let mut collected = Collected { store, rows, shown: 0, written: Ok(()) };
    collected.show_next(on_row);
    let collected = Mutex::new(collected);
    let mut done = |index: usize, row: Row, of: &PointResults| {
        let mut collected = collected.lock().unwrap_or_else(PoisonError::into_inner);
        collected.take(index, &points[index], row, of);
        collected.show_next(on_row);
        control.tell(Progress::Step);
    };
    let requests = |more| control.tell(Progress::Requests(more));
    let Control { threads, stop, .. } = *control;
    let outcome = Sweep { points, quick, threads, stop, progress: &requests }.run(&todo, &mut done);
    let mut collected = collected.into_inner().unwrap_or_else(PoisonError::into_inner);
    collected.show_rest(on_row);
    collected.finish(outcome)
}

fn found(store: Option<&dyn RowStore>, point: &Point) -> Option<Row> {
    store?.found().iter().find(|row| row.point == point.key).cloned()
}

/// The rows of a sweep so far.
struct Collected<'a> {
    store: Option<&'a mut dyn RowStore>,
    rows: Vec<Option<Row>>,
    /// Points whose rows have been shown: the first so many.
    shown: usize,
    /// The first thing that could not be written; the sweep goes on, its rows are printed.
    written: Result<(), ResultsError>,
}

impl Collected<'_> {
    /// Shows the rows that are there, in the order of the points, up to the first point that has none yet: who reads them shall
    /// not see which thread was first.
    fn show_next(&mut self, show: &dyn Fn(&Row)) {
        while let Some(Some(row)) = self.rows.get(self.shown) {
            show(row);
            self.shown += 1;
        }
    }

    /// Shows the rows that are left when no more will come: where the sweep ended early, there are gaps.
    fn show_rest(&mut self, show: &dyn Fn(&Row)) {
        self.rows[self.shown..].iter().flatten().for_each(show);
        self.shown = self.rows.len();
    }

    /// Takes in a row.
    fn take(&mut self, index: usize, point: &Point, row: Row, of: &PointResults) {
        let is_new = self.rows[index].is_none();
        if let (Some(store), Ok(())) = (self.store.as_mut(), &self.written) {
            self.written = store.add((index, point), &row, is_new, of);
        }
        if is_new {
            self.rows[index] = Some(row);
        }
    }

    fn finish(self, outcome: Result<(), SweepError>) -> Swept {
        let rows: Vec<Row> = self.rows.into_iter().flatten().collect();
        let finished = self
            .written
            .and_then(|()| outcome.map_err(|error| ResultsError::of_point(error.point, &error.source)));
        let outcome = finished.and_then(|()| match self.store {
            Some(store) => store.finish(&rows),
            None => Ok(()),
        });
        Swept { rows, outcome }
    }
}
