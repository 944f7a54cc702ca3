//! Discipline: which task runs on which worker of a pool, and for how long?
//!
//! A [`Discipline`] is driven by events and answers by calls on its [`Pool`], which is the host's. The
//! host owns lanes and tasks; the discipline owns the decisions. The protocol:
//!
//! 1. [`on_arrival`](Discipline::on_arrival): a task is new in the pool (from dispatch). The discipline
//!    enqueues it, or runs it on a free worker, or enqueues it and asks for a preemption.
//! 2. [`on_free`](Discipline::on_free): a worker has nothing to run: its task completed, its preemption
//!    has been paid for, it was just granted, or stolen tasks have been put into the pool. The discipline
//!    takes a task and runs it, or lets the worker rest.
//! 3. [`on_stopped`](Discipline::on_stopped): a running task reached the end of its quantum, or was asked
//!    to stop. The discipline lets it go on ([`Pool::resume`], an *elided* preemption, free) or enqueues
//!    it again ([`Pool::enqueue`]); then the worker pays `costs.preemption` and `on_free` comes for it.
//!
//! A preemption has two phases: [`Pool::preempt`] asks, the host answers by `on_stopped` when the worker
//! has stopped. A completion that comes first wins, and the request is forgotten.
//!
//! Tasks of a real service block: a host says so by [`on_blocked`](Discipline::on_blocked) and
//! [`on_ready`](Discipline::on_ready). In between the task is in no lane and on no worker. A task that turns out to have ended
//! when it is about to start, because it was cancelled, is told as one that has completed at once.
//!
//! A host where others may take tasks leaves them outside until [`intake`](Discipline::intake) wants them.
//!
//! A host may switch a worker off where `on_free` would come for it. While tasks wait, or if the worker has been
//! preempted, it says so by [`on_gone`](Discipline::on_gone): what the worker was called for, or was on its way to, has to
//! be done by another.

mod any;
mod decoupled;
mod fcfs;
mod isqd_sita;
pub mod lanes;
mod las;
mod preemptive_sita;
mod processor_sharing;
pub mod round_robin;
mod runnable;
mod sita;
mod sqd_sita;
mod srpt;
mod started;

pub use any::{AnyDiscipline, has_ties};
pub use decoupled::Decoupled;
pub use fcfs::Fcfs;
pub use isqd_sita::IsqdSita;
pub use las::{Las, LasConfig};
pub use preemptive_sita::PreemptiveSita;
pub use processor_sharing::{Fresh, Lone, ProcessorSharing, ProcessorSharingConfig};
pub use runnable::Runnable;
pub use sita::{SitaConfig, SitaFault};
pub use sqd_sita::SqdSita;
pub use srpt::Srpt;
pub use started::STARTED_MAX;

use core::ops::Range;

use crate::{Instant, Picos, TaskId, WorkerId};

/// A queue of a pool, in order of preference; most disciplines have one.
pub type Lane = u32;

/// The end of a lane that a task joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// To be taken next.
    Head,
    /// Behind all others.
    Tail,
}

/// How the tasks of a lane are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// By [`End`]: a queue.
    Queue,
    /// By the key given at [`Pool::enqueue_by`], least first; equal keys first come first served.
    Key,
    /// As [`Order::Key`], for keys that say who came first: nearly all tasks join behind all others, and most of the
    /// rest before them.
    Entry,
}

/// The host's side of a pool: what a discipline may observe and ask for.
pub trait Pool {
    /// A worker of the pool that has nothing to run and may be given a task; the lowest id of them. Such are those only that
    /// [`Discipline::on_free`] left without a task: before it has come for a worker, older tasks could be waiting for that one.
    fn idle(&self) -> Option<WorkerId>;
    /// Tasks in `lane`.
    fn len(&self, lane: Lane) -> u32;
    /// Some worker with its [`Pool::seat`] in `seats` that has nothing to run and may be given a task.
    fn idle_among(&self, seats: Range<u32>) -> Option<WorkerId>;
    /// The lanes with tasks in them, a bit each; those beyond the 64th are left out.
    fn waiting_lanes(&self) -> u64;
    /// The task that would be taken next from `lane`.
    fn head(&self, lane: Lane) -> Option<TaskId>;
    /// The key by which `task` was put into a lane last; under [`Order::Entry`] only.
    fn key(&self, task: TaskId) -> u64;
    /// Takes the head of `lane`.
    fn take(&mut self, lane: Lane) -> Option<TaskId>;
    /// Puts `task` at an end of a queue lane.
    fn enqueue(&mut self, task: TaskId, lane: Lane, end: End);
    /// Puts `task` into a lane that is ordered by key.
    fn enqueue_by(&mut self, task: TaskId, lane: Lane, key: u64);

    /// Runs `task` on `worker` for at most `quantum` ([`Picos::MAX`]: until it completes).
    fn run(&mut self, worker: WorkerId, task: TaskId, quantum: Picos);
    /// In [`Discipline::on_stopped`] only: the stopped task goes on for another `quantum`, at no cost.
    fn resume(&mut self, worker: WorkerId, quantum: Picos);
    /// Asks `worker` to stop its task; [`Discipline::on_stopped`] follows. `false` if that is too late: its task stops
    /// or completes at this very time anyway, or has been asked before.
    fn preempt(&mut self, worker: WorkerId) -> bool;

    /// The place of `worker` among the workers of the pool, from 0.
    fn seat(&self, worker: WorkerId) -> u32;
    /// The worker at place `seat`.
    fn worker(&self, seat: u32) -> WorkerId;
    /// Workers of the pool, as a number for [`Pool::running`].
    fn workers(&self) -> u32;
    /// The workers among them that are not switched off.
    fn present(&self) -> u32 {
        self.workers()
    }
    /// The `i`-th worker of the pool and the task that it runs, `i <` [`Pool::workers`], unless it has been asked to stop.
    fn running(&self, i: u32) -> Option<(WorkerId, TaskId)>;
    /// Does a worker whose task has stopped decide at once what to do next, at no cost?
    fn preemption_is_free(&self) -> bool {
        false
    }
    /// Service that `task` has received so far.
    fn attained(&self, task: TaskId) -> Picos;
    /// The same of a task that does not run.
    fn attained_at_rest(&self, task: TaskId) -> Picos {
        self.attained(task)
    }
    /// Service that `task` still needs. Clairvoyant: only a simulator knows.
    fn remaining(&self, task: TaskId) -> Picos;
}

/// Why a task stopped before it completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// Its quantum is over.
    Quantum,
    /// The discipline asked for it.
    Preempted,
}

/// How many unstarted tasks a pool wants of those that wait at its door, where a host leaves them for others to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intake {
    /// None: no more may start for now.
    None,
    /// One, unless an unstarted one waits in the pool already: it would not start any later for having waited outside.
    Next,
    /// All: where they queue depends on when they came.
    All,
}

/// A discipline. One instance per pool.
pub trait Discipline {
    /// Does it matter in which order workers stop that stop at the same time? Then [`Discipline::tie`] says it, and
    /// tasks that arrive at that time come after them.
    const TIES: bool = false;

    /// Lanes of the pool.
    fn lanes(&self) -> u32 {
        1
    }
    /// How the tasks of the lanes are ordered.
    fn order(&self) -> Order {
        Order::Queue
    }
    /// Tasks of the pool that may be stolen: those of this lane that have not started.
    fn stealable_lane(&self) -> Lane {
        0
    }
    /// Does [`Pool::remaining`] get used? Then the policy is clairvoyant and no runtime can have it.
    fn clairvoyant(&self) -> bool {
        false
    }
    /// A new task.
    fn on_arrival(&mut self, now: Instant, task: TaskId, pool: &mut impl Pool);
    /// A new task that waited for the task of `free` to complete: that worker decides next, by `on_free` or
    /// [`on_gone`](Discipline::on_gone).
    fn on_successor(&mut self, now: Instant, task: TaskId, _free: WorkerId, pool: &mut impl Pool) {
        self.on_arrival(now, task, pool);
    }
    /// `worker` has nothing to run. Leaving it so is allowed: it rests, and may steal.
    fn on_free(&mut self, now: Instant, worker: WorkerId, pool: &mut impl Pool);
    /// `task` has stopped on `worker`.
    fn on_stopped(
        &mut self,
        now: Instant,
        worker: WorkerId,
        task: TaskId,
        why: Stopped,
        pool: &mut impl Pool,
    );
    /// `task` has completed on `worker`, or is about to be moved from there to another pool. Unless that loses its core, `on_free` follows.
    fn on_completed(&mut self, _now: Instant, _worker: WorkerId, _task: TaskId, _pool: &mut impl Pool) {}
    /// `task` has been moved here from another pool; called for the youngest first, `more` older ones follow. Then
    /// `on_free` does.
    fn on_moved(&mut self, _now: Instant, task: TaskId, _more: u32, pool: &mut impl Pool) {
        pool.enqueue(task, 0, End::Head);
    }
    /// How many unstarted tasks should come in now? Asked by hosts that keep them where other workers may take them; others
    /// hand in each task as it arrives.
    fn intake(&self, _pool: &impl Pool) -> Intake {
        Intake::Next
    }
    /// `task` waits on `worker` for something else than a worker: a lock, a message, a time. `on_free` follows.
    fn on_blocked(&mut self, _now: Instant, _worker: WorkerId, _task: TaskId, _pool: &mut impl Pool) {}
    /// `task`, which was blocked, can run again. What is here by itself is for lanes that are queues.
    fn on_ready(&mut self, now: Instant, task: TaskId, pool: &mut impl Pool) {
        pool.enqueue(task, 0, End::Head);
        if let Some(worker) = pool.idle() {
            self.on_free(now, worker, pool);
        }
    }
    /// Does a task whose quantum is over always go on for another one while no other waits in the lanes? Then a host may let
    /// it, without [`Discipline::on_stopped`].
    fn elides(&self) -> bool {
        false
    }
    /// So many workers of the pool have a core from now on.
    fn on_workers(&mut self, _count: u32) {}
    /// `worker` has nothing to run and is switched off; it runs nothing until `on_free` comes for it.
    fn on_gone(&mut self, _now: Instant, _worker: WorkerId, _pool: &mut impl Pool) {}
    /// Of workers whose tasks stop at the same time, the one with the least number is first.
    fn tie(&self, seat: u32) -> u64 {
        u64::from(seat)
    }
    /// May the worker at `seat`, which rests, look for tasks of other pools?
    fn may_steal(&self, _seat: u32) -> bool {
        true
    }
    /// A check that the pool is as the discipline promises: for tests, and for hosts that were told to
    /// look after every event.
    ///
    /// # Errors
    /// What is not as promised, in words.
    fn check(&self, _pool: &impl Pool) -> Result<(), lanes::Broken> {
        Ok(())
    }
}

/// The discipline as a policy file names it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(tag = "policy", rename_all = "kebab-case", deny_unknown_fields))]
pub enum DisciplineConfig {
    /// First come first served, to completion.
    #[default]
    Fcfs,
    /// Processor sharing in quanta, or fluid.
    ProcessorSharing(ProcessorSharingConfig),
    /// Least attained service first, in quanta, or fluid.
    Las(LasConfig),
    /// Shortest remaining processing time first; clairvoyant.
    Srpt,
    /// Lanes by time served, each with servers of its own.
    PreemptiveSita(SitaConfig),
    /// Lanes by time served; servers go where a lane has reservations left, and wait for new tasks otherwise.
    SqdSita(SitaConfig),
    /// The same, but no server waits while there is work: arrivals interrupt instead.
    IsqdSita(SitaConfig),
}

impl DisciplineConfig {
    /// The length of a slice of a task where time is sliced; zero is the fluid limit.
    pub fn quantum(&self) -> Option<Picos> {
        match self {
            DisciplineConfig::ProcessorSharing(config) => Some(config.quantum),
            DisciplineConfig::Las(config) => Some(config.quantum),
            DisciplineConfig::Fcfs
            | DisciplineConfig::Srpt
            | DisciplineConfig::PreemptiveSita(_)
            | DisciplineConfig::SqdSita(_)
            | DisciplineConfig::IsqdSita(_) => None,
        }
    }

    /// Most started tasks of a worker, where the discipline bounds them.
    pub fn started_max(&self) -> Option<u32> {
        match self {
            DisciplineConfig::ProcessorSharing(config) => Some(config.started_max),
            DisciplineConfig::Las(config) => Some(config.started_max),
            DisciplineConfig::Fcfs
            | DisciplineConfig::Srpt
            | DisciplineConfig::PreemptiveSita(_)
            | DisciplineConfig::SqdSita(_)
            | DisciplineConfig::IsqdSita(_) => None,
        }
    }

    /// Its lanes by time served, if it has such.
    pub fn lanes(&self) -> Option<SitaConfig> {
        match self {
            DisciplineConfig::PreemptiveSita(config)
            | DisciplineConfig::SqdSita(config)
            | DisciplineConfig::IsqdSita(config) => Some(*config),
            DisciplineConfig::Fcfs
            | DisciplineConfig::ProcessorSharing(_)
            | DisciplineConfig::Las(_)
            | DisciplineConfig::Srpt => None,
        }
    }
}
