//! `caudal-bench`: how fast Caudal simulates, and in how much memory, beside what is wanted of it.
//!
//! stdout is data, stderr is progress. Figures are by CPU time of one thread; the clock on the wall stands
//! beside. See `benches/README.md`.

mod case;
mod child;
mod count;
mod cutoffs;
mod limit;
mod machine;
mod measure;
mod peer;
mod row;
mod speed;
mod threads;
mod thresholds;

use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::child::ChildError;
use crate::row::Row;
use crate::speed::Effort;

/// Speed and memory of Caudal's simulator.
#[derive(Debug, Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// The table: measured, wanted, verdict
    Table(Table),
    /// Instructions per request of every case, by valgrind's callgrind
    Count {
        /// Only cases whose name contains this
        #[arg(long)]
        only: Option<String>,
        /// Seed of all randomness
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// One JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// M/M/16 as one line of JSON: what `benches/peers/run` calls
    Peer(Once),
    /// One case, once, in this process; for profilers
    Run {
        /// Its name, as `count` prints it; or `limit`
        case: String,
        #[command(flatten)]
        once: Once,
    },
}

#[derive(Debug, Args)]
struct Once {
    /// Requests to simulate
    #[arg(long, value_parser = clap::value_parser!(u64).range(100..=1_000_000_000_000))]
    requests: u64,
    /// Seed of all randomness
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Debug, Args)]
struct Table {
    /// Rounds of 8 short runs of each contender, at least 5
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(5..=1000))]
    rounds: u32,
    /// Seed of the first round; the next ones count on
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Requests of the run whose memory is measured
    #[arg(long, default_value_t = 100_000_000, value_parser = clap::value_parser!(u64).range(1_000..))]
    memory_requests: u64,
    /// Time a clean release build, too
    #[arg(long)]
    build: bool,
    /// Only these rows; may be repeated
    #[arg(long)]
    only: Vec<Group>,
    /// A tenth of the requests: to try it out, not to judge
    #[arg(long)]
    quick: bool,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

/// Rows that are measured together, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Group {
    /// M/M/16 against the limit
    SingleQueue,
    /// Stealing on 32 and 1024 cores
    Stealing,
    /// Processor sharing on 16 and 1024 cores
    Sharing,
    /// Lanes by time served on 8 and 1024 servers
    Lanes,
    /// `caudal lanes` on 8 servers
    Cutoffs,
    /// Requests that fork
    Forks,
    /// The table of large-request thresholds
    Thresholds,
    /// Two threads on a sweep
    Threads,
    /// Memory of a long run
    Memory,
    /// A clean release build: only when asked for
    Build,
}

impl Table {
    /// Measures and prints. What was measured is printed whatever fails later.
    fn run(&self) -> Result<(), ChildError> {
        let before = machine::describe();
        eprintln!("{before}");
        let mut rows = Vec::new();
        let done = self.measure(&mut |more| {
            if self.json {
                more.iter().for_each(|row| println!("{}", row.json()));
            }
            rows.extend(more);
        });
        if !self.json {
            row::print(&rows);
            let meeting = rows.iter().filter(|row| row.meets()).count();
            println!("\n{meeting} of {} rows meet their target.", rows.len());
            println!(
                "Speed by CPU time: medians of {} short runs in turns. Two threads: best of {} rounds, whose least and \
                 greatest stand as interval. Before: {before}. After: {}.",
                self.rounds * speed::TURNS,
                self.rounds,
                machine::describe()
            );
        }
        done
    }

    /// Hands over the rows, group by group.
    fn measure(&self, add: &mut dyn FnMut(Vec<Row>)) -> Result<(), ChildError> {
        let effort = Effort { rounds: self.rounds, seed: self.seed, quick: self.quick };
        for &group in Group::value_variants() {
            let asked = self.only.contains(&group) || (group == Group::Build && self.build);
            if !asked && (!self.only.is_empty() || group == Group::Build) {
                continue;
            }
            eprintln!("{group:?}");
            add(match group {
                Group::SingleQueue => speed::single_queue(&effort),
                Group::Stealing => speed::stealing(&effort),
                Group::Sharing => speed::sharing(&effort),
                Group::Lanes => speed::lanes(&effort),
                Group::Cutoffs => cutoffs::searches(self.quick),
                Group::Forks => [speed::forks(&effort), vec![threads::three_policies(self.rounds)]].concat(),
                Group::Thresholds => thresholds::tables(self.rounds),
                Group::Threads => vec![threads::two_threads(self.rounds, self.quick)],
                Group::Memory => vec![child::memory(self.memory_requests, self.seed)?],
                Group::Build => vec![child::clean_build()?],
            });
        }
        Ok(())
    }
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Table(table) => table.run(),
        Command::Count { only, seed, json } => count::table(only.as_deref(), seed, json),
        Command::Peer(Once { requests, seed }) => {
            println!("{}", peer::line(requests, seed));
            Ok(())
        }
        Command::Run { case, once } => child::run(&case, once.requests, once.seed).map(|report| {
            println!("{}", serde_json::to_string(&report).expect("a report is plain data"));
        }),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("caudal-bench: {error}");
            ExitCode::FAILURE
        }
    }
}
