//! A worker that has nothing to run: it checks others' inboxes, spins, and at last sleeps. Called by the worker's loop.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::time::Duration;

use caudal_log::Entry;
use caudal_policy::Picos;
use caudal_policy::discipline::Discipline;
use caudal_policy::random::{Draw, hash};
use caudal_policy::rebalance::Rebalance;

use super::Worker;
use super::pool::Next;
use super::stacks::SLEEP_AT_MOST;
use crate::base::bell::Awaited;
use crate::base::clock::now;
use crate::base::pause::pause;
use crate::drive::source::{PolledSource, Readiness};
use crate::kernel::shared::Stage;
use crate::request::Request;

/// Sleep of a worker whose source nothing can tell of: it has to look.
const NAP: Duration = Duration::from_micros(50);
/// Span between two tries to send replies of a sink without a descriptor, while the runtime sleeps.
const FLUSH_EVERY: Duration = Duration::from_millis(1);
/// Time for which a worker that ends tries to send its last replies.
const FLUSH_LAST: Duration = Duration::from_millis(100);
/// Polls of the inbox between two checks of everything; some 20 ns each.
const POLLS: u32 = 8;

/// Walks of thieves: the order of all workers, drawn once, and how many walks there have been.
pub(super) struct Walk {
    order: Box<[u16]>,
    /// Seeds of the draws of walks and of flags; the number of a draw has the worker above bit 48.
    walk_seed: u64,
    flag_seed: u64,
    worker: u64,
    walks: u64,
    flags: u64,
    /// The worker's own requests, while others are put before them.
    aside: Vec<(Request, u64)>,
    /// Other workers without a flag, a bit each.
    unflagged: Box<[u64]>,
}

impl Walk {
    pub(super) fn new(worker: usize, workers: usize, seed: u64) -> Walk {
        let mut order: Box<[u16]> = (0..workers as u16).collect();
        // All walk in one order, as the published systems do; only where they start differs.
        let mut draw = Draw::new(hash(seed, 4), 0);
        for last in (1..workers).rev() {
            order.swap(last, draw.below(last as u32 + 1) as usize);
        }
        let (walk_seed, flag_seed) = (hash(seed, 2), hash(seed, 3));
        let unflagged = vec![0; workers.div_ceil(64)].into();
        let worker = worker as u64;
        Walk { order, walk_seed, flag_seed, worker, walks: 0, flags: 0, aside: Vec::new(), unflagged }
    }

    /// The number of the next walk, and its draw.
    fn next_walk(&mut self) -> (u64, Draw) {
        self.walks += 1;
        (self.walks, Draw::new(self.walk_seed, self.worker << 48 | self.walks))
    }

    /// The number of the next flag, and its draw.
    fn next_flag(&mut self) -> (u64, Draw) {
        self.flags += 1;
        (self.flags, Draw::new(self.flag_seed, self.worker << 48 | self.flags))
    }
}

/// The place of the `nth` of the bits that are set, if there are so many.
fn nth_one(mut bits: u64, nth: u32) -> Option<u32> {
    (0..nth).for_each(|_| bits &= bits.wrapping_sub(1));
    (bits != 0).then(|| bits.trailing_zeros())
}

impl<D: Discipline> Worker<D> {
    /// Ends the worker's idle time, if it was idle: there is something to do.
    #[inline(always)]
    pub(super) fn be_busy(&mut self, time: u64) {
        if self.idle_since != 0 {
            let time = self.accounted.max(time);
            self.idle_for += time - self.accounted;
            self.me.spent.idle.store(self.idle_for, Relaxed);
            self.account(time);
            self.trace_idle(time);
            self.idle_since = 0;
            self.board().idle_since.store(0, Relaxed);
        }
    }

    /// Nothing to run: checks other queues, waits a little or sleeps. `false` ends the thread.
    pub(super) fn rest(&mut self, time: u64) -> bool {
        self.flush_sinks();
        if self.idle_since == 0 {
            self.account(self.accounted.max(time));
            self.idle_since = time;
            self.board().idle_since.store(time, Relaxed);
            crate::request::send_home();
        }
        if self.may_end() {
            return false;
        }
        if self.find_elsewhere() {
            return true;
        }
        if std::mem::take(&mut self.source_worked) {
            // What a source does itself is work.
            self.be_busy(time);
            return true;
        }
        if !self.stackless.is_empty() {
            self.try_for_stack(time);
        }
        let spin = self.shared.settings_spin();
        if time - self.idle_since > spin && self.shared.all_idle_for(spin, time) {
            if self.give_memory_back() {
                self.sleep(time);
            }
        } else {
            self.wait_a_moment();
        }
        true
    }

    /// Sends the replies of requests that ran here.
    #[inline]
    pub(super) fn flush_sinks(&self) {
        for sink in &self.shared.sinks {
            // SAFETY: this is the worker, where it schedules.
            unsafe { sink.flush(self.number) };
        }
    }

    /// Sends them before `next` runs, unless requests that have not started yet are soon going to add to them. Of `next` itself that is assumed
    /// where a quantum ends what it takes.
    #[inline(always)]
    pub(super) fn flush_before(&mut self, next: Next) {
        let is_soon_over = !self.pool.task(next.task).started && next.quantum != Picos::MAX;
        if !self.shared.sinks.is_empty() && !is_soon_over && !self.has_unstarted() {
            self.flush_sinks();
        }
    }

    /// Replies that may not have been sent.
    fn pending(&self) -> usize {
        // SAFETY: this is the worker, where it schedules.
        self.shared.sinks.iter().map(|sink| unsafe { sink.pending(self.number) }).sum()
    }

    /// Sends what is left at the worker's end. What can not be sent within a bounded time is counted and said.
    pub(super) fn flush_last(&self) {
        let end = now().saturating_add(self.shared.clock.cycles_of(FLUSH_LAST));
        loop {
            self.flush_sinks();
            match self.pending() {
                0 => return,
                left if now() > end => return self.shared.count_unsent(left, self.number),
                _ => pause(NAP),
            }
        }
    }

    /// Polls the inbox alone for a few times, for nearly everything comes there.
    #[inline]
    fn wait_a_moment(&self) {
        let own = self.me;
        let polls = if self.source.is_some() || self.rebalance.steals() { 1 } else { POLLS };
        for _ in 0..polls {
            std::hint::spin_loop();
            if !own.inbox.is_empty() {
                break;
            }
        }
    }

    fn find_elsewhere(&mut self) -> bool {
        if self.rebalance.steals() && self.steal_walk() {
            return true;
        }
        self.shared.any_stuck() && self.rescue()
    }

    /// Checks every other inbox once; takes from the first that has requests.
    fn steal_walk(&mut self) -> bool {
        let workers = self.shared.workers.len() as u32;
        let (number, draw) = self.walk.next_walk();
        let start = self.rebalance.walk_start(draw, workers);
        self.note(Entry::Walk { number, start });
        let (found, worth_a_line) = self.walk_from(start, workers);
        if let Some(log) = &self.log {
            if worth_a_line { log.publish() } else { log.withdraw() }
        }
        found
    }

    /// Walks the order of all workers from `start` on. Is there something to run now? And was there anything to see?
    fn walk_from(&mut self, start: u32, workers: u32) -> (bool, bool) {
        let mut seen = false;
        for step in 0..workers {
            let victim = usize::from(self.walk.order[((start + step) % workers) as usize]);
            if victim == self.number {
                continue;
            }
            // What has come to its own inbox meanwhile goes first.
            if !self.me.inbox.is_empty() {
                self.note(Entry::OwnFirst {});
                return (true, seen);
            }
            let len = self.shared.workers[victim].inbox.len() as u32;
            let amount = self.rebalance.steal_amount(len);
            self.note(Entry::Looked { victim: victim as u32, len, amount });
            if amount == 0 {
                continue;
            }
            seen = true;
            let got = self.take_from(victim, amount);
            self.note(Entry::Stole { victim: victim as u32, got });
            if got > 0 {
                return (true, true);
            }
        }
        (false, seen)
    }

    #[inline]
    fn note(&self, entry: Entry) {
        if let Some(log) = &self.log {
            log.push(entry);
        }
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
    pub(super) fn take_from(&mut self, victim: usize, amount: u32) -> u32 {
        let mut moved = 0;
        for _ in 0..amount {
            let Some((cell, stamp)) = self.shared.workers[victim].inbox.pop() else { break };
            let place = self.shared.place(self.number as u16);
            // SAFETY: the request has come out of that inbox.
            if unsafe { self.shared.workers[victim].give_away(cell, place) } {
                moved += 1;
                if cell.state.load().is_started() {
                    self.me.mail.started.fetch_add(1, Relaxed);
                }
                self.put_into_own(cell, stamp);
            }
        }
        if moved > 0 {
            self.trace_moved(victim, moved);
            self.counts.received += u64::from(moved);
            self.board().received.store(self.counts.received, Relaxed);
        }
        moved
    }

    /// A full inbox is emptied into the pool: nothing is lost, and what is in the pool only this worker can run.
    pub(super) fn put_into_own(&mut self, cell: Request, stamp: u64) {
        while self.me.inbox.push(cell, stamp).is_err() {
            let Some((older, _)) = self.me.inbox.pop() else { continue };
            self.admit(older, now());
        }
    }

    /// Somebody with too long a queue may have asked this worker to take of it.
    #[inline]
    pub(super) fn answer_flag(&mut self) {
        if self.me.mail.flagged_by.load(Relaxed) != 0 {
            self.shed();
        }
    }

    /// Takes from the queue of the worker that has asked until both are equally long. What it takes has waited longest and goes first.
    #[cold]
    fn shed(&mut self) {
        let me = self.me;
        let asker = me.mail.flagged_by.swap(0, AcqRel) as usize - 1;
        let own = me.inbox.len() as u32;
        let len = self.shared.workers[asker].inbox.len() as u32;
        let amount = self.rebalance.shed_amount(own, len);
        if let Some(log) = &self.log {
            log.push(Entry::Shed { asker: asker as u32, own, len, amount });
            log.publish();
        }
        if amount == 0 {
            return;
        }
        let mut aside = std::mem::take(&mut self.walk.aside);
        aside.extend((0..own).map_while(|_| self.me.inbox.pop()));
        self.take_from(asker, amount);
        aside.drain(..).for_each(|(cell, stamp)| self.put_into_own(cell, stamp));
        self.walk.aside = aside;
    }

    /// Between two requests: is the own queue overloaded, so that somebody else should take of it?
    pub(super) fn maybe_flag(&mut self, time: u64) {
        let Some(oldest) = self.me.inbox.oldest() else { return };
        let waited = self.shared.clock.picos(time.saturating_sub(oldest));
        let sheds = self.rebalance.sheds(waited);
        self.note(Entry::Overload { waited_ps: waited.0, sheds });
        if sheds {
            self.flag_another();
        }
        if let Some(log) = &self.log {
            log.publish();
        }
    }

    /// Flags a random other worker that has no flag.
    #[cold]
    fn flag_another(&mut self) {
        for (word, first) in (0..self.shared.workers.len()).step_by(64).enumerate() {
            let bits = self.unflagged(first);
            self.walk.unflagged[word] = bits;
            self.note(Entry::Unflagged { first: first as u32, bits });
        }
        let others: u32 = self.walk.unflagged.iter().map(|bits| bits.count_ones()).sum();
        if others == 0 {
            return;
        }
        let (number, mut draw) = self.walk.next_flag();
        let mut nth = draw.below(others);
        for (word, &bits) in self.walk.unflagged.iter().enumerate() {
            if let Some(bit) = nth_one(bits, nth) {
                return self.flag(number, word as u32 * 64 + bit);
            }
            nth -= bits.count_ones();
        }
    }

    fn flag(&self, number: u64, target: u32) {
        self.note(Entry::Flag { number, target });
        let flag = &self.shared.workers[target as usize].mail.flagged_by;
        // Somebody else may have been faster; then it has a flag, which is what counts.
        let _ = flag.compare_exchange(0, self.number as u32 + 1, AcqRel, Relaxed);
    }

    /// Bits of the other workers from `first` on, 64 at most, that have no flag.
    fn unflagged(&self, first: usize) -> u64 {
        let workers = self.shared.workers.iter().enumerate().skip(first).take(64);
        let unflagged = workers
            .filter(|(worker, other)| *worker != self.number && other.mail.flagged_by.load(Relaxed) == 0);
        unflagged.fold(0, |bits, (worker, _)| bits | 1 << (worker - first))
    }

    /// Everybody has been idle for long enough.
    fn sleep(&mut self, time: u64) {
        let own = self.me;
        let due = self.context.timers.borrow().first_due();
        let mut longest = (due != u64::MAX).then(|| self.shared.clock.duration(due.saturating_sub(time)));
        if !self.stackless.is_empty() {
            // Nobody tells that there are stacks again.
            longest = Some(longest.map_or(SLEEP_AT_MOST, |longest| longest.min(SLEEP_AT_MOST)));
        }
        let mut awaited = Vec::new();
        let mut is_full = false;
        for sink in &self.shared.sinks {
            // SAFETY: this is the worker, where it schedules.
            let (full, pending) = unsafe { (sink.is_full(self.number), sink.pending(self.number) > 0) };
            is_full |= full;
            if !full && !pending {
                continue;
            }
            // SAFETY: as above.
            match unsafe { sink.descriptor(self.number) } {
                Some(descriptor) => awaited.push(Awaited::Writable(descriptor)),
                None => longest = Some(longest.map_or(FLUSH_EVERY, |longest| longest.min(FLUSH_EVERY))),
            }
        }
        // A source that would not be polled is not waited for: it could be readable all the time.
        match self.source.as_mut().filter(|_| !is_full).map(PolledSource::descriptor) {
            None => {}
            Some(Readiness::Descriptor(descriptor)) => awaited.push(Awaited::Readable(descriptor)),
            // The next poll drops it.
            Some(Readiness::Gone) => return,
            // Nothing tells of its requests: it has to be polled.
            Some(Readiness::Unknown) => return pause(NAP),
        }
        if let Some(due) = self.context.source.asked() {
            let span = self.shared.clock.duration(due.saturating_sub(time));
            longest = Some(longest.map_or(span, |longest| longest.min(span)));
        }
        let has_work = || {
            !own.inbox.is_empty()
                || !own.mail.woken.is_empty()
                || self.shared.notice() != self.notice
                || (self.stage != Stage::Running && self.shared.dispatcher_done.load(Acquire))
                || (self.steals && self.shared.any_inbox(|len| self.rebalance.steal_amount(len) > 0))
        };
        match awaited.is_empty() {
            true => self.shared.sleep_unless(longest, has_work),
            false => self.shared.sleep_for_unless(self.number, &awaited, longest, has_work),
        }
        self.trace_sleep(time);
    }
}
