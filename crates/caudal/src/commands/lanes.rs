//! `caudal lanes`: where lanes should end for a service, and how many servers each should be entitled to. It reads the workload,
//! searches, keeps a journal in the results directory, prints the answer, and writes the answer's files there.

mod show;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use caudal_config::{
    ContextsConfig, Costs, LatencyStatistic, LatencyTarget, Measure, Offered, Rate, Workload,
};
use caudal_policy::Picos;
use caudal_results::files::{writable, write_whole};
use caudal_results::{DirectoryJournal, Meta, answers};
use caudal_tune::lanes::{Drift, Family, LANES_MAX, LanesAnswer, LanesQuestion, find};
use caudal_tune::{Budget, Control, TuneError};
use clap::Args;
use clap::builder::PossibleValuesParser;
use miette::{IntoDiagnostic, miette};

use super::arrives::Arrives;
use super::input::Input;
use super::journal::open_journal;
use crate::exit::Interrupted;
use crate::exit_code;
use crate::global::Global;
use crate::numbers;
use crate::progress::ProgressLine;

/// Budget of a search without `--budget`, in seconds, with `--quick` and otherwise; judging its answer comes on top.
const BUDGET_S: (f64, f64) = (3.0, 10.0);
/// Virtual contexts of a core without `--virtual-contexts` (Mirhosseini et al., HPCA 2020, Table 1).
const VIRTUAL_CONTEXTS: u32 = 32;
/// Where it goes without `--out`.
const OUT: &str = "caudal-lanes";

#[derive(Args, Debug)]
pub(crate) struct LanesArgs {
    /// A workload's name, a file with service times (what load generators, HdrHistogram, bpftrace, Prometheus and others
    /// write, CSV; - for standard input), percentiles ('p50 = 1.2 ms, p99 = 9 ms'), or a TOML file with a workload table
    #[arg(value_name = "NAME|FILE")]
    workload: OsString,
    #[command(flatten)]
    input: Input,
    /// Servers: the cores that share the lanes
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = numbers::count, allow_hyphen_values = true)]
    cores: u32,
    /// The hardware contexts of one core as servers, instead of cores: 1 to 16
    #[arg(long, value_name = "N", value_parser = numbers::count, allow_hyphen_values = true, conflicts_with = "cores")]
    contexts: Option<u32>,
    /// Requests that a core of contexts can have begun at a time
    #[arg(long, value_name = "N", value_parser = numbers::count, allow_hyphen_values = true, requires = "contexts")]
    #[arg(default_value_t = VIRTUAL_CONTEXTS, hide_default_value = true)]
    virtual_contexts: u32,
    /// Offered work over the servers' capacity
    #[arg(long, default_value_t = 0.7, value_name = "LOAD", value_parser = numbers::load, conflicts_with = "rate")]
    #[arg(allow_hyphen_values = true)]
    load: f64,
    /// Requests that arrive, as in 2.5M/s, instead of a load
    #[arg(long, value_name = "RATE", value_parser = Rate::parse, allow_hyphen_values = true)]
    rate: Option<Rate>,
    /// The statistic to keep short, as in 'p99', 'get p99.9' or 'p99.9 slowdown'
    #[arg(long, short, default_value = "p99", value_name = "STATISTIC", value_parser = LatencyStatistic::parse)]
    target: LatencyStatistic,
    /// A target that must hold as well, as in 'p99.9 < 1ms'
    #[arg(long, value_name = "TARGET", value_parser = LatencyTarget::parse)]
    also: Vec<LatencyTarget>,
    /// How requests come to lanes
    #[arg(long, default_value = "isqd-sita", value_name = "POLICY")]
    #[arg(value_parser = PossibleValuesParser::new(Family::ALL.map(Family::name)))]
    policy: String,
    /// Find cutoffs for these reservations only, one a lane
    #[arg(long, value_delimiter = ',', value_name = "N,...", conflicts_with = "max_lanes")]
    reservations: Option<Vec<u32>>,
    /// Most lanes
    #[arg(long, value_name = "N", value_parser = numbers::count, allow_hyphen_values = true)]
    max_lanes: Option<u32>,
    /// The cost of a preemption
    #[arg(long, value_name = "TIME", value_parser = Picos::parse, default_value = "40ns", allow_hyphen_values = true)]
    preemption: Picos,
    /// How long a preempted request waits for memory when it runs again, on a core of contexts
    #[arg(long, value_name = "TIME", value_parser = Picos::parse, default_value = "0ns", allow_hyphen_values = true)]
    #[arg(requires = "contexts", hide_default_value = true)]
    cold_miss: Picos,
    /// How much longer requests run with probes in them
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = numbers::factor, allow_hyphen_values = true)]
    probe_factor: f64,
    /// See what the lanes are worth under another workload (a name or a file) or load (a number)
    #[arg(long, value_name = "NAME|FILE|LOAD")]
    check_against: Vec<String>,
    /// How long the search may take on two cores, about; it is counted in simulated requests [default: 10s, --quick: 3s]
    #[arg(long, value_name = "TIME", value_parser = Picos::parse, allow_hyphen_values = true)]
    budget: Option<Picos>,
    /// Seed of all randomness [default: that of the workload's TOML file, or 1]
    #[arg(long, value_name = "N", value_parser = numbers::seed, allow_hyphen_values = true)]
    seed: Option<u64>,
    /// Keep everything in this directory, and go on there if it has a part of this search already [default:
    /// caudal-lanes; caudal-lanes-2, ... if that has another one]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write the policy file here as well
    #[arg(long, value_name = "FILE")]
    policy_file: Option<PathBuf>,
    /// Print all systems, classes and reasons as well
    #[arg(long)]
    explain: bool,
}

pub(crate) fn run(args: &LanesArgs, global: &Global) -> miette::Result<ExitCode> {
    let (workload, measure) = args.arrives().read()?;
    for finding in workload.service.findings() {
        errln!("note: {finding}");
    }
    if let Some(note) = caudal_results::describe::in_order(&workload) {
        errln!("note: {note}");
    }
    let question = args.question(workload, measure, global)?;
    question.check().map_err(|error| miette!("{error}"))?;
    args.policy_file.as_deref().map_or(Ok(()), writable)?;
    let meta = Meta {
        command: "lanes",
        seed: question.measure.seed,
        points: None,
        asked: answers::lanes::asked(&question)?,
    };
    let (dir, kept) = open_journal(args.out.as_ref(), OUT, &meta)?;
    let answer = match searched(&question, &kept, global) {
        Err(TuneError::Interrupted) => {
            return Err(Interrupted(": nothing is known yet".to_owned()).into());
        }
        found => found.map_err(|error| miette!("{error}"))?,
    };
    if global.json {
        outln!("{}", serde_json::to_string(&answer).into_diagnostic()?);
    } else {
        show::print(&question, &answer, args.explain);
    }
    answers::lanes::write(&dir, &question, &answer, &args.command(&question))?;
    if let Some(path) = args.policy_file.as_ref().filter(|_| answer.layout.lanes() > 1) {
        write_whole(path, &answer.policy_toml)?;
    }
    kept.written()?;
    errln!("wrote {}", dir.join("report.html").display());
    if answer.interrupted {
        let so_far = format!(
            ": the best so far is {}; the same command goes on from {}",
            answer.layout,
            dir.display()
        );
        return Err(Interrupted(so_far).into());
    }
    Ok(if answer.is_worth_it() { ExitCode::SUCCESS } else { ExitCode::from(exit_code::NO) })
}

fn searched(
    question: &LanesQuestion,
    kept: &DirectoryJournal,
    global: &Global,
) -> Result<LanesAnswer, TuneError> {
    let bar = ProgressLine::new(global, 100, "looking for lanes");
    let budget = question.budget.requests.max(1);
    let progress = |progress: caudal_tune::Progress| {
        bar.phase(if progress.phase == caudal_tune::Phase::Confirming {
            "judging"
        } else {
            "looking for lanes"
        });
        bar.requests(progress.requests);
        let done = kept.recalled() + bar.requests_done();
        bar.set_done((100.0 * done as f64 / (2 * budget) as f64).min(99.0) as u64);
    };
    let control = Control { threads: global.threads, stop: &global.stop, progress: &progress };
    let found = find(question, &control, kept);
    bar.finish();
    found
}

impl LanesArgs {
    fn arrives(&self) -> Arrives {
        Arrives { workload: self.workload.clone(), input: self.input.clone() }
    }

    fn question(
        &self,
        workload: Arc<Workload>,
        measure: Measure,
        global: &Global,
    ) -> miette::Result<LanesQuestion> {
        if self.max_lanes == Some(0) {
            return Err(miette!(help = "write a number from 1 on", "with --max-lanes 0 there is no lane"));
        }
        if self.contexts.is_none()
            && (self.cold_miss > Picos::ZERO || self.virtual_contexts != VIRTUAL_CONTEXTS)
        {
            return Err(miette!(
                help = "say how many contexts the core has, as in --contexts 8",
                "--cold-miss and --virtual-contexts are of a core with hardware contexts"
            ));
        }
        let contexts = self.contexts.map(|count| ContextsConfig {
            virtual_contexts: Some(self.virtual_contexts),
            ..ContextsConfig::of(count)
        });
        let capacity = contexts.as_ref().map_or(f64::from(self.cores), ContextsConfig::most);
        let load =
            self.rate.map_or(self.load, |rate| Offered::Rate(rate).load_of(&workload.service, capacity));
        let seconds = self
            .budget
            .map_or(if global.quick { BUDGET_S.0 } else { BUDGET_S.1 }, |budget| budget.0 as f64 / 1e12);
        let family = Family::ALL.into_iter().find(|family| family.name() == self.policy);
        Ok(LanesQuestion {
            workload_name: self.arrives().title(&workload.service),
            family: family.expect("the command line takes no other name"),
            cores: self.contexts.unwrap_or(self.cores),
            contexts,
            load,
            target: self.target.clone().among(workload.service.classes()),
            also: self.also.iter().map(|it| it.clone().among(workload.service.classes())).collect(),
            reservations: self.reservations.clone(),
            lanes_max: self.max_lanes.map_or(LANES_MAX, |most| most as usize),
            costs: Costs {
                preemption: self.preemption,
                cold_miss: self.cold_miss,
                probe_factor: self.probe_factor,
                ..Costs::default()
            },
            measure: Measure { seed: self.seed.unwrap_or(measure.seed), ..measure },
            budget: Budget::seconds(seconds),
            quick: global.quick,
            drifts: self
                .check_against
                .iter()
                .map(|text| self.drift(text, &workload, load))
                .collect::<miette::Result<_>>()?,
            workload,
        })
    }

    /// A number is another load, anything else another workload.
    fn drift(&self, text: &str, workload: &Arc<Workload>, load: f64) -> miette::Result<Drift> {
        if text.parse::<f64>().is_ok() {
            let load = numbers::load(text).map_err(|error| miette!("--check-against {text}: {error}"))?;
            return Ok(Drift { name: self.arrives().name(), workload: Arc::clone(workload), load });
        }
        let (workload, _) = Arrives { workload: text.into(), input: Input::default() }.read()?;
        Ok(Drift { name: text.to_owned(), workload, load })
    }

    /// The command that asks the same again.
    fn command(&self, question: &LanesQuestion) -> String {
        let mut text = format!("caudal lanes '{}'{}", self.arrives().name(), self.input.typed());
        text += &format!(" --policy {}", self.policy);
        text += &match self.contexts {
            Some(contexts) => format!(
                " --contexts {contexts} --virtual-contexts {} --cold-miss {}",
                self.virtual_contexts, self.cold_miss
            ),
            None => format!(" --cores {}", self.cores),
        };
        text += &match self.rate {
            Some(rate) => format!(" --rate {rate}"),
            None => format!(" --load {}", self.load),
        };
        text += &format!(" --target '{}'", question.target);
        for also in &question.also {
            text += &format!(" --also '{also}'");
        }
        if let Some(counts) = &self.reservations {
            let counts: Vec<String> = counts.iter().map(ToString::to_string).collect();
            text += &format!(" --reservations {}", counts.join(","));
        }
        if let Some(most) = self.max_lanes {
            text += &format!(" --max-lanes {most}");
        }
        text += &format!(" --preemption {} --probe-factor {}", self.preemption, self.probe_factor);
        for against in &self.check_against {
            text += &format!(" --check-against '{against}'");
        }
        if let Some(budget) = self.budget {
            text += &format!(" --budget {budget}");
        }
        if question.quick {
            text += " --quick";
        }
        text + &format!(" --seed {}", question.measure.seed)
    }
}
