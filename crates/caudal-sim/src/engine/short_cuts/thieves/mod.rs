//! The trait of workers that check each other's queues for tasks to steal: where they are, and which of them comes to a task first. The
//! loop of `stealing` calls it at each arrival and each event of a thief.
//!
//! [`few`] works that out for all of up to 64 at once, each time that somebody has to know; [`many`] keeps them in
//! order, on the rotating ring of [`walks`](crate::engine::kernel::walks). The host that does all else is [`mod@super::stealing`].

mod columns;
mod few;
mod many;

pub(in crate::engine) use few::{CHECK_MAX_PS, FEW, Few};
pub(in crate::engine) use many::Many;

use crate::engine::kernel::keys::Keys;
use crate::engine::kernel::tree::{Earliest, NEVER, WinnerTree};

/// The activity of a worker. It stands in the key of its event, where it is known at once when that comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine) enum Doing {
    /// It runs a task, or will when the check under way is over; its event says until when.
    Running,
    /// It moves tasks from a victim; its event says until when.
    Stealing,
    /// Its own pool has got a task: its walk ends with the check under way, whose end is its event.
    LastCheck,
    /// It is a thief; an event, its own or one of all thieves, says when something may have to be decided. The one
    /// who has no event is a thief.
    Walking,
}

/// Bits of what a worker does, below those of the worker.
const DOING_BITS: u32 = 2;

impl Doing {
    #[inline(always)]
    fn of(key: u64) -> Doing {
        match key & ((1 << DOING_BITS) - 1) {
            0 => Doing::Running,
            1 => Doing::Stealing,
            2 => Doing::LastCheck,
            _ => Doing::Walking,
        }
    }
}

/// Keys of the events of workers: when, whose, and what it does.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct WorkerKeys(Keys);

impl WorkerKeys {
    pub(in crate::engine) fn new(workers: u32) -> WorkerKeys {
        WorkerKeys(Keys::new(workers << DOING_BITS))
    }

    #[inline(always)]
    pub(in crate::engine) fn of(self, worker: usize, time_ps: u64, doing: Doing) -> u64 {
        self.0.of(worker << DOING_BITS | doing as usize, time_ps)
    }

    /// When, and whose.
    #[inline(always)]
    pub(in crate::engine) fn event(self, key: u64) -> (u64, usize) {
        (self.0.time_ps(key), self.0.worker(key) >> DOING_BITS)
    }

    /// See [`Keys::before`].
    #[inline(always)]
    pub(in crate::engine) fn before(self, time_ps: u64) -> u64 {
        self.0.before(time_ps)
    }

    /// See [`Keys::are_old`].
    #[inline(always)]
    pub(in crate::engine) fn are_old(self, now_ps: u64) -> bool {
        self.0.are_old(now_ps)
    }
}

/// One event a worker, at most. The tree is compiled for `LEVELS` levels, or for any number if that is 0.
pub(in crate::engine) struct Events<const LEVELS: u32> {
    pub(in crate::engine) keys: WorkerKeys,
    due: WinnerTree,
    /// Of those that have an event too far ahead for a key, when.
    far_ps: Box<[u64]>,
}

impl<const LEVELS: u32> Events<LEVELS> {
    pub(in crate::engine) fn new(workers: u32) -> Self {
        let leaves = if LEVELS == 0 { workers as usize } else { 1 << LEVELS };
        assert!(workers as usize <= leaves);
        Events {
            keys: WorkerKeys::new(workers),
            due: WinnerTree::new(leaves),
            far_ps: vec![0; leaves].into(),
        }
    }

    /// The key of the first.
    #[inline(always)]
    pub(in crate::engine) fn min(&self) -> u64 {
        self.due.min()
    }

    /// The activity of `worker`.
    #[inline(always)]
    pub(in crate::engine) fn doing(&self, worker: usize) -> Doing {
        Doing::of(self.due.get(worker))
    }

    /// The activity of the worker whose key this is.
    #[inline(always)]
    pub(in crate::engine) fn doing_by(key: u64) -> Doing {
        Doing::of(key)
    }

    /// When the event of `worker`, which has one, comes.
    #[inline(always)]
    pub(in crate::engine) fn due_ps(&self, worker: usize) -> u64 {
        let key = self.due.get(worker);
        if Keys::is_far(key) { self.far_ps[worker] } else { self.keys.event(key).0 }
    }

    /// The event of `worker` comes at `due_ps`; `doing` it waits for that.
    #[inline(always)]
    pub(in crate::engine) fn set(&mut self, worker: usize, due_ps: u64, doing: Doing) {
        let key = self.keys.of(worker, due_ps, doing);
        if Keys::is_far(key) {
            self.far_ps[worker] = due_ps;
        }
        self.set_key(worker, key);
    }

    /// `worker`, a thief, has no event.
    #[inline(always)]
    pub(in crate::engine) fn clear(&mut self, worker: usize) {
        self.set_key(worker, NEVER);
    }

    #[inline(always)]
    fn set_key(&mut self, worker: usize, key: u64) {
        match LEVELS {
            0 => self.due.set(worker, key),
            1..=6 => self.due.unrolled::<LEVELS>().set(worker, key),
            // To inline a climb that long at every place was measured, and is no faster.
            _ => self.set_key_by_call(worker, key),
        }
    }

    #[inline(never)]
    fn set_key_by_call(&mut self, worker: usize, key: u64) {
        self.due.unrolled::<LEVELS>().set(worker, key);
    }

    /// The workers that have an event.
    fn with_event(&self) -> impl Iterator<Item = usize> {
        (0..self.far_ps.len()).filter(|&worker| self.due.get(worker) != NEVER)
    }

    /// When the first comes.
    pub(in crate::engine) fn first_ps(&self) -> Option<u64> {
        self.with_event().map(|worker| self.due_ps(worker)).min()
    }

    /// Counts keys from `base_ps`, which is not later than any event.
    pub(in crate::engine) fn rebase(&mut self, base_ps: u64) {
        let due: Vec<_> =
            self.with_event().map(|worker| (worker, self.due_ps(worker), self.doing(worker))).collect();
        self.keys.0.rebase(base_ps);
        due.into_iter().for_each(|(worker, due_ps, doing)| self.set(worker, due_ps, doing));
    }
}

/// The time at which a thief that was called ends its walk.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct Called {
    pub(in crate::engine) end_ps: u64,
    /// No thief comes to its pool before that; those aside that have been called themselves.
    pub(in crate::engine) alone: bool,
    /// The pool that it checks until then.
    pub(in crate::engine) last: usize,
}

/// Where thieves are. Workers below the one that acts are through with the moment at which it does.
pub(in crate::engine) trait Thieves<const LEVELS: u32> {
    /// How many of `waiting` tasks a thief takes.
    fn steal_amount(&self, waiting: u32) -> u32;
    /// The key of the first event of a thief that is not among `Events`.
    fn key(&self) -> u64;
    /// When that is.
    fn first_ps(&self) -> Option<u64>;
    /// Keys are counted from elsewhere now.
    fn rebase(&mut self, keys: WorkerKeys);
    /// `worker`, whose event this is, begins to walk.
    fn join(&mut self, events: &mut Events<LEVELS>, worker: usize, now_ps: u64);
    /// The event of `worker` has come: it may have found something. Returns the pool to steal from; it does not
    /// walk any more then.
    fn after_alarm(&mut self, events: &mut Events<LEVELS>, worker: usize, now_ps: u64) -> Option<usize>;
    /// `pool` has tasks for thieves now.
    fn set_stealable(&mut self, events: &mut Events<LEVELS>, pool: usize, now_ps: u64, acting: usize);
    /// `pool` has no tasks for thieves any more.
    fn clear_stealable(&mut self, events: &mut Events<LEVELS>, pool: usize, now_ps: u64, acting: usize);
    /// `acting` has stolen from `pool`, which has tasks for thieves all the same.
    fn leave_stealable(&mut self, events: &mut Events<LEVELS>, pool: usize, now_ps: u64, acting: usize);
    /// `worker` ends its walk with the check under way, because a task has arrived in its own pool.
    /// [`Thieves::end`] or [`Thieves::finish_last_check`] must follow then.
    fn call(&mut self, events: &mut Events<LEVELS>, worker: usize, now_ps: u64) -> Called;
    /// The last check of `worker` is over, and with it its walk.
    fn end(&mut self, worker: usize, now_ps: u64);
    /// The last check of `worker` is over, and the task in its own pool is gone. Returns the pool to steal from;
    /// without one, it walks again.
    fn finish_last_check(&mut self, events: &mut Events<LEVELS>, worker: usize, now_ps: u64)
    -> Option<usize>;
    /// Time of checks that has been counted, in ps.
    fn checked_ps(&self) -> u128;
    /// Of the time that `worker` has been walking and that has not been counted, what went to walks that are
    /// over, before anything of `now_ps` has happened.
    fn uncounted_ps(&self, worker: usize, now_ps: u64) -> u128;
    /// Time, in ps, that [`Thieves::end`] has counted for a check of `worker` that ends at `end_ps`.
    fn counted_ps(&self, worker: usize, end_ps: u64) -> u128;
}
