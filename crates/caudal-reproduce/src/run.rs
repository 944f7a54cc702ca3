//! The simulation of a figure's points on several threads, in which every replication is kept. `reproduction` calls it for each figure
//! that was asked for, and `refine` for more replications.

use std::sync::Mutex;
use std::time::Instant;

use caudal_config::{File, Measure, Point};
use caudal_sim::experiment::{Results, StopOn};
use caudal_sim::sweep::experiment;

use super::cell::{Cell, CellId};
use super::claim::Want;
use super::error::ReproduceError;
use super::figure::{Figure, FigureKind};
use super::measured::{Measured, Refined};
use super::parallel::{RunError, in_parallel};
use super::search::{Highest, Search};
use super::thresholds::Thresholds;
use super::trace::Trace;
use caudal_results::{Control, Progress};

/// How much less is simulated for a first result.
const QUICK_SHARE: u64 = 8;
/// Least requests of a replication.
const REQUESTS_MIN: u64 = 4_000;

/// The points, searches, thresholds and traces of a figure, to be simulated.
#[derive(Default)]
pub(crate) struct FigurePlan {
    figure: &'static str,
    /// With the workload that the point's file is about, where there are several.
    points: Vec<(&'static str, Point)>,
    searches: Vec<Search>,
    thresholds: Vec<Thresholds>,
    traces: Vec<Point>,
}

impl FigurePlan {
    /// Reads the figure's file.
    ///
    /// # Errors
    /// If it is wrong; the tests read all of them.
    pub(crate) fn new(figure: &Figure, quick: bool) -> Result<FigurePlan, ReproduceError> {
        let mut plan = FigurePlan { figure: figure.name, ..FigurePlan::default() };
        for source in figure.files {
            let file = File::parse(source.text, source.path(figure.name))?;
            match figure.kind {
                FigureKind::Points => {
                    plan.points.extend(file.points()?.into_iter().map(|point| (source.workload, point)));
                }
                FigureKind::HighestLoad(within) => {
                    let about = (source.workload, within(source.workload));
                    plan.searches.extend(Search::all(&file, about, quick));
                }
                // They take no longer than reading the file, which is wrong where there are none.
                FigureKind::Thresholds => {
                    for point in file.points()? {
                        plan.thresholds.push(Thresholds::of(&point)?);
                    }
                }
                FigureKind::Traces => plan.traces.extend(file.points()?),
            }
        }
        if quick {
            for point in plan.points.iter_mut().map(|(_, point)| point).chain(&mut plan.traces) {
                point.measure = std::sync::Arc::new(shortened(&point.measure));
            }
        }
        Ok(plan)
    }

    /// How many steps it takes.
    pub(crate) fn steps(&self) -> usize {
        let worked_out = self.thresholds.len() + self.traces.len();
        self.points.len() + self.searches.len() * Search::STEPS + worked_out
    }

    /// Simulates all of it; `on_row` gets the row of each point or search as soon as it is there.
    ///
    /// # Errors
    /// If it was interrupted, or a point asks for what its variant can not do.
    pub(crate) fn run(
        &self,
        control: &Control<'_, Progress>,
        on_row: &mut (dyn FnMut(&serde_json::Value) + Send),
    ) -> Result<Measured, RunError> {
        let on_row = Mutex::new(on_row);
        let done =
            |row: &serde_json::Value| (on_row.lock().unwrap_or_else(std::sync::PoisonError::into_inner))(row);
        let places: Vec<usize> = (0..self.points.len()).collect();
        let found = in_parallel(control.threads, &places, |&at| {
            let (cell, results) = self.simulate(at, control)?;
            control.tell(Progress::Step);
            done(&cell.row);
            Ok((cell, results))
        })?;
        let (cells, results) = found.into_iter().unzip();
        let highest: Vec<Highest> = in_parallel(control.threads, &self.searches, |search| {
            let found = search.run(control)?;
            done(&found.row());
            Ok(found)
        })?;
        let thresholds = self.thresholds.clone();
        thresholds.iter().for_each(|thresholds| {
            control.tell(Progress::Step);
            done(&thresholds.row());
        });
        let traces = in_parallel(control.threads, &self.traces, |point| {
            let trace = Trace::of(point);
            control.tell(Progress::Step);
            done(&trace.row());
            Ok(trace)
        })?;
        Ok(Measured { cells, results, highest, thresholds, traces })
    }

    /// A point of the file.
    pub(crate) fn point(&self, cell: CellId) -> &Point {
        &self.points[cell.at].1
    }

    /// Is it of `figure`, and do any of its requests fork?
    pub(crate) fn forks(&self, figure: &str) -> bool {
        self.figure == figure && self.points.iter().any(|(_, point)| point.system.parallelism.forks())
    }

    /// The name of a point in errors.
    fn called(&self, at: usize) -> String {
        match &self.points[at] {
            ("", point) => point.key.clone(),
            (workload, point) => format!("{workload}, {}", point.key),
        }
    }

    fn simulate(&self, at: usize, control: &Control<'_, Progress>) -> Result<Refined, RunError> {
        let (started, (workload, point)) = (Instant::now(), &self.points[at]);
        let alone = Control {
            threads: 1,
            stop: control.stop,
            progress: &|more| control.tell(Progress::Requests(more)),
        };
        let results = experiment(point, false, StopOn::Reported)
            .run(&alone)
            .map_err(|source| RunError { point: self.called(at), source })?;
        let id = CellId { figure: self.figure, at };
        Ok((Cell::new(id, (workload, point), &results, started.elapsed().as_secs_f64()), results))
    }

    /// A point with more replications than `results` have.
    ///
    /// # Errors
    /// If it is interrupted.
    pub(crate) fn extend(
        &self,
        want: &Want,
        results: &Results,
        control: &Control<'_, Progress>,
    ) -> Result<Refined, RunError> {
        let (started, (workload, point)) = (Instant::now(), &self.points[want.cell.at]);
        let mut results = results.clone();
        let more = want.replications.saturating_sub(results.accounts.len());
        let alone = Control {
            threads: 1,
            stop: control.stop,
            progress: &|more| control.tell(Progress::Requests(more)),
        };
        experiment(point, false, StopOn::Reported)
            .extend(&mut results, more as u32, &alone)
            .map_err(|source| RunError { point: self.called(want.cell.at), source })?;
        Ok((Cell::new(want.cell, (workload, point), &results, started.elapsed().as_secs_f64()), results))
    }
}

fn shortened(measure: &Measure) -> Measure {
    let less = |requests: u64| (requests / QUICK_SHARE).max(REQUESTS_MIN);
    let warm_up = match measure.warm_up {
        caudal_config::WarmUp::Requests(requests) => caudal_config::WarmUp::Requests(less(requests)),
        other => other,
    };
    Measure { requests: measure.requests.map(less), warm_up, ..measure.clone() }
}
