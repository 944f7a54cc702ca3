//! The watchdog: a look at every worker now and then, from the helper's thread.
//!
//! A handler that blocks its thread (a system call, a lock of the standard library that a coroutine of the same worker holds)
//! keeps the worker from everything else. The watchdog sees a slice that does not end, counts it, names the class, and marks
//! the worker as stuck: others then take the requests that have not started there.

pub(crate) mod dump;

use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Relaxed};

use crate::clock::now;
use crate::config::OnStuck;
use crate::helper::WATCH_EVERY;
use crate::shared::{Shared, Stage};

/// See the [module](self).
pub(crate) struct Watchdog<'a> {
    shared: &'a Arc<Shared>,
    stuck_after: u64,
    /// By worker: the slice that was found too long last.
    counted: Box<[u64]>,
    /// By worker: the slice that was reported last.
    reported: Box<[u64]>,
    /// By worker: a slice that has been too long, and the thread's time on a core then.
    suspected: Box<[(u64, u64)]>,
    /// Not more than one line a second.
    quiet_until: u64,
}

impl<'a> Watchdog<'a> {
    pub(crate) fn new(shared: &'a Arc<Shared>) -> Watchdog<'a> {
        let stuck_after = shared.clock.cycles_of(shared.settings.stuck_after);
        let none: Box<[u64]> = vec![0; shared.workers.len()].into();
        Watchdog {
            shared,
            stuck_after,
            counted: none.clone(),
            reported: none,
            suspected: vec![(0, 0); shared.workers.len()].into(),
            quiet_until: 0,
        }
    }

    /// Looks at every worker; is there any reason to look again? There is while any thread of the runtime is up: who spins takes a
    /// request without ringing for anybody.
    pub(crate) fn look(&mut self) -> bool {
        let time = now();
        let threads = self.shared.workers.len() + usize::from(self.shared.settings.two_level);
        let mut busy = (self.shared.lot.sleepers() as usize) < threads;
        for (number, worker) in self.shared.workers.iter().enumerate() {
            let begun = worker.board.slice_start.load(Relaxed);
            busy |= begun != 0 || worker.board.idle_since.load(Relaxed) == 0;
            let too_long =
                begun != 0 && time.saturating_sub(begun) > self.stuck_after && self.is_stuck(number, begun);
            self.mark(number, too_long);
            if too_long && self.counted[number] != begun {
                self.counted[number] = begun;
                self.shared.counts.stuck.fetch_add(1, Relaxed);
            }
            // One that lasts is reported also if another line has just been written: when it may be again.
            if too_long && self.reported[number] != begun && time >= self.quiet_until {
                self.reported[number] = begun;
                self.report(number, time - begun, time);
            }
        }
        busy || self.shared.lot.sleepers() == 0 && self.shared.stage() != Stage::Stopping
    }

    /// Is the thread in its handler's hands? Not if it is ready to run and has had no core since the last look: then the
    /// operating system has stopped it, and no handler of ours.
    fn is_stuck(&mut self, number: usize, slice: u64) -> bool {
        let thread = self.shared.workers[number].mail.thread.load(Relaxed);
        let read =
            |name| std::fs::read_to_string(format!("/proc/self/task/{thread}/{name}")).unwrap_or_default();
        let runnable = read("stat").rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('R'));
        if !runnable {
            return true;
        }
        // Time on a core, in ns.
        let ran = read("schedstat").split(' ').next().and_then(|ran| ran.parse().ok()).unwrap_or(0);
        let before = std::mem::replace(&mut self.suspected[number], (slice, ran));
        before.0 == slice && before.1 != ran
    }

    fn mark(&self, number: usize, stuck: bool) {
        let board = &self.shared.workers[number].board;
        if board.stuck.swap(u64::from(stuck), AcqRel) == u64::from(stuck) {
            return;
        }
        if stuck {
            self.shared.stuck.fetch_add(1, Relaxed);
            self.shared.wake_sleepers();
        } else {
            self.shared.stuck.fetch_sub(1, Relaxed);
        }
    }

    fn report(&mut self, number: usize, span: u64, time: u64) {
        self.quiet_until = time + self.shared.clock.cycles_of(WATCH_EVERY) * 200;
        let class = self.shared.workers[number].board.class.load(Relaxed) as u16;
        let class = self.shared.settings.classes.name(class);
        eprintln!(
            "caudal: worker {number} has been in one request of class `{class}` for {:?} without a probe: does its handler block the \
             thread (a system call, std::sync::Mutex)? Others take what waits there",
            self.shared.clock.duration(span)
        );
        if self.shared.settings.on_stuck == OnStuck::Dump {
            let thread = self.shared.workers[number].mail.thread.load(Relaxed);
            let span = self.shared.clock.duration(span);
            dump::dump(dump::Stuck { number, thread, slice: self.reported[number], class, span });
        }
    }
}
