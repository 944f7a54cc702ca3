//! Lanes for a service: where they should end, and how many servers each should be entitled to.
//! `caudal lanes` calls [`find`].
//!
//! [`find`] climbs from one queue (by races on the same requests), and holds what it found against
//! one queue, against what came second, and against LAS, processor sharing and SRPT, all on requests that the search has
//! not seen: of measured service times, the search sees one half, the judge the other.
//!
//! | file | what |
//! | --- | --- |
//! | `layout`, `grid` | lanes, and where they may end |
//! | `trials`, `objective`, `race`, `climb` | the search |
//! | `judged`, `drift`, `explain` | what its answer is worth |

mod climb;
mod drift;
#[cfg(test)]
mod exhaustive;
mod explain;
mod grid;
mod judged;
mod layout;
mod objective;
mod question;
mod race;
mod short;
mod trials;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use caudal_config::{LatencyTarget, write_policy};
use caudal_policy::Picos;
use caudal_policy::random::hash;
use caudal_stats::Estimate;
use caudal_workload::Service;
use serde::{Deserialize, Serialize};

pub use climb::{Move, Step};
pub use drift::Drifted;
pub use judged::JudgedSystem;
pub use layout::{Family, LANES_MAX, Layout};
pub use question::{Drift, LanesQuestion};
pub use race::Tried;
pub use short::LanesSummary;

use climb::Climb;
use judged::{Case, Court};
use trials::{Contender, Trials};

use crate::show::spelled;
use crate::{Control, Journal, Phase, Progress, TuneError};

/// Parts of the journal.
const CLIMB: usize = 0;
const JUDGING: usize = 1;
const DRIFTS: usize = 2;
/// Judging what came second, as the answer.
const AGAIN: usize = 1 << 20;
/// The part of the budget that may go into telling who came second.
const SECOND: u64 = 4;
/// A target that is longer by no more than this is as long.
const AS_LONG: f64 = 1.01;
/// Stirs the seed that shares measured values out.
const HALVES: u64 = 0x4A1F;

/// The answer of a search for lanes.
#[derive(Clone, Debug, Serialize)]
pub struct LanesAnswer {
    /// The answer in one line.
    pub headline: String,
    /// The answer on one screen.
    pub summary: LanesSummary,
    /// Further sentences on the answer.
    pub explanation: Vec<String>,
    /// The lanes that were found.
    pub layout: Layout,
    /// The second-best layout, if there is one.
    pub runner_up: Option<RunnerUp>,
    /// The layout that the search had taken for the best, if its second was certainly better on fresh requests.
    pub overtaken: Option<Layout>,
    /// The verdict: whether lanes are worth it.
    pub verdict: LanesVerdict,
    /// The further limits and whether they are kept, in their order; empty if nothing was judged.
    pub limits: Vec<Kept>,
    /// The steps of the climb that led there.
    pub steps: Vec<Step>,
    /// The answer, one queue, what came second, and rivals, on fresh requests; empty if it was interrupted before.
    pub judged: Vec<JudgedSystem>,
    /// The answer against one queue on the same fresh requests.
    pub against_one_queue: Option<Versus>,
    /// The answer under other workloads, one for each drift of the question.
    pub drifts: Vec<Drifted>,
    /// Was it fitted on one half of the measured values, and judged on the other?
    pub halves: bool,
    /// The file that describes the system.
    pub policy_toml: String,
    /// Requests that were simulated.
    pub simulated: u64,
    /// Did the budget end the search?
    pub cut_short: bool,
    /// Was it stopped before all was known?
    pub interrupted: bool,
}

/// The answer against one queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LanesVerdict {
    /// The target is certainly shorter, or as short with a certainly shorter tail of the slowdown.
    Better,
    /// Neither is certainly better.
    NotBetter,
    /// The target is certainly longer.
    Worse,
    /// A lane can not keep up on fresh requests.
    Overloaded,
    /// The best layout is one queue.
    OneQueue,
    /// It was not judged, or not in its steady state.
    Unknown,
}

/// A further limit, and whether it is kept.
#[derive(Clone, Debug, Serialize)]
pub struct Kept {
    /// The limit as it was written.
    pub target: String,
    /// Its statistic on fresh requests, in ns or as a ratio.
    pub estimate: Estimate,
    /// Is it certainly kept, or certainly missed? None if that is open.
    pub kept: Option<bool>,
}

impl LanesAnswer {
    /// The second-best layout, if its target is certainly shorter on fresh requests, and no limit is further from being kept.
    fn better_second(&self) -> Option<Layout> {
        let second = &self.runner_up.as_ref()?.layout;
        let of = |layout: &Layout| self.judged.iter().find(|judged| judged.layout.as_ref() == Some(layout));
        let (own, other) = (of(&self.layout)?, of(second)?);
        let keeps = own.limits.iter().zip(&other.limits).all(|(own, other)| other.estimate <= own.high);
        (keeps && other.is_certainly_shorter(own)).then(|| second.clone())
    }

    /// Are these lanes certainly better than one queue, and do they miss no limit?
    pub fn is_worth_it(&self) -> bool {
        self.verdict == LanesVerdict::Better && self.limits.iter().all(|limit| limit.kept != Some(false))
    }
}

/// The second-best layout, and how it compares with the best.
#[derive(Clone, Debug, Serialize)]
pub struct RunnerUp {
    /// Its lanes.
    pub layout: Layout,
    /// Its target over the winner's, on the requests of the search.
    pub target_ratio: Estimate,
    /// Its p99.9 of the slowdown over the winner's.
    pub slowdown_ratio: Estimate,
}

/// One system over another one, on the same requests.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Versus {
    /// The target's statistic.
    pub target: Estimate,
    /// The p99.9 of the slowdown of all requests.
    pub slowdown: Estimate,
    /// Requests of each of the two systems.
    pub requests: u64,
}

/// Finds lanes for `question`. A request to stop ends it with what is known ([`LanesAnswer::interrupted`]); the same
/// question, asked again with the same journal, goes on there and ends with the same answer.
///
/// # Errors
/// What can not be asked, or [`TuneError::Interrupted`] if nothing is known yet.
pub fn find(
    question: &LanesQuestion,
    control: &Control<'_, Progress>,
    journal: &dyn Journal,
) -> Result<LanesAnswer, TuneError> {
    question.check()?;
    let ([fit, fresh], shared_out) = halves(&question.workload.service, question.measure.seed);
    let progress = |requests: u64| (control.progress)(Progress { phase: Phase::Tuning, requests });
    let climbing = Control { threads: control.threads.max(1), stop: control.stop, progress: &progress };
    let (steps, best, cut_short) =
        climbed(question, (fit, question.load, question.budget.requests), climbing, (journal, CLIMB), true)?;
    let mut answer = LanesAnswer {
        headline: String::new(),
        summary: LanesSummary::default(),
        explanation: Vec::new(),
        policy_toml: policy(question, &best.layout),
        runner_up: best.runner_up,
        overtaken: None,
        layout: best.layout,
        verdict: LanesVerdict::Unknown,
        limits: Vec::new(),
        simulated: steps.iter().map(|step| step.requests).sum(),
        steps,
        judged: Vec::new(),
        against_one_queue: None,
        drifts: Vec::new(),
        halves: shared_out,
        cut_short,
        interrupted: best.interrupted,
    };
    if !answer.interrupted {
        match judge_all(question, &fresh, &mut answer, control, journal) {
            Err(TuneError::Interrupted) => answer.interrupted = true,
            judged => judged?,
        }
    }
    answer.verdict = verdict(&answer);
    answer.limits = kept(question, &answer);
    explain::explain(question, &mut answer);
    answer.summary = short::summary(question, &answer);
    Ok(answer)
}

/// Service times to fit to and to judge on: halves of measured values, if there are any, and then `true`.
fn halves(service: &Service, seed: u64) -> ([Service; 2], bool) {
    let halves = service.halves(hash(seed, HALVES));
    let shared_out = halves.is_some();
    (halves.unwrap_or_else(|| [service.clone(), service.clone()]), shared_out)
}

/// The climb alone, without a judge: for a plan that judges by itself. On all of the workload's service times.
///
/// # Errors
/// As [`find`]; a request to stop is one.
pub(crate) fn climb_for(
    question: &LanesQuestion,
    control: Control<'_>,
    journal: &dyn Journal,
) -> Result<(Vec<Step>, Layout), TuneError> {
    question.check()?;
    let control = Control { threads: control.threads.max(1), ..control };
    let effort = (question.workload.service.clone(), question.load, question.budget.requests);
    let (steps, best, _) = climbed(question, effort, control, (journal, CLIMB), false)?;
    if best.interrupted { Err(TuneError::Interrupted) } else { Ok((steps, best.layout)) }
}

/// The end of a climb.
struct ClimbEnd {
    layout: Layout,
    runner_up: Option<RunnerUp>,
    interrupted: bool,
}

fn climbed(
    question: &LanesQuestion,
    (service, load, budget): (Service, f64, u64),
    control: Control<'_>,
    (journal, chapter): (&dyn Journal, usize),
    names_second: bool,
) -> Result<(Vec<Step>, ClimbEnd, bool), TuneError> {
    let mean_gap_ps = service.mean_ps() / (load * question.capacity());
    let objective = question.objective(&service)?;
    let grid = grid::grid(&service, question.stretch());
    let start = question.reservations.as_deref().map(|counts| question.level_start(&service, counts));
    let trials = Trials::new(
        (question.machine(), question.costs),
        ([service, question.workload.service.clone()], &question.workload.arrivals, mean_gap_ps),
        objective,
        (&question.measure, question.cores, question.quick),
        control,
    );
    let mut climb = Climb {
        trials: &trials,
        grid: &grid,
        journal,
        chapter,
        budget,
        lanes_max: question.lanes_max.min(question.cores as usize).min(LANES_MAX),
        steps: Vec::new(),
        cut_short: false,
    };
    let found = match start {
        Some(start) => climb.fit(start),
        None => climb.run(question.cores),
    };
    let best = match found {
        Ok(best) if !names_second => ClimbEnd { layout: best.layout, runner_up: None, interrupted: false },
        Ok(mut best) => {
            let runner_up = runner_up(&trials, &mut best, (&climb.steps, budget / SECOND));
            let interrupted = matches!(runner_up, Err(TuneError::Interrupted));
            ClimbEnd { layout: best.layout, runner_up: runner_up.unwrap_or_default(), interrupted }
        }
        // What is known so far.
        Err(TuneError::Interrupted) => {
            let taken = climb.steps.iter().rev().find(|step| step.taken);
            let layout = taken.and_then(|step| step.leader.clone()).ok_or(TuneError::Interrupted)?;
            ClimbEnd { layout, runner_up: None, interrupted: true }
        }
        Err(error) => return Err(error),
    };
    Ok((climb.steps, best, climb.cut_short))
}

/// The best of those that lost a race to the winner, or that it took the place of.
fn runner_up(
    trials: &Trials<'_>,
    best: &mut Contender,
    (steps, budget): (&[Step], u64),
) -> Result<Option<RunnerUp>, TuneError> {
    let mut others: Vec<Layout> = steps
        .iter()
        .filter(|step| step.from == best.layout && !step.taken)
        .filter_map(|step| step.leader.clone())
        .collect();
    others.extend(
        steps
            .iter()
            .filter(|step| step.taken && step.leader.as_ref() == Some(&best.layout))
            .map(|step| step.from.clone()),
    );
    others.retain(|layout| *layout != best.layout);
    let last = trials::ROUNDS.len() - 1;
    trials.advance(best, last, trials.threads)?;
    let mut second: Option<Contender> = None;
    // The last races were the closest; one is always looked at.
    others.reverse();
    let each = trials.cost(&Contender::new(best.layout.clone()), last).max(1);
    others.truncate((budget / each).max(1) as usize);
    for layout in others {
        let mut other = Contender::new(layout);
        trials.advance(&mut other, last, trials.threads)?;
        let better = |than: &Contender| match (other.last(), than.last()) {
            (Some(own), Some(than)) => trials.objective.order(own, than) == objective::Order::Better,
            (own, _) => own.is_some(),
        };
        if second.as_ref().is_none_or(better) {
            second = Some(other);
        }
    }
    let of = |second: Contender| {
        let (own, other) = (best.last()?, second.last()?);
        Some(RunnerUp {
            target_ratio: trials.objective.ratio(&trials.objective.target, other, own),
            slowdown_ratio: trials.objective.ratio(&objective::slowdown(), other, own),
            layout: second.layout,
        })
    };
    Ok(second.and_then(of))
}

/// Judges the answer, and what came second. If that is certainly better on fresh requests, it is the answer.
fn judge_all(
    question: &LanesQuestion,
    fresh: &Service,
    answer: &mut LanesAnswer,
    control: &Control<'_, Progress>,
    journal: &dyn Journal,
) -> Result<(), TuneError> {
    judge(question, fresh.clone(), answer, control, (journal, JUDGING))?;
    if let Some(second) = answer.better_second() {
        answer.overtaken = Some(std::mem::replace(&mut answer.layout, second));
        answer.policy_toml = policy(question, &answer.layout);
        answer.runner_up = None;
        answer.judged.clear();
        answer.against_one_queue = None;
        judge(question, fresh.clone(), answer, control, (journal, AGAIN))?;
    }
    drifts(question, answer, control, journal)
}

fn judge(
    question: &LanesQuestion,
    fresh: Service,
    answer: &mut LanesAnswer,
    control: &Control<'_, Progress>,
    (journal, chapter): (&dyn Journal, usize),
) -> Result<(), TuneError> {
    let progress = |requests: u64| (control.progress)(Progress { phase: Phase::Confirming, requests });
    let judging = Control { threads: control.threads.max(1), stop: control.stop, progress: &progress };
    let court = court(question, (fresh, question.load), &answer.layout, judging)?;
    let (own, one) = (named(question, &answer.layout), one_queue(question));
    let machine = question.machine();
    let mut cases = vec![];
    if answer.layout.lanes() > 1 {
        cases.push(named(question, &answer.layout));
    }
    cases.push(one);
    if let Some(second) = answer.runner_up.as_ref().filter(|second| second.layout.lanes() > 1) {
        let name = format!("{}, second", question.family.name());
        cases.push(Case { precisely: false, ..Case::of(&machine, &second.layout, &name) });
    }
    cases.extend(Case::rivals(&machine, question.cores, &question.workload.service));
    for (entry, case) in cases.iter().enumerate() {
        answer.judged.push(court.judge(case, journal, (chapter, entry))?);
    }
    if answer.layout.lanes() > 1 {
        let pair = [&own, &one_queue(question)];
        answer.against_one_queue = versus(question, &court, pair, journal, (chapter, cases.len()))?;
    }
    answer.simulated += court.simulated.into_inner();
    Ok(())
}

fn drifts(
    question: &LanesQuestion,
    answer: &mut LanesAnswer,
    control: &Control<'_, Progress>,
    journal: &dyn Journal,
) -> Result<(), TuneError> {
    let progress = |requests: u64| (control.progress)(Progress { phase: Phase::Confirming, requests });
    let judging = Control { threads: control.threads.max(1), stop: control.stop, progress: &progress };
    for (number, drift) in question.drifts.iter().enumerate() {
        let chapter = DRIFTS + 2 * number;
        answer.drifts.push(drift::drifted(question, drift, &answer.layout, judging, (journal, chapter))?);
    }
    answer.simulated += answer.drifts.iter().map(|drift| drift.simulated).sum::<u64>();
    Ok(())
}

fn verdict(answer: &LanesAnswer) -> LanesVerdict {
    let (own, one) = match &answer.judged[..] {
        _ if answer.layout.lanes() == 1 => return LanesVerdict::OneQueue,
        [own, one, ..] => (own, one),
        _ => return LanesVerdict::Unknown,
    };
    match &answer.against_one_queue {
        _ if own.row.overloaded => LanesVerdict::Overloaded,
        _ if one.row.overloaded => LanesVerdict::Better,
        _ if own.is_certainly_shorter(one) => LanesVerdict::Better,
        _ if one.is_certainly_shorter(own) => LanesVerdict::Worse,
        None => LanesVerdict::Unknown,
        Some(versus) if versus.target.high < 1.0 => LanesVerdict::Better,
        Some(versus) if versus.target.high <= AS_LONG && versus.slowdown.high < 1.0 => LanesVerdict::Better,
        Some(versus) if versus.target.low > 1.0 => LanesVerdict::Worse,
        Some(_) => LanesVerdict::NotBetter,
    }
}

fn kept(question: &LanesQuestion, answer: &LanesAnswer) -> Vec<Kept> {
    let Some(own) = answer.judged.first() else { return Vec::new() };
    let limit = |(target, &estimate): (&LatencyTarget, &Estimate)| {
        let limit = target.limit.value();
        let kept = match () {
            () if estimate.is_missing() => own.row.overloaded.then_some(false),
            () if estimate.high < limit => Some(true),
            () => (estimate.low >= limit).then_some(false),
        };
        Kept { target: target.to_string(), estimate, kept }
    };
    question.also.iter().zip(&own.limits).map(limit).collect()
}

/// The circumstances in which everything is judged: requests of one class are told apart by the lanes' ends.
fn court<'a>(
    question: &'a LanesQuestion,
    (service, load): (Service, f64),
    layout: &Layout,
    control: Control<'a>,
) -> Result<Court<'a>, TuneError> {
    let objective::Objective { target, limits, .. } = question.objective(&service)?;
    let stretch = question.stretch();
    let mut ends: Vec<u64> = layout.cutoffs.iter().map(|end| (end.0 as f64 / stretch) as u64).collect();
    ends.dedup();
    let service = if service.classes().len() == 1 { service.by_size(&ends) } else { service };
    let workload = Arc::new(question.workload.with_service(service));
    Ok(Court { question, workload, load, target, limits, control, simulated: AtomicU64::new(0) })
}

fn named(question: &LanesQuestion, layout: &Layout) -> Case {
    Case::of(&question.machine(), layout, question.family.name())
}

fn one_queue(question: &LanesQuestion) -> Case {
    Case::of(&question.machine(), &Layout::single(question.cores), "one queue")
}

/// The first over the second, by paired replications; the result is kept in `journal` under `place`.
fn versus(
    question: &LanesQuestion,
    court: &Court<'_>,
    [own, other]: [&Case; 2],
    journal: &dyn Journal,
    place: (usize, usize),
) -> Result<Option<Versus>, TuneError> {
    let known = journal.recall(place.0, place.1).map(|entry| entry["versus"].clone());
    if let Some(known) = known.and_then(|known| serde_json::from_value(known).ok()) {
        return Ok(known);
    }
    let compared = court.contest(own, other)?;
    let (statistic, metric) = judged::label(&question.target);
    let ratio = |class: Option<&String>, statistic: &str, metric: &str| {
        let line = compared.lines.iter().find(|line| {
            line.class.as_ref() == class && line.statistic == statistic && line.metric == metric
        });
        line.map(|line| line.ratio)
    };
    let target = ratio(question.target.class.as_ref(), &statistic, metric);
    let slowdown = ratio(None, &caudal_stats::percentile_label(objective::SLOWDOWN), "slowdown");
    // What is still filling says nothing.
    let found = target.zip(slowdown).filter(|_| compared.holds(0) && compared.holds(1));
    let versus = found.map(|(target, slowdown)| Versus { target, slowdown, requests: compared.requests });
    journal.keep(serde_json::json!({
        "step": place.0,
        "entry": place.1,
        "phase": "judging",
        "system": other.system.name,
        "requests": 2 * compared.requests,
        "versus": versus,
    }));
    Ok(versus)
}

fn policy(question: &LanesQuestion, layout: &Layout) -> String {
    let system = question.machine().system(layout);
    let header = format!(
        "Lanes for {} at load {} of {} {}, for the shortest {}.",
        question.workload_name,
        question.load,
        question.cores,
        question.servers_name(),
        question.target
    );
    write_policy(&system, &question.costs, &header)
}

/// A time of a cutoff.
fn time(end: Picos) -> String {
    spelled(&end.to_string())
}
