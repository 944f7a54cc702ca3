//! Shortest remaining processing time first, with preemption on arrival.
//!
//! ## What it does
//! The tasks that need the least further service run. A new one that needs less than a running one
//! pre-empts the running task that needs the most. Clairvoyant: it knows every service time.
//! ## When it helps
//! As a reference line: on one server no policy has a lower mean sojourn time.
//! ## When it hurts
//! It cannot be built: service times are not known. The runtime refuses it.
//! ## Parameters
//! None.
//! ## Source
//! Schrage, *Operations Research* 1968.
//! ## Example
//! `discipline = { policy = "srpt" }`

use super::{Discipline, Order, Pool, Stopped};
use crate::{Instant, Picos, TaskId, WorkerId};

/// The state machine of one pool; what it does is in the [module](self). The engine of the simulator, or a worker of the runtime, tells it of
/// arrivals, ends of slices and completions; it answers by calls on the host's pool, and touches nothing else.
#[derive(Clone, Debug)]
pub struct Srpt;

impl Discipline for Srpt {
    fn order(&self) -> Order {
        Order::Key
    }

    fn clairvoyant(&self) -> bool {
        true
    }

    fn on_arrival(&mut self, _now: Instant, task: TaskId, pool: &mut impl Pool) {
        if let Some(worker) = pool.idle() {
            return pool.run(worker, task, Picos::MAX);
        }
        pool.enqueue_by(task, 0, pool.remaining(task).0);
        let longest = (0..pool.workers())
            .filter_map(|i| pool.running(i))
            .map(|(worker, running)| (pool.remaining(running), worker))
            .max_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)));
        if let Some((remaining, worker)) = longest
            && pool.remaining(task) < remaining
        {
            pool.preempt(worker);
        }
    }

    fn on_free(&mut self, _now: Instant, worker: WorkerId, pool: &mut impl Pool) {
        if let Some(task) = pool.take(0) {
            pool.run(worker, task, Picos::MAX);
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
        // Another worker may have taken the task that this preemption was for.
        let overtaken = pool.head(0).is_some_and(|head| pool.remaining(head) < pool.remaining(task));
        if overtaken {
            pool.enqueue_by(task, 0, pool.remaining(task).0);
        } else {
            pool.resume(worker, Picos::MAX);
        }
    }

    fn on_moved(&mut self, _now: Instant, task: TaskId, _more: u32, pool: &mut impl Pool) {
        pool.enqueue_by(task, 0, pool.remaining(task).0);
    }
}
