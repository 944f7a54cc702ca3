//! A plan from question to answer: on one machine, or on machines that double until the targets can be met. This is what users of
//! the crate call.

use crate::candidates::candidates;
use crate::journal::{Journal, NoJournal};
use crate::judge::ProbeContext;
use crate::plan::Plan;
use crate::run::Run;
use crate::{Budget, Control, Progress, Question, TuneError};

/// Finds the best system for `question`.
///
/// A request to stop ends it early with what is known ([`Plan::interrupted`]).
///
/// # Errors
/// What can not be asked ([`Question::check`], classes and limits of targets, names of systems), or
/// [`TuneError::Interrupted`] if nothing is known yet.
pub fn plan(question: &Question, control: &Control<'_, Progress>) -> Result<Plan, TuneError> {
    plan_with(question, control, &NoJournal)
}

/// As [`plan`], with what is computed kept in `journal` as it is made, and what it has already taken from there.
/// The journal has to be of this very question; the answer is then the same to the last bit (but for the
/// rows' `wall_s`).
///
/// # Errors
/// As [`plan`].
pub fn plan_with(
    question: &Question,
    control: &Control<'_, Progress>,
    journal: &dyn Journal,
) -> Result<Plan, TuneError> {
    match planned(question, control, journal, Spent::default(), |_| false)? {
        Planned::Answer(plan) => Ok(*plan),
        Planned::TooFewCores(_) => unreachable!("any number of cores is enough"),
    }
}

/// As [`plan_with`], on a machine that doubles for as long as no system that could be deployed meets the targets on all of it
/// ([`Question::on_enough_cores`] says on which one to begin). The budget is for all of it together. Gives back the question, too,
/// as it was answered.
///
/// # Errors
/// As [`plan`].
pub fn plan_on_enough_cores(
    question: &Question,
    control: &Control<'_, Progress>,
    journal: &dyn Journal,
) -> Result<(Question, Plan), TuneError> {
    let (mut question, mut spent) = (question.clone(), Spent::default());
    loop {
        let larger = question.machine.larger();
        match planned(&question, control, journal, spent, |run| larger.is_some() && run.nobody_passes())? {
            Planned::Answer(plan) => return Ok((question, *plan)),
            Planned::TooFewCores(so_far) => spent = so_far,
        }
        question.machine = larger.unwrap_or(question.machine);
    }
}

/// The work that went into smaller machines.
#[derive(Clone, Copy, Default)]
struct Spent {
    charged: u64,
    simulated: u64,
    steps: usize,
}

enum Planned {
    Answer(Box<Plan>),
    TooFewCores(Spent),
}

fn planned(
    question: &Question,
    control: &Control<'_, Progress>,
    journal: &dyn Journal,
    before: Spent,
    too_few_cores: impl Fn(&Run<'_>) -> bool,
) -> Result<Planned, TuneError> {
    question.check()?;
    let budget = question.budget.requests;
    let left = Question {
        budget: Budget { requests: budget.saturating_sub(before.charged).max(1) },
        ..question.clone()
    };
    let context = ProbeContext::new(&left, control)?;
    let (candidates, left_out) = candidates(question)?;
    let mut run = Run::new(context, journal, control.threads, candidates).after(before.steps);
    run.first_steps();
    if too_few_cores(&run) {
        let (charged, simulated) = run.spent();
        return Ok(Planned::TooFewCores(Spent {
            charged: before.charged + charged,
            simulated: before.simulated + simulated,
            steps: run.steps(),
        }));
    }
    run.further_steps();
    if run.knows_nothing() {
        return Err(TuneError::Interrupted);
    }
    let plan = run.into_plan(left_out);
    Ok(Planned::Answer(Box::new(Plan {
        budget,
        spent: plan.spent + before.charged,
        simulated: plan.simulated + before.simulated,
        ..plan
    })))
}
