//! `caudal plan`: which system, with which parameters, carries the most load, or needs the fewest cores? It reads the workload, simulates
//! the systems that may win, keeps a journal in the results directory so that the same command goes on after a break, prints the answer,
//! and writes the answer's files there.

mod all;
mod show;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use caudal_config::{LatencyTarget, Measure, Offered, Rate, Statistic, Workload, costs_as_overrides};
use caudal_policy::Picos;
use caudal_results::files::{writable, write_whole};
use caudal_results::{DirectoryJournal, Meta, answers};
use caudal_tune::{
    Budget, Control, Goal, Machine, Plan, Question, TuneError, plan_on_enough_cores, plan_with,
};
use clap::Args;
use miette::{IntoDiagnostic, miette};

use super::arrives::Arrives;
use super::forks::Forks;
use super::journal::open_journal;
use crate::exit::{self, Interrupted};
use crate::exit_code;
use crate::global::Global;
use crate::numbers;
use crate::progress::ProgressLine;

/// Budget of a plan without `--budget`, in seconds: with `--quick`, and otherwise.
const BUDGET_S: (f64, f64) = (8.0, 40.0);
/// The same where requests fork: they are hundreds of tasks each, and misses are rare.
const FORKED_BUDGET_S: (f64, f64) = (40.0, 180.0);
/// Where a plan goes without `--out`.
const OUT: &str = "caudal-plan";

#[derive(Args, Debug)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    arrives: Arrives,
    #[command(flatten)]
    forks: Forks,
    /// A target that must hold, as in 'get p99.9 < 50us', 'get wait p99 < 20us', '99.9 % of gets < 50us', 'p99 slowdown < 10' or 'miss 25ms < 1%'; several must all hold
    #[arg(long = "target", short, required = true, value_name = "TARGET", value_parser = LatencyTarget::parse)]
    targets: Vec<LatencyTarget>,
    /// Cores of the machine; a system's dispatcher takes one of them [default: 16; as many as it takes with --rate or recorded arrivals]
    #[arg(long, value_name = "N", value_parser = numbers::count, allow_hyphen_values = true)]
    cores: Option<u32>,
    /// Find the fewest cores that carry this part of the machine, instead of the highest load
    #[arg(long, value_name = "LOAD", conflicts_with = "rate", value_parser = numbers::load)]
    #[arg(allow_hyphen_values = true)]
    load: Option<f64>,
    /// Find the fewest cores that carry this many requests, as in 2.5M/s, instead of the highest load
    #[arg(long, value_name = "RATE", value_parser = Rate::parse, allow_hyphen_values = true)]
    rate: Option<Rate>,
    /// Consider only these systems; `caudal systems` lists them
    #[arg(long, value_delimiter = ',', value_name = "NAME,...")]
    systems: Vec<String>,
    /// Consider only what the runtime can run, on --workers workers
    #[arg(long, requires = "workers")]
    runnable: bool,
    /// Workers of the runtime; a dispatcher comes on top, unless --no-dispatcher
    #[arg(long, value_name = "N", requires = "runnable", conflicts_with = "cores")]
    #[arg(value_parser = numbers::count, allow_hyphen_values = true)]
    workers: Option<u32>,
    /// Consider only systems without a dispatcher: there is no core for one beside the workers
    #[arg(long, requires = "workers")]
    no_dispatcher: bool,
    /// Take the costs of this file, as `caudal calibrate` writes it, for all systems but reference lines
    #[arg(long, value_name = "COSTS")]
    costs: Option<PathBuf>,
    /// How long it may take on two cores, about; it is counted in simulated requests [default: 40s, --quick: 8s; 180s and 40s for requests that fork]
    #[arg(long, value_name = "TIME", value_parser = Picos::parse, allow_hyphen_values = true)]
    budget: Option<Picos>,
    /// Seed of all randomness [default: that of the workload's TOML file, or 1]
    #[arg(long, value_name = "N", value_parser = numbers::seed, allow_hyphen_values = true)]
    seed: Option<u64>,
    /// Keep everything in this directory, and go on there if it has a part of this plan already [default:
    /// caudal-plan; caudal-plan-2, ... if that has another plan]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write the policy file here as well
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Print all systems, what was tuned and all reasons as well
    #[arg(long)]
    explain: bool,
}

pub(crate) fn run(args: &PlanArgs, global: &Global) -> miette::Result<ExitCode> {
    let (workload, measure) = args.arrives.read_forking(args.forks)?;
    for finding in workload.service.findings() {
        errln!("note: {finding}");
    }
    let in_order = caudal_results::describe::in_order(&workload);
    let question = args.question(workload, measure, global)?;
    for note in one_core_each(&question).map(str::to_owned).into_iter().chain(in_order) {
        errln!("note: {note}");
    }
    if let Err(error) = question.check() {
        return exit::no(error, global.json).map_err(|error| miette!("{error}"));
    }
    args.policy.as_deref().map_or(Ok(()), writable)?;
    let (dir, kept) = args.open(&question)?;
    let (question, plan) = match searched(&question, args.looks_for_cores(&question), &kept, global) {
        Err(TuneError::Interrupted) => {
            return Err(Interrupted(": nothing is known yet".to_owned()).into());
        }
        planned => planned.map_err(|error| miette!("{error}"))?,
    };
    // The answer first: it is not lost when a disk is full.
    if global.json {
        outln!("{}", serde_json::to_string(&plan).into_diagnostic()?);
    } else {
        show::print(&question, &plan, args.explain);
    }
    answers::plan::write(&dir, &question, &plan, &args.command(&question))?;
    if let (Some(winner), Some(path)) = (&plan.winner, &args.policy) {
        write_whole(path, &winner.policy_toml)?;
    }
    kept.written()?;
    errln!("wrote {}", dir.join("report.html").display());
    if plan.interrupted {
        return Err(Interrupted(so_far(&plan, &dir)).into());
    }
    Ok(if plan.winner.is_some() { ExitCode::SUCCESS } else { ExitCode::from(exit_code::NO) })
}

/// A note on a miss target for requests that are done by one core each: it is asked of those that fork.
fn one_core_each(question: &Question) -> Option<&'static str> {
    let misses = question.targets.iter().any(|target| matches!(target.statistic, Statistic::Miss(_)));
    let says = question.workload.dag_spec.is_some();
    (misses && !says && question.workload.service.dag().is_serial()).then_some(
        "each request is done by one core, as the workload does not say that it forks: --loops 4 says that it is four \
         parallel loops",
    )
}

/// The plan, and the question as it was answered: on more cores, if any number will do.
fn searched(
    question: &Question,
    any_cores: bool,
    kept: &DirectoryJournal,
    global: &Global,
) -> Result<(Question, Plan), TuneError> {
    let bar = ProgressLine::new(global, 100, "planning");
    let budget = question.budget.requests.max(1);
    let progress = |progress: caudal_tune::Progress| {
        bar.phase(progress.phase.name());
        bar.requests(progress.requests);
        let done = kept.recalled() + bar.requests_done();
        bar.set_done((100.0 * done as f64 / budget as f64).min(99.0) as u64);
    };
    let control = Control { threads: global.threads, stop: &global.stop, progress: &progress };
    let plan = match any_cores {
        true => plan_on_enough_cores(question, &control, kept),
        false => plan_with(question, &control, kept).map(|plan| (question.clone(), plan)),
    };
    bar.finish();
    plan
}

/// The best answer so far of an interrupted plan, in words.
fn so_far(plan: &Plan, dir: &Path) -> String {
    let best = match &plan.winner {
        Some(winner) => {
            let reach = plan.systems.iter().find(|line| line.system == winner.system);
            let pass =
                reach.and_then(|line| line.reach.pass).map_or(String::new(), |pass| format!(" at {pass}"));
            let confirmed = if winner.confirmed { "confirmed" } else { "not confirmed yet" };
            format!("the best so far is {}{pass}, {confirmed}", winner.system)
        }
        None => "no deployable system has met the targets so far".to_owned(),
    };
    format!(": {best}; the same command goes on from {}", dir.display())
}

/// Cores of the machine if nothing says how many, nor how much they have to carry.
const CORES: u32 = 16;

impl PlanArgs {
    /// Is it asked on how many cores a rate can be carried, whatever number that is?
    fn looks_for_cores(&self, question: &Question) -> bool {
        let rate = matches!(question.goal, Goal::FewestCores(Offered::Rate(_) | Offered::AsRecorded(_)));
        rate && self.cores.is_none() && self.workers.is_none()
    }

    fn question(
        &self,
        workload: Arc<Workload>,
        measure: Measure,
        global: &Global,
    ) -> miette::Result<Question> {
        let natural = workload.arrivals.natural_rate().and_then(Rate::per_second);
        let goal = match (self.load, self.rate, natural) {
            (Some(load), ..) => Goal::FewestCores(Offered::Load(load)),
            (_, Some(rate), _) => Goal::FewestCores(Offered::Rate(rate)),
            (_, _, Some(rate)) => Goal::FewestCores(Offered::AsRecorded(rate)),
            _ => Goal::HighestLoad,
        };
        let usual = if workload.service.dag().is_serial() { BUDGET_S } else { FORKED_BUDGET_S };
        let usual = if global.quick { usual.0 } else { usual.1 };
        let seconds = self.budget.map_or(usual, |budget| budget.0 as f64 / 1e12);
        let question = Question {
            workload_name: self.arrives.title(&workload.service),
            targets: self.targets.iter().map(|it| it.clone().among(workload.service.classes())).collect(),
            workload,
            machine: match self.workers {
                Some(workers) => Machine::Runtime { workers, dispatcher: !self.no_dispatcher },
                None => Machine::Cores(self.cores.unwrap_or(CORES)),
            },
            goal,
            systems: self.systems.clone(),
            costs: self.costs.as_ref().map(costs_as_overrides).transpose()?.unwrap_or_default(),
            measure: Measure { seed: self.seed.unwrap_or(measure.seed), ..measure },
            budget: Budget::seconds(seconds),
            quick: global.quick,
        };
        Ok(if self.looks_for_cores(&question) { question.on_enough_cores() } else { question })
    }

    /// The directory of this very question, with what it has.
    fn open(&self, question: &Question) -> miette::Result<(PathBuf, DirectoryJournal)> {
        let mut asked = answers::plan::asked(question)?;
        if self.looks_for_cores(question) {
            asked.push(("--cores".to_owned(), "as many as it takes".into()));
        }
        let meta = Meta { command: "plan", seed: question.measure.seed, points: None, asked };
        Ok(open_journal(self.out.as_ref(), OUT, &meta)?)
    }

    /// The command that asks the same again.
    fn command(&self, question: &Question) -> String {
        let mut text =
            format!("caudal plan --workload '{}'{}", self.arrives.name(), self.arrives.input.typed());
        text += &self.forks.options();
        for target in &question.targets {
            text += &format!(" --target '{target}'");
        }
        match question.machine {
            Machine::Cores(_) if self.looks_for_cores(question) => {}
            Machine::Cores(cores) => text += &format!(" --cores {cores}"),
            Machine::Runtime { workers, dispatcher } => {
                text += &format!(" --runnable --workers {workers}");
                text += if dispatcher { "" } else { " --no-dispatcher" };
            }
        }
        match (self.load, self.rate) {
            (Some(load), _) => text += &format!(" --load {load}"),
            (_, Some(rate)) => text += &format!(" --rate {rate}"),
            _ => {}
        }
        if !self.systems.is_empty() {
            text += &format!(" --systems {}", self.systems.join(","));
        }
        if let Some(costs) = &self.costs {
            text += &format!(" --costs '{}'", costs.display());
        }
        if question.quick {
            text += " --quick";
        }
        if let Some(budget) = self.budget {
            text += &format!(" --budget {budget}");
        }
        text + &format!(" --seed {}", question.measure.seed)
    }
}
