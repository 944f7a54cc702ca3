//! The answer of a search for lanes under other workloads than the one that it was made for. The search calls it last, after the answer
//! has been judged, for each drift that the question names. It simulates.
//!
//! Lanes that are made for it are found as the answer was: on one half of its measured values, if there are any. All are
//! judged on the other half, on requests that no search has seen, and held against each other on the same ones.

use caudal_stats::Estimate;
use serde::Serialize;

use super::judged::{Case, JudgedSystem};
use super::layout::Layout;
use super::question::{Drift, LanesQuestion};
use super::{climbed, court, halves, one_queue, versus};
use crate::{Control, Journal, TuneError};

/// The part of the budget that is spent on lanes for another workload.
const PART: u64 = 2;

/// The same lanes under other circumstances.
#[derive(Clone, Debug, Serialize)]
pub struct Drifted {
    /// The name of the drift.
    pub name: String,
    /// The load after the drift.
    pub load: f64,
    /// The lanes that were found for the workload of the question.
    pub kept: JudgedSystem,
    /// The result of one queue, first come, first served.
    pub one_queue: JudgedSystem,
    /// Lanes that were made for this.
    pub refitted: JudgedSystem,
    /// The target with the kept lanes over that with refitted ones, on the same requests; none in overload, or where one
    /// of them is not in its steady state.
    pub loss: Option<Estimate>,
    /// Were lanes refitted on one half of the measured values, and all judged on the other?
    pub halves: bool,
    /// Requests that it took to find out.
    #[serde(skip)]
    pub(crate) simulated: u64,
}

/// Simulates `layout` under `drift`, beside one queue and beside lanes made for it.
pub(crate) fn drifted(
    question: &LanesQuestion,
    drift: &Drift,
    layout: &Layout,
    control: Control<'_>,
    (journal, chapter): (&dyn Journal, usize),
) -> Result<Drifted, TuneError> {
    let asked = LanesQuestion { workload: drift.workload.clone(), load: drift.load, ..question.clone() };
    let ([fit, fresh], shared_out) = halves(&drift.workload.service, question.measure.seed);
    let effort = (fit, drift.load, question.budget.requests / PART);
    let (steps, best, _) = climbed(&asked, effort, control, (journal, chapter), false)?;
    if best.interrupted {
        return Err(TuneError::Interrupted);
    }
    let court = court(&asked, (fresh, drift.load), layout, control)?;
    let machine = question.machine();
    let named = |layout: &Layout, name: &str| Case { precisely: false, ..Case::of(&machine, layout, name) };
    let pair = [named(layout, "kept lanes"), named(&best.layout, "refitted lanes")];
    let kept = court.judge(&pair[0], journal, (chapter + 1, 0))?;
    let one = Case { precisely: false, ..one_queue(question) };
    let one = court.judge(&one, journal, (chapter + 1, 1))?;
    let refitted = court.judge(&pair[1], journal, (chapter + 1, 2))?;
    let loss = match kept.row.overloaded || refitted.row.overloaded {
        true => None,
        false if best.layout == *layout => Some(Estimate::exact(1.0)),
        false => {
            let found = versus(&asked, &court, [&pair[0], &pair[1]], journal, (chapter + 1, 3))?;
            found.map(|versus| versus.target)
        }
    };
    let searched: u64 = steps.iter().map(|step| step.requests).sum();
    Ok(Drifted {
        name: drift.name.clone(),
        load: drift.load,
        kept,
        one_queue: one,
        refitted,
        loss,
        halves: shared_out,
        simulated: searched + court.simulated.into_inner(),
    })
}
