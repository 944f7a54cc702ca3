//! What a worker does that has nothing to run: it looks at others' inboxes, spins, and at last sleeps.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::time::Duration;

use caudal_policy::discipline::Discipline;
use caudal_policy::random::{Draw, hash};
use caudal_policy::rebalance::Rebalance;

use super::Worker;
use crate::cell::{Header, RUNTIME};
use crate::clock::now;
use crate::shared::{Request, Stage};

/// Walks of thieves: the order of all workers, drawn once, and how many walks there have been.
pub(super) struct Walk {
    order: Box<[u16]>,
    seed: u64,
    walks: u64,
}

impl Walk {
    pub(super) fn new(worker: usize, workers: usize, seed: u64) -> Walk {
        let mut order: Box<[u16]> = (0..workers as u16).collect();
        // All walk in one order, as the published systems do; only where they start differs.
        let mut draw = Draw::new(hash(seed, 4), 0);
        for last in (1..workers).rev() {
            order.swap(last, draw.below(last as u32 + 1) as usize);
        }
        Walk { order, seed: hash(seed, 2 + ((worker as u64) << 8)), walks: 0 }
    }
}

impl<D: Discipline> Worker<D> {
    /// There is something to do.
    #[inline(always)]
    pub(super) fn be_busy(&mut self, time: u64) {
        if self.idle_since != 0 {
            self.spent.idle += time.saturating_sub(self.accounted);
            self.accounted = self.accounted.max(time);
            self.idle_since = 0;
            self.board().idle_since.store(0, Relaxed);
        }
    }

    /// Nothing to run: looks elsewhere, waits a little or sleeps. `false` ends the thread.
    pub(super) fn rest(&mut self, time: u64) -> bool {
        if self.idle_since == 0 {
            self.spent.scheduling += time.saturating_sub(self.accounted);
            self.accounted = time;
            self.idle_since = time;
            self.board().idle_since.store(time, Relaxed);
            self.publish_spent();
            crate::cell::send_home();
        }
        if self.may_end() {
            return false;
        }
        if self.find_elsewhere(time) {
            return true;
        }
        let spin = self.shared.settings_spin();
        if time - self.idle_since > spin && self.shared.all_idle_for(spin, time) {
            self.sleep(time);
        } else {
            std::hint::spin_loop();
        }
        true
    }

    fn find_elsewhere(&mut self, time: u64) -> bool {
        if self.rebalance.may_shed() && self.answer_flag() {
            return true;
        }
        (self.rebalance.steals() && self.steal_walk()) || (self.shared.any_stuck() && self.rescue())
    }

    /// Looks at every other inbox once; takes from the first that has requests.
    fn steal_walk(&mut self) -> bool {
        let workers = self.shared.workers.len() as u32;
        let start = self.rebalance.walk_start(Draw::new(self.walk.seed, self.walk.walks), workers);
        self.walk.walks += 1;
        for step in 0..workers {
            let victim = usize::from(self.walk.order[((start + step) % workers) as usize]);
            if victim == self.number {
                continue;
            }
            // What has come to its own inbox meanwhile goes first.
            if !self.shared.workers[self.number].inbox.is_empty() {
                return true;
            }
            let len = self.shared.workers[victim].inbox.len() as u32;
            let amount = self.rebalance.steal_amount(len);
            if amount > 0 && self.take_from(victim, amount) > 0 {
                return true;
            }
        }
        false
    }

    /// Requests of workers that are stuck in a handler may be taken by anybody, whatever the policy. Where there is a dispatcher
    /// it takes them, and places them anew.
    #[cold]
    fn rescue(&mut self) -> bool {
        if self.shared.settings.two_level {
            return false;
        }
        let others = (0..self.shared.workers.len()).filter(|&other| other != self.number);
        let stuck: Vec<usize> =
            others.filter(|&other| self.shared.workers[other].board.stuck.load(Relaxed) != 0).collect();
        stuck.into_iter().any(|victim| {
            let half = (self.shared.workers[victim].inbox.len() as u32).div_ceil(2);
            half > 0 && self.take_from(victim, half) > 0
        })
    }

    /// Moves up to `amount` of the oldest requests of `victim` to the own inbox, in their order; how many came.
    fn take_from(&mut self, victim: usize, amount: u32) -> u32 {
        let mut moved = 0;
        for _ in 0..amount {
            let Some((cell, stamp)) = self.shared.workers[victim].inbox.pop() else { break };
            if !cell.move_to(self.number as u16) {
                Header::drop_ref(cell, RUNTIME);
                continue;
            }
            moved += 1;
            self.shared.workers[victim].board.left.fetch_add(1, Relaxed);
            self.put_into_own(cell, stamp);
        }
        if moved > 0 {
            self.books.received += u64::from(moved);
            self.board().received.store(self.books.received, Relaxed);
        }
        moved
    }

    /// A full inbox is emptied into the pool: nothing is lost, and what is in the pool only this worker can run.
    pub(super) fn put_into_own(&mut self, cell: Request, stamp: u64) {
        while self.shared.workers[self.number].inbox.push(cell, stamp).is_err() {
            let Some((older, _)) = self.shared.workers[self.number].inbox.pop() else { continue };
            self.admit(older, now());
        }
    }

    /// Somebody with too long a queue has asked this worker to take of it.
    fn answer_flag(&mut self) -> bool {
        let flag = &self.shared.workers[self.number].mail.flagged_by;
        if flag.load(Relaxed) == 0 {
            return false;
        }
        let asker = flag.swap(0, AcqRel) as usize - 1;
        let own = self.shared.workers[self.number].inbox.len() as u32;
        let len = self.shared.workers[asker].inbox.len() as u32;
        let amount = self.rebalance.shed_amount(own, len);
        amount > 0 && self.take_from(asker, amount) > 0
    }

    /// Between two requests: is the own queue overloaded, so that somebody else should take of it?
    pub(super) fn maybe_flag(&mut self, time: u64) {
        let own = &self.shared.workers[self.number];
        let Some(oldest) = own.inbox.oldest() else { return };
        let waited = self.shared.clock.picos(time.saturating_sub(oldest));
        let workers = self.shared.workers.len() as u32;
        if workers < 2 || !self.rebalance.sheds(waited) {
            return;
        }
        let mut draw = Draw::new(hash(self.walk.seed, 3), self.books.finished);
        let other = (self.number as u32 + 1 + draw.below(workers - 1)) % workers;
        let flag = &self.shared.workers[other as usize].mail.flagged_by;
        let _ = flag.compare_exchange(0, self.number as u32 + 1, AcqRel, Relaxed);
    }

    /// Everybody has been idle for long enough.
    fn sleep(&mut self, time: u64) {
        let own = &self.shared.workers[self.number];
        let due = self.context.timers.borrow().first_due();
        let longest = (due != u64::MAX).then(|| self.shared.clock.duration(due.saturating_sub(time)));
        if self.source.is_some() {
            // A source is looked at, it does not call.
            return std::thread::sleep(Duration::from_micros(50));
        }
        self.shared.lot.sleep_unless(longest, || {
            !own.inbox.is_empty()
                || !own.mail.woken.is_empty()
                || self.shared.stage() != self.stage
                || (self.stage != Stage::Running && self.shared.dispatcher_done.load(Acquire))
        });
    }
}
