//! The answer of a plan, as data. The run of a plan makes it in the end, with the explanation in it; the command prints it.

use caudal_sim::row::Row;
use caudal_stats::Estimate;
use serde::Serialize;

use crate::candidate::LeftOut;
use crate::setting::Tuning;
use crate::show::Fact;
use crate::{Goal, Question};

/// The answer to a [`Question`].
#[derive(Clone, Debug, Serialize)]
pub struct Plan {
    /// The answer in a sentence.
    pub headline: String,
    /// The answer on one screen.
    pub summary: PlanSummary,
    /// The winner; none if no deployable system meets the targets anywhere.
    pub winner: Option<Winner>,
    /// Why, in a few sentences made of numbers of this run.
    pub explanation: Vec<String>,
    /// All systems that were simulated, best first.
    pub systems: Vec<SystemResult>,
    /// Systems that were not simulated, and why.
    pub left_out: Vec<LeftOut>,
    /// Every simulated point that curves are made of, system by system. `load`, `cores` and core time are
    /// those of the machine, dedicated cores included.
    #[serde(skip)]
    pub rows: Vec<Row>,
    /// The budget, in requests; those of systems that take long to simulate count more, of those that take little less.
    pub budget: u64,
    /// The part of the budget that was spent.
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
    /// estimates of short runs say so, and near saturation they are too optimistic.
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
    /// The limit that it had to stay below, in the same unit.
    pub limit: f64,
}

/// A line of the table.
#[derive(Clone, Debug, Serialize)]
pub struct SystemResult {
    /// Name of the preset.
    pub system: String,
    /// The reason why it can not be deployed, if it is a reference line.
    pub reference_only: Option<&'static str>,
    /// Cores that serve no requests.
    pub dedicated_cores: u32,
    /// The load, or the cores, that it reaches.
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
    /// The parameter that was tuned; none if nothing was.
    pub tuning: Option<Tuning>,
    /// The error that ended its search, if one did.
    pub failed: Option<String>,
}

impl Plan {
    /// Is the question one for the fewest cores?
    pub fn counts_cores(question: &Question) -> bool {
        matches!(question.goal, Goal::FewestCores(_))
    }
}

/// The answer of a plan on one screen.
#[derive(Clone, Debug, Serialize)]
pub struct PlanSummary {
    /// The system to run, or that nothing will do.
    pub run: String,
    /// Facts on what that carries and costs, and how sure it is; where nothing will do, on what comes nearest and what can be done.
    pub facts: Vec<Fact>,
    /// The systems to see beside each other, the answer first.
    pub shown: Vec<Shown>,
    /// Why, in two or three sentences.
    pub why: Vec<String>,
}

/// Why a system is among the few.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The system is the answer.
    Answer,
    /// The system comes nearest to the targets, which nothing meets.
    Nearest,
    /// Of the others that can be built, it gets furthest.
    RunnerUp,
    /// Of those that never interrupt a request, it gets furthest.
    NoPreemption,
    /// It is what most services run today.
    Today,
    /// The system is a bound for what is possible: it can not be built.
    Bound,
}

/// One of the few systems that are shown beside each other.
#[derive(Clone, Debug, Serialize)]
pub struct Shown {
    /// Its name.
    pub system: String,
    /// The roles that it is shown for; several where roles fall to one system.
    pub roles: Vec<Role>,
    /// The load, or the number of cores, that the rest is about: the furthest that was confirmed, else the furthest that short
    /// runs say, else the easiest that was tried.
    pub at: Option<f64>,
    /// Does it fall behind its load there?
    pub overloaded: bool,
    /// Requests a second there.
    pub rate_per_s: Option<f64>,
    /// The targets there; empty where nothing is known.
    pub targets: Vec<TargetResult>,
    /// Service times without probes over core time held, there.
    pub efficiency: Option<Estimate>,
}
