//! Least attained service first (LAS), also called foreground–background.
//!
//! ## What it does
//! The tasks that have received the least service run; a new one has received none and preempts. With a
//! quantum, a task keeps its worker for that long before the order is looked at again; `quantum = 0` is
//! the fluid limit, in which equal tasks share.
//! ## When it helps
//! Heavy tails, blindly: the more a request has received, the more it probably still needs.
//! ## When it hurts
//! Light tails, where it favours those that are furthest from done; long requests can starve.
//! ## Parameters
//! `quantum` (default 2 us): from 100 ns; 0 is fluid, for the simulator only.
//! ## Source
//! Nuyens, Wierman, *Performance Evaluation* 2008; Luo et al., ASPLOS 2024, section 3.1.
//! ## Example
//! `discipline = { policy = "las", quantum = "2us" }`

use super::{Discipline, Order, Pool, Stopped};
use crate::{Instant, Picos, TaskId, WorkerId};

/// What a policy file says.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct LasConfig {
    /// Length of a turn; 0 is the fluid limit.
    pub quantum: Picos,
}

impl Default for LasConfig {
    fn default() -> Self {
        LasConfig { quantum: Picos::from_micros(2) }
    }
}

/// The state machine, a quantum at a time. See the [module](self).
#[derive(Clone, Debug)]
pub struct Las {
    quantum: Picos,
}

impl Las {
    /// A pool with the quantum of `config`.
    ///
    /// # Panics
    /// If the quantum is 0: the fluid limit has no turns, a host computes it by itself.
    pub fn new(config: LasConfig) -> Las {
        assert!(config.quantum > Picos::ZERO, "the fluid limit is not a sequence of quanta");
        Las { quantum: config.quantum }
    }
}

impl Discipline for Las {
    fn order(&self) -> Order {
        Order::Key
    }

    fn on_arrival(&mut self, now: Instant, task: TaskId, pool: &mut impl Pool) {
        pool.enqueue_by(task, 0, pool.attained(task).0);
        if let Some(worker) = pool.idle() {
            self.on_free(now, worker, pool);
        }
    }

    fn on_free(&mut self, _now: Instant, worker: WorkerId, pool: &mut impl Pool) {
        if let Some(task) = pool.take(0) {
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
        let overtaken = pool.head(0).is_some_and(|head| pool.attained(head) < attained);
        if overtaken {
            pool.enqueue_by(task, 0, attained.0);
        } else {
            pool.resume(worker, self.quantum);
        }
    }

    fn elides(&self) -> bool {
        true
    }

    fn on_ready(&mut self, now: Instant, task: TaskId, pool: &mut impl Pool) {
        self.on_arrival(now, task, pool);
    }

    fn on_moved(&mut self, _now: Instant, task: TaskId, _more: u32, pool: &mut impl Pool) {
        pool.enqueue_by(task, 0, pool.attained(task).0);
    }
}
