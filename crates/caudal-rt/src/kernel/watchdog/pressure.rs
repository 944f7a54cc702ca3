//! Checks of the workers as a whole: do they get their cores, do they keep up, and is there a class that no probe ever stops?
//!
//! The watchdog calls this twice a second. The findings are in [`WorkerStats`](crate::api::stats::WorkerStats) and
//! [`Snapshot`](crate::api::stats::Snapshot), which `caudal top` shows; each is written to stderr in one line when it begins:
//!
//! * *Starved*: the kernel says (`schedstat`) that a worker's thread was ready to run for a tenth of the time or longer and had no core.
//!   Other programs want the same one.
//! * *Overloaded*: no worker was idle, and a queue is half full or somebody found it full.
//! * *Without probes*: requests of a class had their worker for many quanta, and none of them ever ended one. Most likely their code
//!   was built without probes.

use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use super::of_thread;
use crate::base::say::say;
use crate::board::histogram::Histogram;
use crate::kernel::shared::Shared;
use crate::queue::ring::Ring;
use crate::request::class::CLASSES_MAX;

/// How often the workers are checked.
const EVERY: Duration = Duration::from_millis(500);
/// Share of the time, ready to run and without a core, from which a worker is starved.
const STARVED: f64 = 0.1;
/// Share of the time, with nothing to do, from which a worker keeps up.
const IDLE: f64 = 0.01;
/// Time for which the same line is not written again.
const QUIET: Duration = Duration::from_secs(10);
/// Number of requests of a class that have to have run for long without a probe before a line says so. Not counted are those that may have
/// been short but for the kernel, which gave the core to others meanwhile: one each time that it did.
const ENOUGH: u64 = 20;
/// Number of quanta from which a slice is long.
const LONG: f64 = 8.0;
/// Share of their class's time that such requests have at least: a few short ones that the machine has stalled have less.
const PART: f64 = 0.1;

/// Readings of a worker at a check, to be compared with those of the next one.
#[derive(Clone, Copy, Default)]
struct Reading {
    schedule: Schedule,
    idle: u64,
}

/// Something that is written once when it begins.
#[derive(Default)]
struct Episode {
    written: Option<Instant>,
    lasts: bool,
}

impl Episode {
    /// Notes whether it is so at a check at `time`; is a line to be written?
    fn begins(&mut self, is_so: bool, time: Instant) -> bool {
        let begins = is_so && !self.lasts;
        self.lasts = is_so;
        let quiet = self.written.is_some_and(|written| time.duration_since(written) < QUIET);
        if begins && !quiet {
            self.written = Some(time);
        }
        begins && !quiet
    }
}

/// See the [module](self).
pub(super) struct Watch {
    checked: Instant,
    checked_cycles: u64,
    workers: Box<[Reading]>,
    refused: u64,
    starved: Episode,
    overloaded: Episode,
    /// By class: it was named, or one of its requests has ended a quantum.
    settled: [bool; CLASSES_MAX],
}

impl Watch {
    pub(super) fn new(shared: &Shared) -> Watch {
        let seen = (0..shared.workers.len()).map(|_| Reading::default()).collect();
        Watch {
            checked: Instant::now(),
            checked_cycles: crate::base::clock::now(),
            workers: seen,
            refused: 0,
            starved: Episode::default(),
            overloaded: Episode::default(),
            settled: [false; CLASSES_MAX],
        }
    }

    /// Is anything starved or overloaded, as far as was seen last?
    pub(super) fn lasts(&self) -> bool {
        self.starved.lasts || self.overloaded.lasts
    }

    /// Called at every check of the watchdog.
    pub(super) fn check(&mut self, shared: &Shared) {
        let time = Instant::now();
        let span = time.duration_since(self.checked);
        if span < EVERY {
            return;
        }
        let cycles = crate::base::clock::now();
        let span_cycles = cycles.saturating_sub(self.checked_cycles);
        (self.checked, self.checked_cycles) = (time, cycles);
        let (mut waited, mut idle) = ((0.0, 0), false);
        for (number, (worker, seen)) in shared.workers.iter().zip(&mut self.workers).enumerate() {
            let now = Reading {
                schedule: schedule(worker.mail.thread.load(Relaxed)).unwrap_or(seen.schedule),
                idle: worker.spent.idle.load(Relaxed),
            };
            let waited_ns = now.schedule.waited_ns.saturating_sub(seen.schedule.waited_ns);
            let share = waited_ns as f64 / span.as_nanos() as f64;
            // The first check finds the time that the thread has waited since it began.
            let share = share.min(1.0);
            idle |= now.idle.saturating_sub(seen.idle) as f64 > IDLE * span_cycles as f64;
            idle |= worker.board.idle_since.load(Relaxed) != 0;
            *seen = now;
            worker.pressure.waited_ns.store(now.schedule.waited_ns, Relaxed);
            worker.pressure.starved.store(u64::from(share >= STARVED), Relaxed);
            if share > waited.0 {
                waited = (share, number);
            }
        }
        if self.starved.begins(waited.0 >= STARVED, time) {
            say_starved(waited.1, waited.0, span);
        }
        self.judge_load(shared, idle, span, time);
        self.judge_probes(shared);
    }

    fn judge_load(&mut self, shared: &Shared, idle: bool, span: Duration, time: Instant) {
        let refused = shared.counts.refused.load(Relaxed);
        let more_refused = refused.saturating_sub(self.refused);
        self.refused = refused;
        let waiting = shared.workers.iter().map(|worker| worker.inbox.len()).sum::<usize>()
            + shared.entrance.queue().map_or(0, Ring::len);
        let settings = &shared.settings;
        let half_full = shared.workers.iter().any(|worker| worker.inbox.len() >= settings.inbox / 2)
            || shared.entrance.queue().is_some_and(|entry| entry.len() >= settings.entry / 2);
        let overloaded = !idle && (half_full || more_refused > 0);
        shared.overloaded.store(overloaded, Relaxed);
        if self.overloaded.begins(overloaded, time) {
            let then = match more_refused {
                0 => "submissions wait until there is room".to_owned(),
                refused => format!("{refused} were refused"),
            };
            say!(
                "more requests come than the workers can do: none of them was idle for {span:.1?}, and {waiting} requests \
                 wait unstarted; {then}. What has started is bounded (`started_max`), so the rest is still done as fast as it can be"
            );
        }
    }

    /// Classes whose requests go on for many quanta and never end one.
    fn judge_probes(&mut self, shared: &Shared) {
        let Some(quantum) = quantum_cycles(shared) else { return };
        if !shared.settings.measuring {
            return;
        }
        let names = shared.settings.classes.all();
        let switched_out: u64 = self.workers.iter().map(|seen| seen.schedule.slices).sum();
        for (class, name) in names.iter().enumerate() {
            if self.settled[class] {
                continue;
            }
            let taken = shared.classes.taken(class as u16);
            let bound = LONG * quantum as f64;
            let long = taken.service.count_above(bound);
            if taken.quanta.max() > 0.0 {
                self.settled[class] = true;
            } else if long >= ENOUGH + switched_out
                && time_above(&taken.service, bound) >= PART * taken.service.sum()
            {
                self.settled[class] = true;
                shared.unprobed.fetch_or(1 << class, Relaxed);
                say!(
                    "{long} requests of class `{name}` had their worker for more than {LONG} quanta, and none of them passed a \
                     probe: nothing can pre-empt them. Was their code built with probes (`cargo caudal build`, `caudal cc`)? \
                     Handlers may also place some by hand (`caudal_rt::probe`)"
                );
            }
        }
    }
}

fn say_starved(worker: usize, share: f64, span: Duration) {
    say!(
        "worker {worker} was ready to run and had no core for {:.0} % of {span:.1?}: other programs want the same one. \
         Requests take longer and fewer are done, in proportion; `caudal doctor` says what else runs",
        100.0 * share
    );
}

/// Treatment of a thread by the kernel.
#[derive(Clone, Copy, Default)]
struct Schedule {
    /// For how long it was ready to run and had no core.
    waited_ns: u64,
    /// How often it was given one.
    slices: u64,
}

/// `None` where the kernel does not say.
fn schedule(thread: u32) -> Option<Schedule> {
    let line = of_thread(thread, "schedstat");
    let mut numbers = line.split_whitespace().skip(1).map(str::parse);
    let (Some(Ok(waited_ns)), Some(Ok(slices))) = (numbers.next(), numbers.next()) else { return None };
    Some(Schedule { waited_ns, slices })
}

/// The sum of all values above `bound`, up to the width of the histogram's buckets.
fn time_above(times: &Histogram, bound: f64) -> f64 {
    times
        .buckets()
        .filter(|&(low, ..)| low > bound)
        .map(|(low, high, count)| count as f64 * (low + high) / 2.0)
        .sum()
}

/// The quantum that requests get which have none of their own, in cycles; `None`: quanta do not end.
fn quantum_cycles(shared: &Shared) -> Option<u64> {
    let quantum = shared.settings.system.discipline.quantum()?;
    match shared.quantum.load(Relaxed) {
        0 => Some(shared.clock.cycles(quantum)),
        override_cycles => Some(override_cycles),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_episode_is_written_when_it_begins_and_not_at_once_again() {
        let (start, mut episode) = (Instant::now(), Episode::default());
        let at = |s| start + Duration::from_secs(s);
        assert!(!episode.begins(false, at(0)));
        assert!(episode.begins(true, at(1)));
        assert!(!episode.begins(true, at(20)), "it lasts");
        assert!(!episode.begins(false, at(21)));
        assert!(episode.begins(true, at(22)));
        assert!(!episode.begins(false, at(23)));
        assert!(!episode.begins(true, at(24)), "the last line is two seconds old");
    }

    #[test]
    fn the_kernel_says_how_it_has_treated_a_thread() {
        // SAFETY: the call has no precondition.
        let me = unsafe { libc::gettid() } as u32;
        assert!(schedule(me).is_some_and(|schedule| schedule.slices > 0));
        assert!(schedule(u32::MAX).is_none(), "there is no such thread");
    }
}
