//! First come, first served: a task runs to completion.
//!
//! ## What it does
//! A free worker takes the oldest task of its pool and runs it until it completes.
//! ## When it helps
//! Service times that hardly differ: no preemption, no state, the best tail there is for them.
//! ## When it hurts
//! One long request blocks all that wait behind it.
//! ## Parameters
//! None.
//! ## Source
//! Kleinrock, *Queueing Systems*, 1975; McClure et al., NSDI 2022, section 3.1.
//! ## Example
//! `discipline = { policy = "fcfs" }`

use super::{Discipline, End, Pool, Stopped};
use crate::{Instant, Picos, TaskId, WorkerId};

/// The state machine of one pool; what it does is in the [module](self). The engine of the simulator, or a worker of the runtime, tells it of
/// arrivals, ends of slices and completions; it answers by calls on the host's pool, and touches nothing else.
#[derive(Clone, Debug)]
pub struct Fcfs;

impl Discipline for Fcfs {
    #[inline]
    fn on_arrival(&mut self, _now: Instant, task: TaskId, pool: &mut impl Pool) {
        match pool.idle() {
            Some(worker) => pool.run(worker, task, Picos::MAX),
            None => pool.enqueue(task, 0, End::Tail),
        }
    }

    #[inline]
    fn on_free(&mut self, _now: Instant, worker: WorkerId, pool: &mut impl Pool) {
        if let Some(task) = pool.take(0) {
            pool.run(worker, task, Picos::MAX);
        }
    }

    fn on_stopped(
        &mut self,
        _now: Instant,
        worker: WorkerId,
        _task: TaskId,
        _why: Stopped,
        pool: &mut impl Pool,
    ) {
        pool.resume(worker, Picos::MAX);
    }
}
