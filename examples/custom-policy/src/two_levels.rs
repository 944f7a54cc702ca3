//! Two levels: new tasks first, for a while; what is longer waits until nobody is new.
//!
//! ## What it does
//! A task that has not run goes first and runs for at most `cutoff`. If that is not enough, it joins a
//! background queue, which is served in turns of `turn`, and only while no new task waits.
//! ## When it helps
//! Nearly all requests are shorter than `cutoff`, a few are much longer.
//! ## When it hurts
//! Long requests starve when new ones keep all cores busy. A new request waits for up to one `turn`.
//! ## Parameters
//! `cutoff`, `turn`: above 0.
//! ## Source
//! A feedback queue of two levels, as in Kleinrock, *Queueing Systems*, volume 2, 1976.

use caudal_policy::discipline::{Discipline, End, Lane, Pool, Stopped};
use caudal_policy::{Instant, Picos, TaskId, WorkerId};

const NEW: Lane = 0;
const BACKGROUND: Lane = 1;

/// See the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct TwoLevels {
    /// Longest that a new task runs.
    pub cutoff: Picos,
    /// Longest that a background task runs before it is asked again.
    pub turn: Picos,
}

impl Discipline for TwoLevels {
    fn lanes(&self) -> u32 {
        2
    }

    fn stealable_lane(&self) -> Lane {
        NEW
    }

    fn on_arrival(&mut self, _now: Instant, task: TaskId, pool: &mut impl Pool) {
        match pool.idle() {
            Some(worker) => pool.run(worker, task, self.cutoff),
            None => pool.enqueue(task, NEW, End::Tail),
        }
    }

    fn on_free(&mut self, _now: Instant, worker: WorkerId, pool: &mut impl Pool) {
        if let Some(task) = pool.take(NEW) {
            pool.run(worker, task, self.cutoff);
        } else if let Some(task) = pool.take(BACKGROUND) {
            pool.run(worker, task, self.turn);
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
        if pool.len(NEW) + pool.len(BACKGROUND) == 0 {
            // Nobody waits: it goes on at no cost.
            pool.resume(worker, self.turn);
        } else {
            pool.enqueue(task, BACKGROUND, End::Tail);
        }
    }
}
