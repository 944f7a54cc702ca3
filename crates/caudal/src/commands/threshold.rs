//! `caudal threshold`: from how much work on tail-control gives a parallel request up, by the number of active requests. It reads the
//! workload, computes the table, simulates it if asked (`--refine`), prints the answer, and writes a report, a table or a policy where
//! the user names a file.

mod report;
mod show;
mod words;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use caudal_config::{Measure, Rate, Workload};
use caudal_policy::Picos;
use caudal_policy::parallelism::thresholds::Knowledge;
use caudal_tune::thresholds::{
    Binning, RefineQuestion, Refined, ThresholdAnswer, ThresholdQuestion, refine, thresholds,
};
use caudal_tune::{Control, TuneError, spelled};
use caudal_workload::{DagSpec, Graphs};
use clap::Args;
use miette::{IntoDiagnostic, miette};

use super::arrives::Arrives;
use super::input::Input;
use crate::exit::{self, Interrupted};
use crate::global::Global;
use crate::numbers;
use crate::progress::ProgressLine;
use caudal_results::files::{make_dir, writable, write_whole};
use caudal_results::table::digits;

/// Loops of a request of which nothing is known: with one, it matters little what is given up.
const LOOPS: u32 = 4;
/// Requests of a replication of --refine, with --quick and without.
const REQUESTS: (u32, u32) = (2_000, 20_000);

#[derive(Args, Debug)]
pub(crate) struct ThresholdArgs {
    /// Work of the requests, run on one core: a workload's name, a file of measured times (- for standard input),
    /// percentiles ('p50 = 12 ms, p99 = 90 ms'), or a TOML file with a workload table
    #[arg(long, short, visible_alias = "workload", value_name = "NAME|FILE")]
    work_distribution: OsString,
    #[command(flatten)]
    input: Input,
    /// Target latency, as in 25ms; again for classes that have another one, as in 'scan 100ms'
    #[arg(long, short, required = true, value_name = "[CLASS] TIME", value_parser = ClassTarget::parse)]
    #[arg(allow_hyphen_values = true)]
    target: Vec<ClassTarget>,
    /// Requests that arrive, as in 1200/s
    #[arg(long, value_name = "RATE", value_parser = Rate::parse, allow_hyphen_values = true)]
    rate: Rate,
    /// Cores that a request can run on
    #[arg(long, default_value_t = 16, value_name = "N", value_parser = numbers::cores, allow_hyphen_values = true)]
    cores: u32,
    /// Share of each request's work that only one core can do at a time [default: what the workload's `dag` says, or none]
    #[arg(long, value_name = "SHARE", value_parser = numbers::share, allow_hyphen_values = true)]
    serial: Option<f64>,
    /// Bins of the work, equal on a logarithmic scale [default: 1000]
    #[arg(long, value_name = "N", value_parser = numbers::count, allow_hyphen_values = true)]
    bins: Option<u32>,
    /// Bins as the paper has them: equal ones, of which all requests count with the most work
    #[arg(long, value_name = "N", value_parser = numbers::count, allow_hyphen_values = true, conflicts_with = "bins")]
    paper_bins: Option<u32>,
    /// Rows of the table; the last one counts for more active requests as well
    #[arg(long, default_value_t = 200, value_name = "N", value_parser = numbers::count, allow_hyphen_values = true)]
    most_active: u32,
    /// Requests are known to be large when they arrive: a line to compare with
    #[arg(long)]
    clairvoyant: bool,
    /// Simulate the table, and thresholds that are multiples of its; the better ones are written
    #[arg(long)]
    refine: bool,
    /// Parallel loops, one after another, that a request of --refine is [default: what the workload's `dag` says, or 4]
    #[arg(long, value_name = "N", value_parser = numbers::count, allow_hyphen_values = true, requires = "refine")]
    loops: Option<u32>,
    /// Requests of a replication of --refine, 8 to 40 of which are simulated of each policy [default: 20000, --quick: 2000]
    #[arg(long, value_name = "N", allow_hyphen_values = true, requires = "refine")]
    #[arg(value_parser = clap::value_parser!(u32).range(1_000..=10_000_000))]
    requests: Option<u32>,
    /// Seed of --refine [default: that of the workload's TOML file, or 1]
    #[arg(long, value_name = "N", value_parser = numbers::seed, allow_hyphen_values = true, requires = "refine")]
    seed: Option<u64>,
    /// Keep the table (thresholds.csv), its system (policy.toml), its numbers (threshold.json) and a report in this directory
    #[arg(long, default_value = "caudal-threshold", value_name = "DIR")]
    out: PathBuf,
    /// Write the table here as well: active,threshold_ns
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
    /// Write a file of the system that follows the table here as well
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Print every row at which the threshold changes, and every multiple that --refine tried, as well
    #[arg(long)]
    explain: bool,
}

/// A target latency, of a class or of all that have no other.
#[derive(Clone, Debug)]
struct ClassTarget {
    class: Option<String>,
    target: Picos,
}

impl ClassTarget {
    fn parse(text: &str) -> Result<ClassTarget, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let (class, time) = match words[..] {
            [time] | ["all", time] => (None, time),
            [class, time] => (Some(class.to_owned()), time),
            _ => {
                return Err(
                    "write a time, or a class and a time, as in \"25ms\" or \"scan 100ms\"".to_owned()
                );
            }
        };
        let target = Picos::parse(time).map_err(|problem| problem.to_string())?;
        if target == Picos::ZERO {
            return Err(format!("no request is done in {time}; write a time above 0, as in \"25ms\""));
        }
        Ok(ClassTarget { class, target })
    }
}

pub(crate) fn run(args: &ThresholdArgs, global: &Global) -> miette::Result<ExitCode> {
    let arrives = Arrives { workload: args.work_distribution.clone(), input: args.input.clone() };
    let (workload, measure) = arrives.read()?;
    for finding in workload.service.findings() {
        errln!("note: {finding}");
    }
    for path in args.table.iter().chain(&args.policy) {
        writable(path)?;
    }
    // What can not be simulated is said before anything is worked out.
    let requests_are = if args.refine { Some(args.simulated(&workload)?.1) } else { None };
    let question = args.question(&workload)?;
    let found = match thresholds(&question) {
        Ok(found) => found,
        Err(error) => return exit::no(error, global.json).map_err(|error| miette!("{error}")),
    };
    let mut answer = Answered { found: &found, requests_are: None, refined: None };
    if args.refine {
        // What is known is there, whatever becomes of the simulation.
        args.write(&question, &answer)?;
        answer.requests_are = requests_are;
        answer.refined = Some(args.refined(&question, &found, (&workload, measure), global)?);
    }
    if global.json {
        outln!("{}", serde_json::to_string(&answer).into_diagnostic()?);
    } else {
        show::print(args, &answer);
    }
    args.write(&question, &answer)?;
    errln!("wrote {}", args.out.join("report.html").display());
    Ok(ExitCode::SUCCESS)
}

/// A table by the formulas, and what simulation says of it: its thresholds times `refined.scale` are those that are written.
#[derive(serde::Serialize)]
struct Answered<'a> {
    #[serde(flatten)]
    found: &'a ThresholdAnswer,
    /// The graphs that were simulated, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    requests_are: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refined: Option<Refined>,
}

impl Answered<'_> {
    fn scale(&self) -> f64 {
        self.refined.as_ref().map_or(1.0, |refined| refined.scale)
    }
}

impl ThresholdArgs {
    fn question<'a>(&self, workload: &'a Workload) -> miette::Result<ThresholdQuestion<'a>> {
        let plain: Vec<Picos> =
            self.target.iter().filter(|own| own.class.is_none()).map(|own| own.target).collect();
        let own = |class: &String| self.target.iter().any(|own| own.class.as_ref() == Some(class));
        let help =
            "one target is for all requests that have no other, as in --target 25ms --target 'scan 100ms'";
        let target = match plain[..] {
            [target] => target,
            [] if workload.service.classes().iter().all(own) => self.target[0].target,
            [] => return Err(miette!(help = help, "some classes of requests have no target")),
            _ => return Err(miette!(help = help, "{} targets are for all requests", plain.len())),
        };
        let of_class = |own: &ClassTarget| Some((own.class.clone()?, own.target));
        Ok(ThresholdQuestion {
            service: &workload.service,
            target,
            class_targets: self.target.iter().filter_map(of_class).collect(),
            rate_per_s: self.rate.per_s(),
            cores: self.cores,
            binning: match (self.paper_bins, self.bins) {
                (Some(bins), _) => Binning::Paper(bins),
                (None, bins) => bins.map_or_else(Binning::default, Binning::Log),
            },
            most_active: self.most_active,
            serial: self.serial.unwrap_or_else(|| match workload.dag_spec {
                Some(_) => workload.service.dag().span(),
                None => 0.0,
            }),
            knowledge: if self.clairvoyant { Knowledge::Clairvoyant } else { Knowledge::Processed },
        })
    }

    /// `25 ms, scan 100 ms`.
    fn targets(&self) -> String {
        let one = |own: &ClassTarget| {
            let target = spelled(&own.target.to_string());
            own.class.as_ref().map_or(target.clone(), |class| format!("{class} {target}"))
        };
        self.target.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    /// The graphs of requests with which the table is simulated, and their name.
    fn simulated(&self, workload: &Workload) -> miette::Result<(Arc<Graphs>, String)> {
        let recorded = workload.service.dag().recorded().is_some();
        if recorded && self.loops.is_some() {
            return Err(miette!(
                help = "leave out --loops",
                "the requests have the graphs that were recorded"
            ));
        }
        if (recorded || workload.dag_spec.is_some()) && self.serial.is_none() && self.loops.is_none() {
            return Ok((workload.service.dag().clone(), "as the workload says".to_owned()));
        }
        let said = workload.dag_spec.clone().unwrap_or(DagSpec { loops: LOOPS, ..DagSpec::default() });
        let (serial, loops) = (self.serial.unwrap_or(said.serial), self.loops.unwrap_or(said.loops));
        let spec = DagSpec { serial, loops, ..said };
        let graph = spec.compile().map_err(|error| miette!("{error}"))?;
        let mut called = match loops {
            1 => "one parallel loop".to_owned(),
            _ => format!("{loops} parallel loops, one after another"),
        };
        if serial > 0.0 {
            called += &format!(", {} % of the work serial around them", digits(100.0 * serial));
        }
        Ok((Arc::new(graph.into()), called))
    }

    /// The verdict of a simulation on the table.
    fn refined(
        &self,
        question: &ThresholdQuestion<'_>,
        found: &ThresholdAnswer,
        (workload, measure): (&Workload, Measure),
        global: &Global,
    ) -> miette::Result<Refined> {
        let (dag, _) = self.simulated(workload)?;
        let measure = Measure { seed: self.seed.unwrap_or(measure.seed), ..measure };
        let usual = if global.quick { REQUESTS.0 } else { REQUESTS.1 };
        let requests = u64::from(self.requests.unwrap_or(usual));
        let asked =
            RefineQuestion { question, arrivals: &workload.arrivals, dag, measure: &measure, requests };
        let bar = ProgressLine::new(global, 100, "trying multiples");
        let progress = |progress: caudal_tune::Progress| {
            bar.phase(if progress.phase == caudal_tune::Phase::Confirming {
                "judging"
            } else {
                "trying multiples"
            });
            bar.requests(progress.requests);
            bar.set_done((100.0 * bar.requests_done() as f64 / asked.expected() as f64).min(99.0) as u64);
        };
        let control = Control { threads: global.threads, stop: &global.stop, progress: &progress };
        let refined = refine(&asked, found, &control);
        bar.finish();
        match refined {
            Err(TuneError::Interrupted) => {
                let so_far = format!(": the table as the formulas have it is in {}", self.out.display());
                Err(Interrupted(so_far).into())
            }
            refined => refined.map_err(|error| miette!("{error}")),
        }
    }

    fn write(&self, question: &ThresholdQuestion<'_>, answer: &Answered<'_>) -> miette::Result<()> {
        make_dir(&self.out)?;
        let csv = answer.found.csv(answer.scale());
        write_whole(&self.out.join("thresholds.csv"), &csv)?;
        let json = serde_json::to_string_pretty(answer).into_diagnostic()?;
        write_whole(&self.out.join("threshold.json"), &(json + "\n"))?;
        write_whole(&self.out.join("report.html"), &report::report(self, answer).to_html())?;
        let policy = answer.found.policy_toml(question, answer.scale());
        write_whole(&self.out.join("policy.toml"), &policy)?;
        for (path, text) in [(&self.table, &csv), (&self.policy, &policy)] {
            path.as_deref().map_or(Ok(()), |path: &Path| write_whole(path, text))?;
        }
        Ok(())
    }
}
