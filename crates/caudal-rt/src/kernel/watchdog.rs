//! The watchdog: it checks every worker now and then. Called by the helper's thread.
//!
//! A handler that blocks its thread (a system call, a lock of the standard library that a coroutine of the same worker holds)
//! keeps the worker from everything else. The watchdog sees a slice that does not end, counts it, names the class, and marks
//! the worker as stuck: others then take the requests that have not started there.
//!
//! *What is too long.* Where quanta end, a request that has not given its worker back [`Builder::stuck_after`] after its
//! quantum has no probe where it is. Where they do not (first come, first served), to run for long is what requests do: there
//! only one is stuck whose thread does not run. It has slept in the kernel at two checks, and in the time between them as well,
//! but for a tenth; a single nap, or one page that is read, is nothing.
//!
//! [`Builder::stuck_after`]: crate::Builder::stuck_after

mod calls;
pub(crate) mod dump;
pub(crate) mod pressure;

use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Relaxed};
use std::time::{Duration, Instant};

use crate::base::clock::now;
use crate::base::say::say;
use crate::board::Slice;
use crate::kernel::helper::WATCH_EVERY;
use crate::kernel::settings::OnStuck;
use crate::kernel::shared::{Shared, Stage};

/// See the [module](self).
pub(crate) struct Watchdog<'a> {
    shared: &'a Arc<Shared>,
    stuck_after: u64,
    /// By worker: the slice that was found too long last.
    counted: Box<[u64]>,
    /// By worker: the slice that was reported last.
    reported: Box<[u64]>,
    /// By worker: a slice that has been too long, as the last check found it.
    suspected: Box<[Suspect]>,
    /// Not more than one line a second.
    quiet_until: u64,
    watch: pressure::Watch,
}

/// Findings of a check of a slice that has been too long.
#[derive(Clone, Copy, Default)]
struct Suspect {
    /// When the slice began; 0: none.
    slice: u64,
    /// When the check was.
    checked: Option<Instant>,
    /// The thread's time on a core until then.
    ran: Duration,
    /// It did not want a core at that moment.
    asleep: bool,
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
            suspected: vec![Suspect::default(); shared.workers.len()].into(),
            quiet_until: 0,
            watch: pressure::Watch::new(shared),
        }
    }

    /// Checks every worker; is there any reason to check again? There is while any thread of the runtime is up: a worker that spins takes
    /// a request without ringing for anybody.
    pub(crate) fn check(&mut self) -> bool {
        self.watch.check(self.shared);
        let time = now();
        let threads = self.shared.workers.len() + usize::from(self.shared.settings.two_level);
        let mut busy = (self.shared.event_count.sleepers() as usize) < threads;
        for (number, worker) in self.shared.workers.iter().enumerate() {
            let begun = worker.board.slice_start.load(Relaxed);
            busy |= begun != 0 || worker.board.idle_since.load(Relaxed) == 0;
            let over_after = Slice(worker.board.slice.load(Relaxed)).over_after();
            let patience = self.stuck_after.saturating_add(over_after.unwrap_or(0));
            let too_long = begun != 0
                && time.saturating_sub(begun) > patience
                && self.is_stuck(number, begun, over_after.is_some());
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
        // A line about a runtime that has fallen asleep since then has to be taken back.
        busy || self.watch.lasts()
            || self.shared.event_count.sleepers() == 0 && self.shared.stage() != Stage::Stopping
    }

    /// Is the worker stuck in its handler, in this slice?
    fn is_stuck(&mut self, number: usize, slice: u64, has_quantum: bool) -> bool {
        let thread = self.shared.workers[number].mail.thread.load(Relaxed);
        let now = Suspect {
            slice,
            checked: Some(Instant::now()),
            ran: time_on_core(thread),
            asleep: is_asleep(thread),
        };
        let before = std::mem::replace(&mut self.suspected[number], now);
        let ran = now.ran.saturating_sub(before.ran);
        if has_quantum {
            // One that is ready to run and has had no core since the last check was stopped by the operating system, and by no handler
            // of ours.
            return now.asleep || before.slice == slice && !ran.is_zero();
        }
        let Some(checked) = before.checked.filter(|_| before.slice == slice) else { return false };
        before.asleep && now.asleep && ran * 10 < checked.elapsed()
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
        let slice = Slice(self.shared.workers[number].board.slice.load(Relaxed));
        let class = self.shared.settings.classes.name(slice.class());
        let how = if slice.over_after().is_some() { "without a probe" } else { "and sleeps in the kernel" };
        let thread = self.shared.workers[number].mail.thread.load(Relaxed);
        let why = match calls::sleeps_in(thread) {
            Some(call) => {
                format!("its thread sleeps in {call}, and no other request of it runs until that is over.")
            }
            None => "does its handler have a loop without a probe?".to_owned(),
        };
        let dumps = self.shared.settings.on_stuck == OnStuck::Dump;
        let where_it_is =
            if dumps { "" } else { ". Builder::on_stuck(OnStuck::Dump), in C on_stuck, shows where it is" };
        say!(
            "worker {number} has been in one request of class `{class}` for {:?} {how}: {why} Others take what waits there{where_it_is}",
            self.shared.clock.duration(span)
        );
        if dumps {
            let span = self.shared.clock.duration(span);
            dump::dump(dump::Stuck { number, thread, slice: self.reported[number], class, span });
        }
    }
}

/// A file of the kernel about a thread of this process; empty if the thread is gone.
fn of_thread(thread: u32, name: &str) -> String {
    std::fs::read_to_string(format!("/proc/self/task/{thread}/{name}")).unwrap_or_default()
}

/// Does the thread wait for something other than a core?
fn is_asleep(thread: u32) -> bool {
    // The state follows the name, which is in brackets and may have any characters.
    !of_thread(thread, "stat").rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('R'))
}

fn time_on_core(thread: u32) -> Duration {
    Duration::from_nanos(
        of_thread(thread, "schedstat").split(' ').next().and_then(|ran| ran.parse().ok()).unwrap_or(0),
    )
}
