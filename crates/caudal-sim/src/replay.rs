//! Does a runtime decide as the simulator does? Its log is fed, event by event, to the same policies in the engine's own
//! pools and views, and every decision is compared.
//!
//! ```no_run
//! let log = caudal_log::DecisionLog::read(&std::fs::read("run.log")?)?;
//! let replay = caudal_sim::replay::replay(&log, 10)?;
//! println!("{} decisions, {} not as logged", replay.decisions, replay.differing);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What is compared: every call of a discipline on its pool, its intake; every placement; the order and start of walks, what
//! thieves want; questions of shedding. What is not: walks that saw nothing, which are not logged; when something
//! happens, which is the runtime's to say.

use std::collections::HashMap;
use std::fmt;

use caudal_config::{CORES_MAX, File, System};
use caudal_log::{DecisionLog, Entry, Thread, ThreadLog};
use caudal_policy::discipline::{Discipline, DisciplineConfig, Fcfs, Las, ProcessorSharing};

use crate::engine::replay::{Balance, Dispatcher, Impossible, Pool};

/// The result of a replay.
#[derive(Clone, Debug, Default)]
pub struct Replay {
    /// Decisions that were compared.
    pub decisions: u64,
    /// Events that led to others. Behind the first one of a thread, the simulator's pool is not the runtime's any more.
    pub differing: u64,
    /// The first of them.
    pub differences: Vec<Difference>,
}

impl Replay {
    /// Was everything decided as the simulator decides?
    pub fn is_same(&self) -> bool {
        self.differing == 0
    }
}

/// An event that led to something else in the runtime than in the simulator.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The worker or the dispatcher that decided otherwise.
    pub thread: Thread,
    /// Its place in the thread's entries, from 0.
    pub record: usize,
    /// The event.
    pub event: Entry,
    /// The answer of the runtime.
    pub expected: Vec<Entry>,
    /// The answer of the simulator, or why this can not happen there.
    pub found: Result<Vec<Entry>, &'static str>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { thread, record, event, expected, found } = self;
        write!(f, "{thread:?}, record {record}, {event:?}: the runtime did {expected:?}, ")?;
        match found {
            Ok(found) => write!(f, "the simulator does {found:?}"),
            Err(why) => write!(f, "which can not be: {why}"),
        }
    }
}

/// Why a log can not be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// Its system can not be read.
    #[error("the log's policy file can not be read: {0}")]
    Policy(#[from] caudal_config::ConfigError),
    /// It is none that a runtime has.
    #[error("the log's system is none of a runtime: {0}")]
    System(&'static str),
}

/// Feeds `log` to the simulator; keeps the first `most` differences.
///
/// # Errors
/// [`ReplayError`], if the log is not one of a system that a runtime has.
pub fn replay(log: &DecisionLog, most: usize) -> Result<Replay, ReplayError> {
    let file = File::parse(&log.header.policy, "the log")?;
    let [plan] = &file.systems[..] else { return Err(ReplayError::System("it is not one system")) };
    if !(1..=CORES_MAX).contains(&log.header.workers) {
        return Err(ReplayError::System("it has no workers, or too many"));
    }
    let mut comparison = Comparison { replay: Replay::default(), most };
    for thread in &log.threads {
        match thread.thread {
            Thread::Worker(worker) => {
                worker_by_discipline(log, &plan.system, worker, thread, &mut comparison)?;
            }
            Thread::Dispatcher => dispatcher(log, &plan.system, thread, &mut comparison),
            Thread::Submitters => submitters(log, &plan.system, thread, &mut comparison),
        }
    }
    Ok(comparison.replay)
}

struct Comparison {
    replay: Replay,
    most: usize,
}

impl Comparison {
    fn compare(
        &mut self,
        (thread, record): (&ThreadLog, usize),
        expected: &[Entry],
        found: Result<Vec<Entry>, Impossible>,
    ) {
        self.replay.decisions += expected.len() as u64;
        let found = found.map_err(|Impossible(why)| why);
        if found.as_deref() == Ok(expected) {
            return;
        }
        self.replay.differing += 1;
        if self.replay.differences.len() < self.most {
            let (expected, event) = (expected.to_vec(), thread.entries[record]);
            let thread = thread.thread;
            self.replay.differences.push(Difference { thread, record, event, expected, found });
        }
    }
}

fn worker_by_discipline(
    log: &DecisionLog,
    system: &System,
    worker: u32,
    thread: &ThreadLog,
    comparison: &mut Comparison,
) -> Result<(), ReplayError> {
    let balance = Balance::new(system, worker, log.header.workers, log.header.seed);
    match system.discipline {
        DisciplineConfig::Fcfs => worker_log(thread, Pool::new(|| Fcfs), balance, comparison),
        DisciplineConfig::ProcessorSharing(config) if config.quantum.0 > 0 => {
            worker_log(thread, Pool::new(|| ProcessorSharing::new(config)), balance, comparison);
        }
        DisciplineConfig::Las(config) if config.quantum.0 > 0 => {
            worker_log(thread, Pool::new(|| Las::new(config)), balance, comparison);
        }
        DisciplineConfig::ProcessorSharing(_)
        | DisciplineConfig::Las(_)
        | DisciplineConfig::Srpt
        | DisciplineConfig::PreemptiveSita(_)
        | DisciplineConfig::SqdSita(_)
        | DisciplineConfig::IsqdSita(_) => return Err(ReplayError::System("it has another discipline")),
    }
    Ok(())
}

fn worker_log<D: Discipline>(
    thread: &ThreadLog,
    mut pool: Pool<D>,
    mut balance: Balance,
    comparison: &mut Comparison,
) {
    let mut record = 0;
    while let Some(&event) = thread.entries.get(record) {
        let place = (thread, record);
        record += 1;
        match event {
            Entry::Intake { .. } => {
                let found = Entry::Intake { answer: pool.intake() };
                comparison.compare(place, &[event], Ok(vec![found]));
            }
            Entry::Unflagged { first, bits } => balance.see_unflagged(first, bits),
            Entry::Stole { .. } | Entry::OwnFirst {} => {}
            Entry::Walk { .. }
            | Entry::Looked { .. }
            | Entry::Overload { .. }
            | Entry::Flag { .. }
            | Entry::Shed { .. } => {
                let found = balance.decision(event).map(|decision| vec![decision]);
                comparison.compare(place, &[event], found);
            }
            _ => {
                let rest = &thread.entries[record..];
                let count = rest.iter().take_while(|entry| is_call(entry)).count();
                record += count;
                comparison.compare(place, &rest[..count], pool.decisions(event));
            }
        }
    }
}

/// Is it a call of a discipline on its pool?
fn is_call(entry: &Entry) -> bool {
    use Entry::{Enqueue, EnqueueBy, Preempt, Resume, Run, Take};
    matches!(
        entry,
        Run { .. } | Resume { .. } | Enqueue { .. } | EnqueueBy { .. } | Take { .. } | Preempt { .. }
    )
}

fn dispatcher(log: &DecisionLog, system: &System, thread: &ThreadLog, comparison: &mut Comparison) {
    let mut dispatcher = Dispatcher::new(system, log.header.workers, log.header.seed);
    for (record, &event) in thread.entries.iter().enumerate() {
        let found = match event {
            Entry::Seen { worker, unfinished, quanta } => match dispatcher.see(worker, unfinished, quanta) {
                Ok(()) => continue,
                Err(why) => Err(why),
            },
            Entry::Placed { number, .. } | Entry::Held { number } => {
                let placed = dispatcher.place(number);
                Ok(vec![placed.map_or(Entry::Held { number }, |pool| Entry::Placed { number, pool: pool.0 })])
            }
            _ => Err(Impossible("no event of a dispatcher")),
        };
        comparison.compare((thread, record), &[event], found);
    }
}

/// Compares the placements of the threads that submit requests. Each of them is a dispatcher of its own, which numbers the workers from
/// a different one on.
fn submitters(log: &DecisionLog, system: &System, thread: &ThreadLog, comparison: &mut Comparison) {
    let workers = log.header.workers;
    let mut threads = HashMap::new();
    for (record, &event) in thread.entries.iter().enumerate() {
        let found = if let Entry::Placed { number, .. } = event {
            let submitter = number >> 48;
            let new = || Dispatcher::new(system, workers, log.header.seed);
            let placed = threads.entry(submitter).or_insert_with(new).place(number);
            let first = (submitter % u64::from(workers)) as u32;
            let pool = placed.map(|pool| Entry::Placed { number, pool: (pool.0 + first) % workers });
            Ok(pool.into_iter().collect())
        } else {
            Err(Impossible("no event of a submitter"))
        };
        comparison.compare((thread, record), &[event], found);
    }
}
