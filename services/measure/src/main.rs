//! Measures the service times of five microservices, those that the Q-Zilla paper (HPCA 2020, section 6) names beside
//! RocksDB and publishes no histograms of, and of the requests of the tail-control paper (PPoPP 2016). See the README beside.

mod block_cache;
mod clock;
mod cuckoo;
mod device;
mod figures;
mod lsh;
mod machine;
mod measure;
mod nearest;
mod pricing;
mod quietest;
mod random;
mod routing;
mod service;
mod stemming;
mod table;
mod units;
mod words;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::{Args, Parser, Subcommand};

use crate::figures::Figures;
use crate::measure::{Conditions, Run, measure};
use crate::quietest::quietest;
use crate::service::{Requests, Service};

/// Measures the service times of six services.
///
/// Each run is a line of CSV on standard output; the times of a service's quietest run become DIR/SERVICE.csv.
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Reduces the words of a text to their stems
    Stemming(Options),
    /// Forwards a request for 200 keys to 100 leaves by consistent hashing
    Routing(Options),
    /// Reads a block of 4 KiB through a cache in memory and on a local device
    BlockCache(Options),
    /// Finds nearest neighbours by locality-sensitive hashes of 12 bits
    #[command(name = "nearest-12")]
    Nearest12(Options),
    /// Finds nearest neighbours by locality-sensitive hashes of 20 bits
    #[command(name = "nearest-20")]
    Nearest20(Options),
    /// Prices portfolios of options by a partial differential equation: 10 ms a request
    BlackScholes(Options),
    /// All of the microservices, in turn
    All(Options),
    /// Prints a table of what files of times hold
    Summary {
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
}

#[derive(Args)]
struct Options {
    /// The same seed makes the same requests in the same order
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Requests to be timed
    #[arg(long, default_value_t = 40_000)]
    requests: usize,
    /// Requests before them that are not
    #[arg(long, default_value_t = 10_000)]
    warm_up: usize,
    /// Runs of each service, of which the quietest is kept
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// Seconds between a service's runs, so that they meet different moments
    #[arg(long, default_value_t = 20)]
    pause: u64,
    /// Core to stay on [default: the last that may be used]
    #[arg(long)]
    core: Option<usize>,
    /// Directory of the files that are written
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
    /// Directory on a disk for the device of the block cache; 256 MiB of it are used meanwhile
    #[arg(long, value_name = "DIR", default_value = ".")]
    scratch: PathBuf,
}

/// A service that can be measured.
#[derive(Clone, Copy)]
enum Which {
    Stemming,
    Routing,
    BlockCache,
    Nearest { bits: usize },
    BlackScholes,
}

impl Which {
    /// The services of `all`, whose requests take some microseconds. Requests of 10 ms need other numbers of requests, and are measured apart.
    const ALL: [Which; 5] = [
        Which::Stemming,
        Which::Routing,
        Which::BlockCache,
        Which::Nearest { bits: 12 },
        Which::Nearest { bits: 20 },
    ];

    fn name(self) -> String {
        match self {
            Which::Stemming => "stemming".to_owned(),
            Which::Routing => "routing".to_owned(),
            Which::BlockCache => "block-cache".to_owned(),
            Which::Nearest { bits } => format!("nearest-{bits}"),
            Which::BlackScholes => "black-scholes".to_owned(),
        }
    }

    fn classes(self) -> &'static [&'static str] {
        match self {
            Which::Stemming => stemming::Stemming::CLASSES,
            Which::Routing => routing::Routing::CLASSES,
            Which::BlockCache => block_cache::BlockCache::CLASSES,
            Which::Nearest { .. } => nearest::Search::CLASSES,
            Which::BlackScholes => pricing::Pricing::CLASSES,
        }
    }

    /// Builds the service and its requests anew, so that runs differ in where their memory lies, too.
    fn run(self, options: &Options, core: usize) -> Result<Run> {
        let Options { seed, warm_up, scratch, .. } = options;
        let count = warm_up + options.requests;
        fn go(mut service: impl Service, requests: &Requests, warm_up: usize, core: usize) -> Result<Run> {
            measure(&mut service, requests, warm_up, core)
        }
        match self {
            Which::Stemming => {
                go(stemming::Stemming::new(), &stemming::requests(*seed, count), *warm_up, core)
            }
            Which::Routing => go(routing::Routing::new(), &routing::requests(*seed, count), *warm_up, core),
            Which::BlockCache => {
                let sizes = block_cache::SIZES;
                let cache = block_cache::BlockCache::new(*seed, sizes, scratch)?;
                go(cache, &block_cache::requests(*seed, sizes, count), *warm_up, core)
            }
            Which::Nearest { bits } => {
                go(nearest::Search::new(*seed, bits), &nearest::requests(*seed, count), *warm_up, core)
            }
            Which::BlackScholes => {
                go(pricing::Pricing::new(*seed), &pricing::requests(*seed, count), *warm_up, core)
            }
        }
    }
}

fn main() -> Result<()> {
    match Cli::parse().command {
        Command::Stemming(options) => measure_all(&[Which::Stemming], &options),
        Command::Routing(options) => measure_all(&[Which::Routing], &options),
        Command::BlockCache(options) => measure_all(&[Which::BlockCache], &options),
        Command::Nearest12(options) => measure_all(&[Which::Nearest { bits: 12 }], &options),
        Command::Nearest20(options) => measure_all(&[Which::Nearest { bits: 20 }], &options),
        Command::BlackScholes(options) => measure_all(&[Which::BlackScholes], &options),
        Command::All(options) => measure_all(&Which::ALL, &options),
        Command::Summary { files } => {
            print!("{}", table::summary(&files)?);
            Ok(())
        }
    }
}

/// Rounds of one run a service. Files are written after each round, so an interruption loses a round at most.
fn measure_all(services: &[Which], options: &Options) -> Result<()> {
    ensure!(
        options.runs > 0 && options.requests > 0,
        "nothing to measure: --runs and --requests are 1 or more"
    );
    let core = machine::pin(options.core)?;
    println!(
        "service,run,passes,switched_out,repeated,left,stalled,marked,spin_ns,others_busy,stolen_ms,clock_cost_ns,\
         median_ns,p99_ns,p999_ns,longest_ns,mean_ns,item_ns,scv,with_stalls_p999_ns,with_stalls_longest_ns,with_stalls_scv"
    );
    let mut runs: Vec<Vec<Run>> = services.iter().map(|_| Vec::new()).collect();
    for round in 0..options.runs {
        if round > 0 {
            std::thread::sleep(Duration::from_secs(options.pause));
        }
        for (which, runs) in services.iter().zip(&mut runs) {
            let run = which.run(options, core).with_context(|| format!("measuring {}", which.name()))?;
            print_run(&which.name(), round + 1, &run);
            runs.push(run);
            keep_quietest(*which, runs, &options.out)?;
        }
    }
    Ok(())
}

/// Figures are of the times that are not marked; those with stalls are of the first times of the same requests.
fn print_run(name: &str, number: usize, run: &Run) {
    let Conditions {
        passes,
        switched_out,
        repeated,
        left,
        stalled,
        marked,
        spin_ns,
        others_busy,
        stolen_ms,
        clock_cost_ns,
    } = run.conditions;
    let unmarked: Vec<u64> =
        run.timed.iter().filter(|timed| timed.stall_ns == 0).map(|timed| timed.ns).collect();
    // Where all are stalled, they are what there is.
    let first = run.first_ns.iter().copied();
    let with_stalls = Figures::of(first.clone());
    let figures = if unmarked.is_empty() { with_stalls } else { Figures::of(unmarked) };
    let Figures { median_ns, p99_ns, p999_ns, max_ns, mean_ns, scv, .. } = figures;
    let item_ns = run.timed.iter().map(|timed| timed.ns).sum::<u64>() as f64 / run.items as f64;
    println!(
        "{name},{number},{passes},{switched_out:.4},{repeated},{left},{stalled:.4},{marked},{spin_ns:.0},\
         {others_busy:.3},{stolen_ms},{clock_cost_ns},{median_ns},{p99_ns},{p999_ns},{max_ns},{mean_ns:.1},{item_ns:.1},\
         {scv:.3},{},{},{:.3}",
        with_stalls.p999_ns, with_stalls.max_ns, with_stalls.scv
    );
}

fn keep_quietest(which: Which, runs: &[Run], out: &Path) -> Result<()> {
    let conditions: Vec<Conditions> = runs.iter().map(|run| run.conditions).collect();
    let kept = quietest(&conditions);
    let file = out.join(format!("{}.csv", which.name()));
    std::fs::write(&file, table::csv(&runs[kept].timed, which.classes(), runs[kept].watched))
        .with_context(|| format!("`{}` cannot be written", file.display()))?;
    eprintln!("{}: run {} of {} is the quietest so far", which.name(), kept + 1, runs.len());
    Ok(())
}
