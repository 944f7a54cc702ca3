//! What lanes are worth when the workload is not what they were made for.

use caudal_stats::Estimate;
use serde::Serialize;

use super::judged::{Case, Judged};
use super::layout::Layout;
use super::question::{Drift, LanesQuestion};
use super::trials::Hands;
use super::{climbed, court, one_queue};
use crate::{Journal, TuneError};

/// The part of the budget that is spent on lanes for another workload.
const PART: u64 = 2;

/// The same lanes under other circumstances.
#[derive(Clone, Debug, Serialize)]
pub struct Drifted {
    /// Which.
    pub name: String,
    /// At what load.
    pub load: f64,
    /// The lanes that were found for the workload of the question.
    pub kept: Judged,
    /// One queue.
    pub one_queue: Judged,
    /// Lanes that were made for this.
    pub refitted: Judged,
    /// The target with the kept lanes over that with refitted ones; none in overload.
    pub loss: Option<f64>,
    /// Requests that it took to find out.
    #[serde(skip)]
    pub(crate) simulated: u64,
}

/// What becomes of `layout` under `drift`.
pub(crate) fn drifted(
    question: &LanesQuestion,
    drift: &Drift,
    layout: &Layout,
    hands: Hands<'_>,
    (journal, chapter): (&dyn Journal, usize),
) -> Result<Drifted, TuneError> {
    let asked = LanesQuestion { workload: drift.workload.clone(), load: drift.load, ..question.clone() };
    let service = drift.workload.service.clone();
    let effort = (service.clone(), drift.load, question.budget.requests / PART);
    let (steps, best, _) = climbed(&asked, effort, hands, (journal, chapter), false)?;
    if best.interrupted {
        return Err(TuneError::Interrupted);
    }
    let court = court(&asked, (service, drift.load), layout, hands)?;
    let judge =
        |case: Case, entry| court.judge(&Case { precisely: false, ..case }, journal, (chapter + 1, entry));
    let kept = judge(Case::of(&question.machine(), layout, "kept lanes"), 0)?;
    let one = judge(one_queue(question), 1)?;
    let refitted = judge(Case::of(&question.machine(), &best.layout, "refitted lanes"), 2)?;
    let value = |judged: &Judged| Some(judged.target).filter(|target: &Estimate| !target.is_missing());
    let loss = value(&kept).zip(value(&refitted)).map(|(kept, refitted)| kept.estimate / refitted.estimate);
    let searched: u64 = steps.iter().map(|step| step.requests).sum();
    Ok(Drifted {
        name: drift.name.clone(),
        load: drift.load,
        kept,
        one_queue: one,
        refitted,
        loss,
        simulated: searched + court.simulated.into_inner(),
    })
}
