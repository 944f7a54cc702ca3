//! Least attained service first (LAS), also called foreground–background.
//!
//! ## What it does
//! The tasks that have received the least service run; a new one has received none and pre-empts. With a
//! quantum, a task keeps its worker for that long before the order is applied again; `quantum = 0` is
//! the fluid limit, in which equal tasks share.
//! ## When it helps
//! Heavy tails, without knowledge of service times: the more a request has received, the more it probably still needs.
//! ## When it hurts
//! Light tails, where it favours those that are furthest from done; long requests can starve.
//! ## Parameters
//! * `quantum` (default 2 us): from 100 ns; 0 is fluid, for the simulator only.
//! * `started_max` (default 32): at most this many started tasks a worker; others wait unstarted, first come first served. Without
//!   it, a pool that gets more work than it can do starts every task and finishes only the shortest. A task that waits for
//!   something else than a worker counts; where all started tasks do so, one more starts.
//! ## Source
//! Nuyens, Wierman, *Performance Evaluation* 2008; Luo et al., ASPLOS 2024, section 3.1.
//! ## Example
//! `discipline = { policy = "las", quantum = "2us" }`

#[cfg(feature = "serde")]
use super::started::is_default_started_max;
use super::started::{STARTED_MAX, Started};
use super::{Discipline, Intake, Lane, Order, Pool, Stopped};
use crate::{Instant, Picos, TaskId, WorkerId};

/// The parameters in a policy file.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct LasConfig {
    /// Length of a slice; 0 is the fluid limit.
    pub quantum: Picos,
    /// Most started tasks of a worker at a time; at least 1.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_default_started_max"))]
    pub started_max: u32,
}

impl Default for LasConfig {
    fn default() -> Self {
        LasConfig { quantum: Picos::from_micros(2), started_max: STARTED_MAX }
    }
}

/// Lane of tasks that have not run yet.
const FRESH: Lane = 0;
/// Lane of those that have, by what they have received.
const SERVED: Lane = 1;

/// The state machine of one pool, a quantum at a time; what it does is in the [module](self). The engine of the simulator, or a worker of the runtime, tells it of
/// arrivals, ends of slices and completions; it answers by calls on the host's pool, and touches nothing else.
#[derive(Clone, Debug)]
pub struct Las {
    quantum: Picos,
    started: Started,
}

impl Las {
    /// A pool with the quantum and the bound of `config`.
    ///
    /// # Panics
    /// If the quantum is 0: the fluid limit has no slices, a host computes it by itself.
    pub fn new(config: LasConfig) -> Las {
        assert!(config.quantum > Picos::ZERO, "the fluid limit is not a sequence of quanta");
        Las { quantum: config.quantum, started: Started::new(config.started_max) }
    }

    /// The lane to take from next, if any task waits that may run.
    #[inline]
    fn next_lane(&self, pool: &impl Pool) -> Option<Lane> {
        let can_go_on = pool.len(SERVED) > 0;
        if pool.len(FRESH) > 0 && self.started.may_start(pool, can_go_on) {
            Some(FRESH)
        } else {
            can_go_on.then_some(SERVED)
        }
    }
}

impl Discipline for Las {
    fn lanes(&self) -> u32 {
        2
    }

    fn order(&self) -> Order {
        Order::Key
    }

    fn on_arrival(&mut self, now: Instant, task: TaskId, pool: &mut impl Pool) {
        pool.enqueue_by(task, FRESH, 0);
        if let Some(worker) = pool.idle() {
            self.on_free(now, worker, pool);
        }
    }

    fn on_free(&mut self, _now: Instant, worker: WorkerId, pool: &mut impl Pool) {
        let Some(lane) = self.next_lane(pool) else { return };
        if let Some(task) = pool.take(lane) {
            self.started.count += u32::from(lane == FRESH);
            pool.run(worker, task, self.quantum);
        }
    }

    fn on_stopped(
        &mut self,
        _now: Instant,
        worker: WorkerId,
        task: TaskId,
        _why: Stopped,
        pool: &mut impl Pool,
    ) {
        let attained = pool.attained(task);
        let starts = pool.len(FRESH) > 0 && !self.started.is_full(pool);
        let least =
            if starts { Some(Picos::ZERO) } else { pool.head(SERVED).map(|head| pool.attained(head)) };
        if least.is_some_and(|least| least < attained) {
            pool.enqueue_by(task, SERVED, attained.0);
        } else {
            pool.resume(worker, self.quantum);
        }
    }

    fn on_completed(&mut self, _now: Instant, _worker: WorkerId, _task: TaskId, _pool: &mut impl Pool) {
        self.started.count -= 1;
    }

    fn elides(&self) -> bool {
        true
    }

    fn intake(&self, pool: &impl Pool) -> Intake {
        let can_go_on = pool.len(SERVED) > 0 || pool.running(0).is_some();
        if self.started.may_start(pool, can_go_on) { Intake::Next } else { Intake::None }
    }

    fn on_ready(&mut self, now: Instant, task: TaskId, pool: &mut impl Pool) {
        pool.enqueue_by(task, SERVED, pool.attained(task).0);
        if let Some(worker) = pool.idle() {
            self.on_free(now, worker, pool);
        }
    }

    fn on_moved(&mut self, _now: Instant, task: TaskId, _more: u32, pool: &mut impl Pool) {
        let attained = pool.attained(task);
        if attained == Picos::ZERO {
            pool.enqueue_by(task, FRESH, 0);
        } else {
            self.started.count += 1;
            pool.enqueue_by(task, SERVED, attained.0);
        }
    }
}
