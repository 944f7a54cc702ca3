//! Processor sharing: tasks run in turn, for a quantum each.
//!
//! ## What it does
//! A worker runs a task for one quantum, then puts it at the tail and takes the head. A task that has not
//! run yet may come first (`fresh`), so that a short one waits for little more than the rest of one
//! quantum. `quantum = 0` is the fluid limit: all tasks of the pool share its workers equally.
//! ## When it helps
//! Service times that differ a lot, and nobody knows which request is long: short ones overtake.
//! ## When it hurts
//! Equal service times: slices only delay everyone. Preemptions cost; long requests finish later.
//! ## Parameters
//! * `quantum` (default 2 us): from 100 ns; 0 is fluid, for the simulator only.
//! * `fresh` (default `first`): `first`, a new task runs before those that have; or `tail`, it queues.
//! * `lone` (default `elide`): at the end of its quantum a task that no other waits for goes on free of
//!   charge (`elide`), or yields to itself and pays (`yield`), as coroutines that do not look ahead do.
//! * `started_max` (default 32): at most this many started tasks a worker; others wait unstarted, first come first served. Without
//!   it, a pool that gets more work than it can do starts every task and finishes hardly any (receive livelock). A task that
//!   waits for something else than a worker counts; where all started tasks do so, one more starts.
//! ## Source
//! Luo et al., ASPLOS 2024, sections 2, 3.2 and 4; Kleinrock, J. ACM 1967 (the fluid limit); Mogul and Ramakrishnan, ACM TOCS
//! 1997 (receive livelock); Zhang and Zwart, *Performance Evaluation* 2008 (limited processor sharing).
//! ## Example
//! `discipline = { policy = "processor-sharing", quantum = "2us" }`

#[cfg(feature = "serde")]
use super::started::is_default_started_max;
use super::started::{STARTED_MAX, Started};
use super::{Discipline, End, Intake, Lane, Pool, Stopped};
use crate::{Instant, Picos, TaskId, WorkerId};

/// Where a task that has not run yet joins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Fresh {
    /// Before all that have run, behind other fresh ones.
    #[default]
    First,
    /// At the tail, behind all others.
    Tail,
}

/// The fate of a task whose quantum ends when no other waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Lone {
    /// The task goes on, free of charge.
    #[default]
    Elide,
    /// The task yields and is resumed, at the cost of a preemption.
    Yield,
}

/// The parameters in a policy file.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct ProcessorSharingConfig {
    /// Length of a slice; 0 is the fluid limit.
    pub quantum: Picos,
    /// Where new tasks join.
    pub fresh: Fresh,
    /// The fate of a lone task at the end of its quantum.
    pub lone: Lone,
    /// Most started tasks of a worker at a time; at least 1.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_default_started_max"))]
    pub started_max: u32,
}

impl Default for ProcessorSharingConfig {
    fn default() -> Self {
        ProcessorSharingConfig {
            quantum: Picos::from_micros(2),
            fresh: Fresh::First,
            lone: Lone::Elide,
            started_max: STARTED_MAX,
        }
    }
}

/// Lane of tasks that have not run yet, where these come first.
const FRESH: Lane = 0;
/// Lane of the tasks that wait for their next slice; with [`Fresh::Tail`] also of new tasks.
const ROTATION: Lane = 1;

/// The state machine, a quantum at a time. See the [module](self); [`round_robin`](super::round_robin)
/// says how a pool of one worker can leap over many quanta.
#[derive(Clone, Debug)]
pub struct ProcessorSharing {
    config: ProcessorSharingConfig,
    /// Started, unfinished tasks of the pool, against `started_max`.
    started: Started,
}

impl ProcessorSharing {
    /// A pool that slices its time as `config` says.
    ///
    /// # Panics
    /// If the quantum is 0: the fluid limit has no slices, a host computes it by itself.
    pub fn new(config: ProcessorSharingConfig) -> ProcessorSharing {
        assert!(config.quantum > Picos::ZERO, "the fluid limit is not a sequence of quanta");
        ProcessorSharing { config, started: Started::new(config.started_max) }
    }

    /// The lane to take from next, if any task may run.
    #[inline]
    fn next_lane(&self, pool: &impl Pool) -> Option<Lane> {
        let can_go_on = pool.len(ROTATION) > 0;
        if pool.len(FRESH) > 0 && self.started.may_start(pool, can_go_on) {
            Some(FRESH)
        } else {
            can_go_on.then_some(ROTATION)
        }
    }
}

impl Discipline for ProcessorSharing {
    fn lanes(&self) -> u32 {
        2
    }

    #[inline]
    fn on_arrival(&mut self, now: Instant, task: TaskId, pool: &mut impl Pool) {
        match self.config.fresh {
            Fresh::Tail if !self.started.is_full(pool) => {
                self.started.count += 1;
                pool.enqueue(task, ROTATION, End::Tail);
            }
            Fresh::First | Fresh::Tail => pool.enqueue(task, FRESH, End::Tail),
        }
        if let Some(worker) = pool.idle() {
            self.on_free(now, worker, pool);
        }
    }

    #[inline]
    fn on_free(&mut self, _now: Instant, worker: WorkerId, pool: &mut impl Pool) {
        let Some(lane) = self.next_lane(pool) else { return };
        if let Some(task) = pool.take(lane) {
            self.started.count += u32::from(lane == FRESH);
            pool.run(worker, task, self.config.quantum);
        }
    }

    #[inline]
    fn on_stopped(
        &mut self,
        _now: Instant,
        worker: WorkerId,
        task: TaskId,
        _why: Stopped,
        pool: &mut impl Pool,
    ) {
        // The one that has stopped can go on, so no other starts beyond the bound.
        let another = pool.len(ROTATION) > 0 || (pool.len(FRESH) > 0 && !self.started.is_full(pool));
        if self.config.lone == Lone::Elide && !another {
            pool.resume(worker, self.config.quantum);
        } else {
            pool.enqueue(task, ROTATION, End::Tail);
        }
    }

    #[inline]
    fn on_completed(&mut self, _now: Instant, _worker: WorkerId, _task: TaskId, pool: &mut impl Pool) {
        self.started.count -= 1;
        if self.config.fresh == Fresh::Tail
            && !self.started.is_full(pool)
            && let Some(task) = pool.take(FRESH)
        {
            self.started.count += 1;
            pool.enqueue(task, ROTATION, End::Tail);
        }
    }

    /// A task that has run elsewhere, on a host that moves such, waits for its slice behind those that are here.
    fn on_moved(&mut self, _now: Instant, task: TaskId, _more: u32, pool: &mut impl Pool) {
        if pool.attained(task) == Picos::ZERO {
            pool.enqueue(task, FRESH, End::Head);
        } else {
            self.started.count += 1;
            pool.enqueue(task, ROTATION, End::Tail);
        }
    }

    fn elides(&self) -> bool {
        self.config.lone == Lone::Elide
    }

    fn intake(&self, pool: &impl Pool) -> Intake {
        if !self.started.may_start(pool, pool.len(ROTATION) > 0 || pool.running(0).is_some()) {
            return Intake::None;
        }
        match self.config.fresh {
            Fresh::Tail => Intake::All,
            Fresh::First => Intake::Next,
        }
    }

    fn on_ready(&mut self, now: Instant, task: TaskId, pool: &mut impl Pool) {
        pool.enqueue(task, ROTATION, End::Tail);
        if let Some(worker) = pool.idle() {
            self.on_free(now, worker, pool);
        }
    }
}
