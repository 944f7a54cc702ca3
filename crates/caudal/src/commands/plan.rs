//! `caudal plan`: which system, with which parameters, carries the most load, or needs the fewest cores?

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use caudal_config::{File, LatencyTarget, Limit, Measure, Offered, Options, Rate, Statistic, Workload};
use caudal_policy::Picos;
use caudal_report::{Answer, Metric, Report, Row, TargetLine};
use caudal_tune::{Budget, Goal, Host, Machine, Plan, Question, SystemResult, TuneError};
use clap::Args;
use miette::{IntoDiagnostic, WrapErr, miette};

use crate::exit::{self, Interrupted};
use crate::global::Global;
use crate::progress::Progress;
use crate::results::write_whole;
use crate::table::{Table, digits, estimate, time};

/// What `--quick` takes without `--budget`, in seconds; and what a plan takes otherwise.
const BUDGET_S: (f64, f64) = (8.0, 40.0);

#[derive(Args, Debug)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(super) arrives: Arrives,
    /// What must hold, as in 'get p99.9 < 50us', 'p99 slowdown < 10' or 'mean < 5us'; several must all hold
    #[arg(long = "target", short, required = true, value_name = "TARGET", value_parser = LatencyTarget::parse)]
    targets: Vec<LatencyTarget>,
    /// Cores of the machine; a system's dispatcher takes one of them
    #[arg(long, default_value_t = 16, value_name = "N")]
    cores: u32,
    /// Find the fewest cores that carry this part of the machine, instead of the highest load
    #[arg(long, value_name = "LOAD", conflicts_with = "rate")]
    load: Option<f64>,
    /// Find the fewest cores that carry this many requests, as in 2.5M/s, instead of the highest load
    #[arg(long, value_name = "RATE", value_parser = Rate::parse)]
    rate: Option<Rate>,
    /// Consider only these systems; `caudal systems` lists them
    #[arg(long, value_delimiter = ',', value_name = "NAME,...")]
    systems: Vec<String>,
    /// Consider only what the runtime can run, on --workers workers
    #[arg(long, requires = "workers")]
    runnable: bool,
    /// Workers of the runtime; a dispatcher comes on top
    #[arg(long, value_name = "N", requires = "runnable", conflicts_with = "cores")]
    workers: Option<u32>,
    /// How long it may take on two cores, about; it is counted in simulated requests [default: 40s, --quick: 8s]
    #[arg(long, value_name = "TIME", value_parser = Picos::parse)]
    budget: Option<Picos>,
    /// Seed of all randomness
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Write rows, plan, policy and report to this directory
    #[arg(long, value_name = "DIR", default_value = "caudal-plan")]
    out: PathBuf,
    /// Write the policy file here as well
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
}

/// What arrives.
#[derive(Args, Clone, Debug)]
pub(super) struct Arrives {
    /// A workload's name, a file with service times (.csv, .hlog, .hgrm), or a TOML file with a workload table
    #[arg(long, short, value_name = "NAME|FILE")]
    pub(super) workload: String,
    /// Shares of the classes of a file of service times, instead of the file's own
    #[arg(long, value_delimiter = ',', value_name = "CLASS=SHARE,...")]
    pub(super) weights: Vec<String>,
}

pub(crate) fn run(args: &PlanArgs, global: &Global) -> miette::Result<ExitCode> {
    let (workload, measure) = args.arrives.read()?;
    for finding in workload.service.findings() {
        eprintln!("note: {finding}");
    }
    let question = args.question(workload, measure, global)?;
    args.prepare()?;
    let plan = match searched(&question, global) {
        Err(TuneError::Interrupted) => return Err(Interrupted(String::new()).into()),
        planned => planned.map_err(|error| miette!("{error}"))?,
    };
    // The answer first: it is not lost when a disk is full.
    if global.json {
        outln!("{}", serde_json::to_string(&plan).into_diagnostic()?);
    } else {
        print(&question, &plan);
    }
    args.write(&question, &plan)?;
    eprintln!("wrote {}", args.out.join("report.html").display());
    if plan.interrupted {
        return Err(Interrupted("; the answer is of what was known by then".to_owned()).into());
    }
    Ok(if plan.winner.is_some() { ExitCode::SUCCESS } else { ExitCode::from(exit::NO) })
}

fn searched(question: &Question, global: &Global) -> Result<Plan, TuneError> {
    let bar = Progress::new(global, 100, "planning");
    let (done, budget) = (AtomicU64::new(0), question.budget.requests.max(1));
    let progress = |progress: caudal_tune::Progress| {
        let all = done.fetch_add(progress.requests, Ordering::Relaxed) + progress.requests;
        bar.requests(progress.requests);
        bar.set_done((100 * all / budget).min(99));
    };
    let host = Host { threads: global.threads, stop: &global.stop, progress: &progress };
    let plan = caudal_tune::plan(question, &host);
    bar.finish();
    plan
}

impl Arrives {
    /// The workload, and what its file says of how to measure.
    pub(super) fn read(&self) -> miette::Result<(Arc<Workload>, Measure)> {
        let file = match Path::new(&self.workload).extension().and_then(|extension| extension.to_str()) {
            Some("toml") => self.read_toml()?,
            Some("csv" | "hlog" | "hgrm" | "txt") => {
                let path = serde_json::Value::from(self.workload.as_str());
                self.parse(&format!("{{ file = {path}{} }}", self.shares()?))?
            }
            _ if !self.weights.is_empty() => {
                return Err(miette!(
                    help = "give the file, as in --workload service.csv --weights get=0.995,scan=0.005",
                    "--weights goes with a file of service times, `{}` is the name of a workload",
                    self.workload
                ));
            }
            _ => self.parse(&serde_json::Value::from(self.workload.as_str()).to_string())?,
        };
        let workload = file.workload.clone().ok_or_else(|| {
            miette!(
                help = "add it, as in service = \"exp-1us\"",
                "`{}` has no table [workload]",
                self.workload
            )
        })?;
        Ok((workload, Measure::clone(&file.measure)))
    }

    /// A file may describe a workload alone; its systems do not matter here.
    fn read_toml(&self) -> miette::Result<File> {
        if !self.weights.is_empty() {
            return Err(miette!(
                help = "write them into the file's `service`",
                "--weights goes with a file of service times"
            ));
        }
        match File::read(&self.workload) {
            Err(error) if error.problems().iter().any(|problem| problem.key == "system") => {
                let overrides = vec!["system.cores=1".to_owned()];
                let alone = File::read_with(&self.workload, &Options { overrides, ..Options::default() });
                // The first error is about what the user wrote.
                alone.map_err(|_| error.into())
            }
            read => Ok(read?),
        }
    }

    fn parse(&self, service: &str) -> miette::Result<File> {
        Ok(File::parse(&format!("[workload]\nservice = {service}\n[system]\ncores = 1\n"), "--workload")?)
    }

    /// `, weights = { get = 0.995, scan = 0.005 }`
    fn shares(&self) -> miette::Result<String> {
        if self.weights.is_empty() {
            return Ok(String::new());
        }
        let share = |text: &String| {
            let (class, share) = text.split_once('=')?;
            let share: f64 = share.trim().parse().ok()?;
            Some(format!("{} = {share:?}", serde_json::Value::from(class.trim())))
        };
        let shares: Option<Vec<String>> = self.weights.iter().map(share).collect();
        let shares = shares.ok_or_else(|| {
            miette!(
                help = "write --weights get=0.995,scan=0.005",
                "`{}` are no shares",
                self.weights.join(",")
            )
        })?;
        Ok(format!(", weights = {{ {} }}", shares.join(", ")))
    }
}

impl PlanArgs {
    fn question(
        &self,
        workload: Arc<Workload>,
        measure: Measure,
        global: &Global,
    ) -> miette::Result<Question> {
        let natural = workload.arrivals.natural_rate().and_then(Rate::per_second);
        let goal = match (self.load, self.rate, natural) {
            (Some(load), ..) if !(load > 0.0 && load < 1.0) => {
                return Err(miette!(
                    help = "write a part of the machine, such as 0.5",
                    "a load of {load} can not be carried"
                ));
            }
            (Some(load), ..) => Goal::FewestCores(Offered::Load(load)),
            (_, Some(rate), _) => Goal::FewestCores(Offered::Rate(rate)),
            (_, _, Some(rate)) => Goal::FewestCores(Offered::AsRecorded(rate)),
            _ => Goal::HighestLoad,
        };
        let seconds = self
            .budget
            .map_or(if global.quick { BUDGET_S.0 } else { BUDGET_S.1 }, |budget| budget.0 as f64 / 1e12);
        Ok(Question {
            workload_name: self.arrives.workload.clone(),
            workload,
            targets: self.targets.clone(),
            machine: match self.workers {
                Some(workers) => Machine::Runtime { workers },
                None => Machine::Cores(self.cores),
            },
            goal,
            systems: self.systems.clone(),
            measure: Measure { seed: self.seed.unwrap_or(measure.seed), ..measure },
            budget: Budget::seconds(seconds),
            quick: global.quick,
        })
    }

    /// Where nothing can be written is better known before the search than after it.
    fn prepare(&self) -> miette::Result<()> {
        std::fs::create_dir_all(&self.out)
            .into_diagnostic()
            .wrap_err_with(|| format!("can not make `{}`", self.out.display()))?;
        let Some(path) = &self.policy else { return Ok(()) };
        let was_there = path.exists();
        let opened = std::fs::OpenOptions::new().append(true).create(true).open(path);
        opened.into_diagnostic().wrap_err_with(|| format!("can not write `{}`", path.display()))?;
        if !was_there {
            std::fs::remove_file(path).into_diagnostic()?;
        }
        Ok(())
    }

    fn write(&self, question: &Question, plan: &Plan) -> miette::Result<()> {
        let dir = &self.out;
        let mut lines = String::new();
        for row in &plan.rows {
            lines += &serde_json::to_string(row).into_diagnostic()?;
            lines.push('\n');
        }
        write_whole(&dir.join("rows.jsonl"), &lines)?;
        write_whole(&dir.join("plan.json"), &(serde_json::to_string_pretty(plan).into_diagnostic()? + "\n"))?;
        let command = self.command(question);
        let rows = Row::from_lines(&lines).into_diagnostic().wrap_err("a row can not be read")?;
        write_whole(&dir.join("report.html"), &report(question, plan, rows, &command).to_html())?;
        if let Some(winner) = &plan.winner {
            write_whole(&dir.join("policy.toml"), &winner.policy_toml)?;
            if let Some(path) = &self.policy {
                write_whole(path, &winner.policy_toml)?;
            }
        }
        Ok(())
    }

    /// The command that asks the same again.
    fn command(&self, question: &Question) -> String {
        let mut text = format!("caudal plan --workload '{}'", self.arrives.workload);
        if !self.arrives.weights.is_empty() {
            text += &format!(" --weights {}", self.arrives.weights.join(","));
        }
        for target in &question.targets {
            text += &format!(" --target '{target}'");
        }
        match question.machine {
            Machine::Cores(cores) => text += &format!(" --cores {cores}"),
            Machine::Runtime { workers } => text += &format!(" --runnable --workers {workers}"),
        }
        match (self.load, self.rate) {
            (Some(load), _) => text += &format!(" --load {load}"),
            (_, Some(rate)) => text += &format!(" --rate {rate}"),
            _ => {}
        }
        if !self.systems.is_empty() {
            text += &format!(" --systems {}", self.systems.join(","));
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

fn report(question: &Question, plan: &Plan, rows: Vec<Row>, command: &str) -> Report {
    let targets: Vec<String> = question.targets.iter().map(ToString::to_string).collect();
    let on = match question.machine {
        Machine::Cores(cores) => format!("{cores} cores"),
        Machine::Runtime { workers } => format!("{workers} workers"),
    };
    let (asks, within) = match question.goal {
        Goal::HighestLoad => (format!("Which system carries the most load of {on}"), targets.join(" and ")),
        Goal::FewestCores(_) => (format!("Which system needs the fewest of {on}"), targets.join(" and ")),
    };
    Report {
        title: format!("Caudal plan: {}", question.workload_name),
        question: format!("{asks} for {} within {within}?", question.workload_name),
        answer: Some(Answer {
            headline: plan.headline.clone(),
            sentences: plan.explanation.clone(),
            policy_toml: plan.winner.as_ref().map_or(String::new(), |winner| winner.policy_toml.clone()),
            system: plan.winner.as_ref().map(|winner| winner.system.clone()),
        }),
        targets: question.targets.iter().map(line).collect(),
        rows,
        config_toml: format!("# {command}\n"),
        provenance: vec![
            ("version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
            ("seed".to_owned(), question.measure.seed.to_string()),
            ("simulated requests".to_owned(), plan.simulated.to_string()),
        ],
        ..Report::default()
    }
}

fn line(target: &LatencyTarget) -> TargetLine {
    let (metric, value) = match target.limit {
        Limit::Latency(limit) => (Metric::Latency, limit.as_nanos_f64()),
        Limit::Slowdown(limit) => (Metric::Slowdown, limit),
    };
    let percentile = match target.statistic {
        Statistic::Mean => "mean".to_owned(),
        Statistic::Percentile(percentile) => caudal_stats::percentile_label(percentile),
    };
    TargetLine { label: target.to_string(), class: target.class.clone(), metric, percentile, value }
}

fn print(question: &Question, plan: &Plan) {
    out!("{}", table(question, plan));
    for out in plan.left_out.iter().filter(|_| !question.systems.is_empty()) {
        outln!("left out: {}: {}", out.system, out.reason);
    }
    outln!("\n{}\n", plan.headline);
    for sentence in &plan.explanation {
        outln!("- {sentence}");
    }
    if plan.winner.as_ref().is_some_and(|winner| !winner.confirmed) {
        outln!(
            "- It was not confirmed with longer replications: the budget, or the interruption, ended that."
        );
    }
}

fn table(question: &Question, plan: &Plan) -> Table {
    let cores = question.goal != Goal::HighestLoad;
    let statistics: Vec<String> = question
        .targets
        .iter()
        .map(|target| target.to_string().split(" <").next().unwrap_or_default().to_owned())
        .collect();
    let mut head = vec!["system", if cores { "cores" } else { "load" }, "fails at", "M requests/s"];
    head.extend(statistics.iter().map(String::as_str));
    head.extend(["efficiency", "preempt/req", "note"]);
    let mut table = Table::new(&head);
    for line in &plan.systems {
        table.row(cells(question, line));
    }
    table
}

fn cells(question: &Question, line: &SystemResult) -> Vec<String> {
    let dash = || "–".to_owned();
    let cores = question.goal != Goal::HighestLoad;
    let place = |value: f64| if cores { format!("{value}") } else { format!("{value:.3}") };
    let uncertain = if line.reach.fail_certain { "" } else { "?" };
    let mut cells = vec![
        line.system.clone(),
        line.reach.pass.map_or_else(dash, place),
        line.reach.fail.map_or_else(dash, |fail| format!("{}{uncertain}", place(fail))),
        line.rate_per_s.map_or_else(dash, |rate| digits(rate / 1e6)),
    ];
    for (index, target) in question.targets.iter().enumerate() {
        let show = |value: f64| match target.limit {
            Limit::Latency(_) => time(value),
            Limit::Slowdown(_) => digits(value),
        };
        cells.push(line.targets.get(index).map_or_else(dash, |result| estimate(&result.estimate, show)));
    }
    cells.push(line.efficiency.map_or_else(dash, |share| format!("{:.1} %", 100.0 * share.estimate)));
    cells.push(line.preemptions_per_request.map_or_else(dash, |count| digits(count.estimate)));
    cells.push(note(line));
    cells
}

fn note(line: &SystemResult) -> String {
    let mut notes = Vec::new();
    if line.reference_only.is_some() {
        notes.push("reference line".to_owned());
    }
    if let Some(tuning) = line.tuning.as_ref().filter(|tuning| tuning.chosen != tuning.published) {
        notes.push(format!("{} {}", tuning.parameter, tuning.chosen));
    }
    if line.screened_only {
        notes.push("screened only".to_owned());
    }
    if line.budget_ended {
        notes.push("budget ended".to_owned());
    }
    notes.extend(line.failed.clone());
    notes.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrives(workload: &str, weights: &[&str]) -> Arrives {
        Arrives {
            workload: workload.to_owned(),
            weights: weights.iter().map(|&text| text.to_owned()).collect(),
        }
    }

    #[test]
    fn workloads_come_by_name_and_by_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name).display().to_string();
        std::fs::write(path("a.csv"), "class,service_ns\nget,1000\nget,1200\nscan,90000\n").unwrap();
        std::fs::write(path("a.toml"), "[workload]\nservice = \"exp-1us\"\n[measure]\nseed = 7\n").unwrap();
        assert_eq!(arrives("exp-1us", &[]).read().unwrap().0.service.classes(), ["all"]);
        let (workload, _) = arrives(&path("a.csv"), &["get=0.9", "scan=0.1"]).read().unwrap();
        assert!((workload.service.class_weight(1) - 0.1).abs() < 1e-9);
        assert_eq!(arrives(&path("a.toml"), &[]).read().unwrap().1.seed, 7);
        for (wrong, says) in [
            (arrives("exp-2us", &[]), "exp-1us"),
            (arrives("exp-1us", &["get=1"]), "goes with a file"),
            (arrives(&path("a.csv"), &["get"]), "no shares"),
            (arrives(&path("b.csv"), &[]), "b.csv"),
        ] {
            let error = format!("{:?}", wrong.read().unwrap_err());
            assert!(error.contains(says), "{says}: {error}");
        }
    }
}
