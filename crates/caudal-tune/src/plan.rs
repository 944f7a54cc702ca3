//! What a plan says.

use caudal_sim::row::Row;
use caudal_stats::Estimate;
use serde::Serialize;

use crate::candidate::{LeftOut, candidates};
use crate::explain::PlanSummary;
use crate::journal::{Journal, NoJournal};
use crate::judge::Bench;
use crate::run::Run;
use crate::tune::Tuning;
use crate::{Budget, Goal, Host, Question, TuneError};

/// The answer to a [`Question`].
#[derive(Clone, Debug, Serialize)]
pub struct Plan {
    /// The answer in a sentence.
    pub headline: String,
    /// The answer on one screen.
    pub summary: PlanSummary,
    /// Who wins; none if no deployable system meets the targets anywhere.
    pub winner: Option<Winner>,
    /// Why, in a few sentences made of numbers of this run.
    pub explanation: Vec<String>,
    /// All systems that were simulated, best first.
    pub systems: Vec<SystemResult>,
    /// Those that were not, and why.
    pub left_out: Vec<LeftOut>,
    /// Every simulated point that curves are made of, system by system. `load`, `cores` and core time are
    /// those of the machine, dedicated cores included.
    #[serde(skip)]
    pub rows: Vec<Row>,
    /// The budget, in requests; those of systems that take long to simulate count more, of those that take little less.
    pub budget: u64,
    /// What was spent of it.
    pub spent: u64,
    /// Requests that were simulated.
    pub simulated: u64,
    /// Events of the engine that this took, in this process: what was taken from a journal, and the search for lanes, is not among them.
    #[serde(skip)]
    pub events: u64,
    /// Was it stopped before it was done?
    pub interrupted: bool,
}

/// The winner of a plan.
#[derive(Clone, Debug, Serialize)]
pub struct Winner {
    /// Its name: the deployable system that is confirmed to get furthest; of those that the search does not tell apart
    /// from it, the one with the fewest mechanisms.
    pub system: String,
    /// The file for the runtime.
    pub policy_toml: String,
    /// Did it pass once more on requests that no search had seen, with the warm-up looked for in the data too?
    pub confirmed: bool,
}

/// How far a system gets: loads, or cores.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Reach {
    /// The highest load, or fewest cores (dedicated ones included), that passed; none if none did.
    pub pass: Option<f64>,
    /// Was that seen in a run that was long enough, with whole intervals within the targets? If not, only the
    /// estimates of short runs say so, and near saturation they flatter.
    pub confirmed: bool,
    /// The furthest, up to `pass`, that was confirmed.
    pub certain: Option<f64>,
    /// The next load above, or number of cores below, that was tried and did not pass.
    pub fail: Option<f64>,
    /// Did it fail with confidence, or was it undecided?
    pub fail_certain: bool,
    /// The next one that failed with confidence.
    pub missed: Option<f64>,
}

/// A target and what became of it.
#[derive(Clone, Debug, Serialize)]
pub struct TargetResult {
    /// The target.
    pub target: String,
    /// Its statistic at the system's limit, in ns or as a ratio.
    pub estimate: Estimate,
    /// What it had to stay below.
    pub limit: f64,
}

/// A line of the table.
#[derive(Clone, Debug, Serialize)]
pub struct SystemResult {
    /// Name of the preset.
    pub system: String,
    /// Why nobody could deploy it, if so: a reference line.
    pub reference_only: Option<&'static str>,
    /// Cores that serve no requests.
    pub dedicated_cores: u32,
    /// How far it gets.
    pub reach: Reach,
    /// Requests a second there.
    pub rate_per_s: Option<f64>,
    /// The targets there.
    pub targets: Vec<TargetResult>,
    /// Service times without probes over core time held, there; dedicated cores are held all the time.
    pub efficiency: Option<Estimate>,
    /// Preemptions per request there.
    pub preemptions_per_request: Option<Estimate>,
    /// Is all that is known of it from short runs, whose undecided loads went by their estimates?
    pub screened_only: bool,
    /// Did the budget end before anything was known of it?
    pub untried: bool,
    /// Did its share of the budget end before the bracket was narrow?
    pub budget_ended: bool,
    /// What was tuned; none if nothing was.
    pub tuning: Option<Tuning>,
    /// What went wrong, if anything.
    pub failed: Option<String>,
}

/// Finds the best system for `question`.
///
/// A request to stop ends it early with what is known ([`Plan::interrupted`]).
///
/// # Errors
/// What can not be asked ([`Question::check`], classes and limits of targets, names of systems), or
/// [`TuneError::Interrupted`] if nothing is known yet.
pub fn plan(question: &Question, host: &Host<'_>) -> Result<Plan, TuneError> {
    plan_with(question, host, &NoJournal)
}

/// As [`plan`], with what is computed kept in `journal` as it is made, and what it has already taken from there.
/// The journal has to be of this very question; the answer is then the same to the last bit (but for the
/// rows' `wall_s`).
///
/// # Errors
/// As [`plan`].
pub fn plan_with(question: &Question, host: &Host<'_>, journal: &dyn Journal) -> Result<Plan, TuneError> {
    match planned(question, host, journal, Spent::default(), |_| false)? {
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
    host: &Host<'_>,
    journal: &dyn Journal,
) -> Result<(Question, Plan), TuneError> {
    let (mut question, mut spent) = (question.clone(), Spent::default());
    loop {
        let larger = question.machine.larger();
        match planned(&question, host, journal, spent, |run| larger.is_some() && run.nobody_passes())? {
            Planned::Answer(plan) => return Ok((question, *plan)),
            Planned::TooFewCores(so_far) => spent = so_far,
        }
        question.machine = larger.unwrap_or(question.machine);
    }
}

/// What smaller machines have taken.
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
    host: &Host<'_>,
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
    let bench = Bench::new(&left, host)?;
    let (candidates, left_out) = candidates(question)?;
    let mut run = Run::new(bench, journal, host.threads, candidates).after(before.steps);
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

impl Plan {
    /// Is the question one for the fewest cores?
    pub fn counts_cores(question: &Question) -> bool {
        matches!(question.goal, Goal::FewestCores(_))
    }
}
