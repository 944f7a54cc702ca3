//! `caudal load ADDRESS`: an open-loop load on a service; its search for the highest rate; and runs of several processes merged.

mod options;
mod show;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use caudal_config::{LatencyTarget, Limit, Offered, Statistic};
use caudal_load::clock::TscClock;
use caudal_load::generator::{Ended, Live};
use caudal_load::open::resolve;
use caudal_load::protocol::Protocol;
use caudal_load::run::{FORMAT, Mode, Run, merge};
use caudal_load::search::{Found, Search, Target, Verdict, search};
use caudal_load::session::{Network, Session};
use caudal_load::traffic::Keys;
use caudal_load::transport::Broken;
use caudal_load::{export, pin_to};
use caudal_results::files::write_whole;
use clap::{ArgMatches, Args, Command, FromArgMatches, Subcommand};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use miette::{IntoDiagnostic, miette};

pub(crate) use self::options::Asked;
use self::options::{DATAGRAM_VALUE_MAX, Outputs};
use super::forks::Forks;
use crate::exit::{Failure, Interrupted};
use crate::exit_code::NO;
use crate::global::Global;

/// The arguments of a load, or of a subcommand instead. By hand, because clap's macros see an optional group of arguments only if it
/// contains no other group.
#[derive(Debug)]
pub(crate) enum LoadArgs {
    Asked(Box<Asked>),
    Command(LoadCommand),
}

impl FromArgMatches for LoadArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<LoadArgs, clap::Error> {
        match matches.subcommand() {
            Some(_) => LoadCommand::from_arg_matches(matches).map(LoadArgs::Command),
            None => Asked::from_arg_matches(matches).map(|asked| LoadArgs::Asked(Box::new(asked))),
        }
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = LoadArgs::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for LoadArgs {
    fn augment_args(command: Command) -> Command {
        let command = LoadCommand::augment_subcommands(Asked::augment_args(command));
        command.args_conflicts_with_subcommands(true).subcommand_negates_reqs(true)
    }

    fn augment_args_for_update(command: Command) -> Command {
        LoadArgs::augment_args(command)
    }
}

#[derive(Subcommand, Debug)]
pub(crate) enum LoadCommand {
    /// Make one run of those of several generators that loaded one service at the same time
    Merge(MergeArgs),
}

#[derive(Args, Debug)]
pub(crate) struct MergeArgs {
    /// The runs, as `--out` writes them
    #[arg(required = true, value_name = "RUN.json")]
    runs: Vec<PathBuf>,
    #[command(flatten)]
    outputs: Outputs,
}

/// The pause between two runs of a search, in which a service works off what is left of the one before.
const PAUSE: Duration = Duration::from_millis(200);
/// The first rate of a search, in requests a second, unless `--rate` says another.
const SEARCH_FROM_PER_S: f64 = 1_000.0;
/// Requests that may wait in a closed loop.
const WAITING_MAX: u64 = 1_000_000;

pub(crate) fn run(args: &LoadArgs, global: &Global) -> miette::Result<ExitCode> {
    match args {
        LoadArgs::Asked(asked) => load(asked, global),
        LoadArgs::Command(LoadCommand::Merge(args)) => merge_runs(args, global),
    }
}

fn merge_runs(args: &MergeArgs, global: &Global) -> miette::Result<ExitCode> {
    args.outputs.check()?;
    let runs = args.runs.iter().map(|path| read_run(path)).collect::<miette::Result<Vec<Run>>>()?;
    let merged = merge(&runs).map_err(|error| miette!("{error}"))?;
    show::print(&merged, global)?;
    write(&args.outputs, &merged)?;
    Ok(ExitCode::SUCCESS)
}

fn read_run(path: &Path) -> miette::Result<Run> {
    let help = "give a file that `caudal load … --out FILE` has written";
    let text = std::fs::read_to_string(path)
        .map_err(|error| miette!(help = help, "can not read `{}`: {error}", path.display()))?;
    let run: Run = serde_json::from_str(&text)
        .map_err(|error| miette!(help = help, "`{}` holds no run of a load: {error}", path.display()))?;
    if run.load_format != FORMAT {
        return Err(miette!(
            help = "write both runs with one version of this program",
            "`{}` holds a run of format {}, and this program reads format {FORMAT}",
            path.display(),
            run.load_format
        ));
    }
    Ok(run)
}

fn write(outputs: &Outputs, run: &Run) -> miette::Result<()> {
    let bytes = |write: &dyn Fn(&mut Vec<u8>) -> std::io::Result<()>| {
        let mut out = Vec::new();
        write(&mut out).map_err(|error| Failure(format!("the latencies could not be written: {error}")))?;
        Ok::<_, miette::Report>(String::from_utf8(out).expect("both formats are text"))
    };
    if let Some(path) = &outputs.out {
        write_whole(path, &(serde_json::to_string(run).into_diagnostic()? + "\n"))?;
    }
    if let Some(path) = &outputs.hgrm {
        write_whole(path, &bytes(&|out| export::write_hgrm(run, &run.total(), out))?)?;
    }
    if let Some(path) = &outputs.hlog {
        write_whole(path, &bytes(&|out| export::write_hlog(run, out))?)?;
    }
    Ok(())
}

fn load(asked: &Asked, global: &Global) -> miette::Result<ExitCode> {
    asked.outputs.check()?;
    let address = resolve(&asked.address).map_err(|error| miette!("{error}"))?;
    let (session, mode, seed) = session(asked, address)?;
    let target = asked.search.as_deref().map(|text| target(text, &session.classes())).transpose()?;
    if let Some(cpu) = asked.cpu {
        pin_to(cpu).map_err(|error| miette!("{error}"))?;
    }
    let clock = TscClock::calibrate().map_err(|error| miette!("{error}"))?;
    let load = Load { session, seed, clock, global };
    if !global.quiet {
        errln!("{}", show::header(&load.session, mode, seed));
    }
    load.ready(!asked.cache.no_fill)?;
    match target {
        Some((target, text)) => load.search(asked, mode, &target, &text),
        None => load.once(asked, mode),
    }
}

/// A session, the pace and the seed, from the arguments.
fn session(asked: &Asked, address: SocketAddr) -> miette::Result<(Session, Mode, u64)> {
    let arrivals = asked.arrivals.as_deref().map(options::arrivals_value);
    let (workload, measure) = asked.arrives.read_with(Forks::default(), arrivals.as_deref())?;
    let network = if asked.udp { Network::Udp } else { Network::Tcp };
    let protocol = protocol(asked)?;
    let connections = asked.closed.or(asked.connections).unwrap_or(options::connections(network));
    let natural = workload.arrivals.natural_rate();
    let said = match workload.offered[..] {
        [Offered::Rate(rate)] => Some(rate.per_s()),
        _ => None,
    };
    let rate = asked.rate.map(caudal_config::Rate::per_s).or(natural).or(said);
    let mode = match (asked.closed, rate) {
        (Some(_), _) => Mode::Closed { depth: asked.depth.unwrap_or(1) },
        (None, Some(rate_per_s)) => Mode::Open { rate_per_s },
        (None, None) if asked.search.is_some() => Mode::Open { rate_per_s: SEARCH_FROM_PER_S },
        (None, None) => {
            return Err(miette!(
                help = "add --rate 10k/s for requests at intended times, --closed 8 for a closed loop of 8 connections, or \
                        --search 'get p99 < 200us' for the highest rate within a target",
                "there is no rate to send requests at"
            ));
        }
    };
    let mut measured_ns = asked.duration.0 / 1_000;
    let warm_up_ns = asked.warm_up.map_or(measured_ns / 10, |time| time.0 / 1_000);
    if let (Some(count), Mode::Open { rate_per_s }) = (workload.arrivals.count(), mode) {
        let recorded_ns = (count as f64 / rate_per_s * 1e9) as u64;
        measured_ns = measured_ns.min(recorded_ns.saturating_sub(warm_up_ns)).max(1);
    }
    let session = Session {
        address,
        network,
        protocol,
        connections,
        workload: asked.arrives.name(),
        service: workload.service.clone(),
        arrivals: workload.arrivals.clone(),
        arrivals_name: options::arrivals_name(&workload.arrival_spec),
        sets: asked.cache.sets.unwrap_or_else(|| options::defaults(&asked.arrives.name()).sets),
        scan_items: asked.cache.scan_items,
        warm_up_ns,
        measured_ns,
        timeout_ns: asked.timeout.0 / 1_000,
    };
    if let Mode::Closed { depth } = mode
        && u64::from(connections) * u64::from(depth) > WAITING_MAX
    {
        return Err(miette!(
            help = "give fewer connections, or a smaller --depth",
            "{connections} connections with {depth} requests on their way on each are more than {WAITING_MAX} requests"
        ));
    }
    Ok((session, mode, asked.seed.unwrap_or(measure.seed)))
}

fn protocol(asked: &Asked) -> miette::Result<Protocol> {
    if asked.protocol == options::ProtocolName::Spin {
        return Ok(Protocol::Spin);
    }
    let usual = options::defaults(&asked.arrives.name()).keys;
    let keys = Keys {
        count: asked.cache.keys.unwrap_or(usual.count),
        key_bytes: asked.cache.key_bytes.unwrap_or(usual.key_bytes as u32) as usize,
        value_bytes: asked.cache.value_bytes.unwrap_or(usual.value_bytes as u32) as usize,
    };
    if asked.udp && keys.value_bytes > DATAGRAM_VALUE_MAX {
        return Err(miette!(
            help = "give shorter values, or leave out --udp",
            "a set is one datagram, in which a value of {} bytes has no room: at most {DATAGRAM_VALUE_MAX} have",
            keys.value_bytes
        ));
    }
    Ok(Protocol::Memcached(keys))
}

/// A target that a run can be held against.
fn target(text: &str, classes: &[String]) -> miette::Result<(Target, String)> {
    let target = LatencyTarget::parse(text).map_err(|error| miette!("{error}"))?.among(classes);
    let form = "write a percentile or the mean of the latency, as in 'get p99 < 200us' or 'mean < 50us'";
    if let Some(class) = target.class.as_ref().filter(|class| !classes.contains(class)) {
        return Err(miette!(
            help = form,
            "the requests of this run have no class `{class}`; their classes are {}",
            classes.join(", ")
        ));
    }
    let percentile = match target.statistic {
        Statistic::Percentile(percentile) => Some(percentile),
        Statistic::Mean => None,
        Statistic::Miss(_) => return Err(miette!(help = form, "a search takes no miss ratio")),
    };
    let Limit::Latency(limit) = target.limit else {
        return Err(miette!(
            help = form,
            "a generator knows the latency of a request, and not how much of it the service took"
        ));
    };
    Ok((Target { class: target.class, percentile, limit_ns: limit.0 / 1_000 }, text.to_owned()))
}

struct Load<'a> {
    session: Session,
    seed: u64,
    clock: TscClock,
    global: &'a Global,
}

impl Load<'_> {
    fn bar(&self) -> ProgressBar {
        let target =
            if self.global.quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(None, target);
        let style = ProgressStyle::with_template("{prefix} {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar
    }

    /// Makes the service ready: all keys have their values, or at least it answers.
    fn ready(&self, fill: bool) -> miette::Result<()> {
        let bar = self.bar();
        bar.set_prefix("filling");
        let done = if fill {
            self.session.fill(&self.global.stop, |done| {
                if done.is_multiple_of(1_000) {
                    bar.set_message(format!("{done} keys"));
                }
            })
        } else {
            self.session.probe(&self.global.stop)
        };
        bar.finish_and_clear();
        done.map_err(|error| self.broken(&error))
    }

    fn broken(&self, error: &Broken) -> miette::Report {
        if self.global.stop.load(Relaxed) {
            return Interrupted(String::new()).into();
        }
        miette!("{error}")
    }

    /// A run, with its progress on a terminal.
    fn measure(&self, mode: Mode, seed: u64) -> miette::Result<(Run, Ended)> {
        let (live, bar) = (Live::default(), self.bar());
        let ended = std::sync::atomic::AtomicBool::new(false);
        let result = std::thread::scope(|scope| {
            if !bar.is_hidden() {
                scope.spawn(|| {
                    while !ended.load(Relaxed) {
                        std::thread::sleep(Duration::from_millis(200));
                        bar.set_message(show::progress(&live));
                    }
                });
            }
            let result = self.session.run(mode, seed, &self.clock, &live, &self.global.stop);
            ended.store(true, Relaxed);
            result
        });
        bar.finish_and_clear();
        result.map_err(|error| self.broken(&error))
    }

    fn once(&self, asked: &Asked, mode: Mode) -> miette::Result<ExitCode> {
        let (run, ended) = self.measure(mode, self.seed)?;
        show::print(&run, self.global)?;
        write(&asked.outputs, &run)?;
        match ended {
            Ended::Whole => Ok(ExitCode::SUCCESS),
            Ended::Interrupted => Err(Interrupted(": what was measured is printed".to_owned()).into()),
            Ended::Behind => Err(Failure(format!(
                "the run was stopped: {}; ask for a lower --rate, give the generator a processor of its own (--cpu), or share \
                 the rate among several generators (`caudal load merge`)",
                run.cut_short.unwrap_or_default()
            ))
            .into()),
            Ended::Broken(broken) => Err(Failure(format!("the run was cut short: {broken}")).into()),
        }
    }

    fn search(&self, asked: &Asked, mode: Mode, target: &Target, text: &str) -> miette::Result<ExitCode> {
        let Mode::Open { rate_per_s } = mode else {
            return Err(miette!(
                help = "leave out --closed",
                "a closed loop has no rate that could be searched for"
            ));
        };
        let how = Search {
            start_per_s: rate_per_s,
            repeats: asked.repeats.unwrap_or(if self.global.quick { 1 } else { 3 }),
            precision: if self.global.quick { 0.1 } else { 0.05 },
        };
        let mut runs = 0;
        let found = search(how, |rate_per_s, _| {
            std::thread::sleep(PAUSE);
            let (run, ended) = self.measure(Mode::Open { rate_per_s }, self.seed + runs)?;
            runs += 1;
            match ended {
                Ended::Interrupted => return Err(Interrupted(String::new()).into()),
                Ended::Broken(broken) => {
                    return Err(Failure(format!("a run was cut short: {broken}")).into());
                }
                Ended::Whole | Ended::Behind => {}
            }
            let verdict = target.judge(&run);
            if !self.global.quiet {
                errln!("{}", show::trial(&run, target, rate_per_s, verdict));
            }
            Ok::<Verdict, miette::Report>(verdict)
        })?;
        self.answer(&found, text)
    }

    fn answer(&self, found: &Found, text: &str) -> miette::Result<ExitCode> {
        if self.global.json {
            outln!("{}", serde_json::to_string(&show::found_json(found, text)).into_diagnostic()?);
        } else {
            outln!("{}", show::found(found, text));
        }
        Ok(if found.met_per_s.is_some() { ExitCode::SUCCESS } else { ExitCode::from(NO) })
    }
}
