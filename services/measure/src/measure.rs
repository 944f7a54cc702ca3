//! Measuring: every request is timed by itself, on one core, until each was once served undisturbed.
//!
//! A pass resets the service, serves the warm-up, then serves and times all requests in their order, in stretches of
//! about a millisecond. Between stretches it asks the kernel whether the thread was switched out or the timer
//! interrupted the core; the times of such a stretch are not kept. Neither are those of its first moments, when the
//! caches still hold what the asking left there.
//!
//! ```text
//!   pass 1   ask│··serve serve serve …│ask│··serve …  ✗ switched out  …│ask│··serve serve …
//!   pass 2   ask│·· …  fills what pass 1 left: the ·· and the ✗, which lie elsewhere now …
//! ```
//!
//! A further pass serves *everything* again and fills only the gaps: a request that were merely repeated on the spot
//! would find its own data in the caches, and a service with state would answer otherwise. A switch that the request
//! itself asks for, by waiting for a disk, is a part of it.
//!
//! What this cannot see stays in the times: what the hypervisor takes, and interrupts by devices.
//!
//! Requests that take longer than from one interrupt to the next are never undisturbed. Services of such are timed by what
//! the thread gets of its core, in one pass of which all times are kept ([`Clock::Thread`]).

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::machine::{
    Ticks, TimerInterrupts, clock_cost_ns, nanos, spin_ns, thread_time, times_switched_out,
};
use crate::service::{Clock, Requests, Served, Service};

/// A quarter of what lies between two interrupts by the timer, usually.
const STRETCH: Duration = Duration::from_millis(1);
/// Requests that begin so soon after the kernel was asked find other caches than their like.
const SETTLING: Duration = Duration::from_micros(50);
/// Requests of the warm-up that a pass serves as if they counted, or a multiple of it: the first ones that do count are
/// then beyond the settling, and each pass asks the kernel at other requests.
const LEAD: usize = 500;
/// Gaps that are left after so many passes are filled by disturbed times, and counted.
const MOST_PASSES: u32 = 60;

/// One timed request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timed {
    pub(crate) class: u8,
    pub(crate) ns: u64,
    disturbed: bool,
}

/// What went on around a run. Nothing of it depends on the service's times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conditions {
    pub(crate) passes: u32,
    /// Share of the first pass's stretches in which the thread had to give up its core.
    pub(crate) switched_out: f64,
    /// Requests that the first pass left to the others.
    pub(crate) repeated: usize,
    /// Requests that had to be left as they were, disturbed.
    pub(crate) left: usize,
    /// Mean time of a piece of work that is always the same, before and after.
    pub(crate) spin_ns: f64,
    /// Share of the time that other cores were busy.
    pub(crate) others_busy: f64,
    pub(crate) stolen_ms: u64,
    pub(crate) clock_cost_ns: u64,
}

/// One measurement of a service.
pub(crate) struct Run {
    pub(crate) timed: Vec<Timed>,
    pub(crate) conditions: Conditions,
}

/// Measures all `requests` but the first `warm_up`.
pub(crate) fn measure<S: Service>(
    service: &mut S,
    requests: &Requests,
    warm_up: usize,
    core: usize,
) -> Result<Run> {
    ensure!(warm_up < requests.len(), "there are no requests beyond the warm-up");
    let clock_cost_ns = clock_cost_ns();
    let before = Ticks::read(core)?;
    let spun_before_ns = spin_ns();
    let mut timer = TimerInterrupts::of(core)?;
    let mut times = Times::of(requests.len() - warm_up);
    let switched_out = pass(service, requests, warm_up, LEAD, &mut timer, &mut times)?;
    let repeated = times.gaps();
    let mut passes = 1;
    while times.gaps() > 0 && passes < MOST_PASSES {
        passes += 1;
        let lead = LEAD * (1 + passes as usize % 8);
        pass(service, requests, warm_up, lead, &mut timer, &mut times)?;
    }
    let spin_ns = (spun_before_ns + spin_ns()) / 2.0;
    let after = Ticks::read(core)?;
    let conditions = Conditions {
        passes,
        switched_out,
        repeated,
        left: times.gaps(),
        spin_ns,
        others_busy: after.others_busy(&before, core),
        stolen_ms: after.stolen_ms(&before),
        clock_cost_ns,
    };
    Ok(Run { timed: times.all()?, conditions })
}

/// Serves everything once and keeps the times that are better than those known. Returns the share of stretches in
/// which the thread was switched out.
fn pass<S: Service>(
    service: &mut S,
    requests: &Requests,
    warm_up: usize,
    lead: usize,
    timer: &mut TimerInterrupts,
    times: &mut Times,
) -> Result<f64> {
    let mut reply = Vec::with_capacity(8 << 10);
    service.reset()?;
    let mut at = warm_up.saturating_sub(lead);
    for index in 0..at {
        serve(service, requests.get(index), &mut reply)?;
    }
    let mut stretch = Vec::new();
    let (mut stretches, mut switched_out) = (0, 0);
    while at < requests.len() {
        stretch.clear();
        let asked = (timer.count()?, times_switched_out()?);
        let began = Instant::now();
        let mut now = began;
        while at + stretch.len() < requests.len() && now - began < STRETCH {
            let settling = now - began < SETTLING;
            let (served, ended, ns) = serve(service, requests.get(at + stretch.len()), &mut reply)?;
            stretch.push((served, ns, settling));
            now = ended;
        }
        let told = (timer.count()?, times_switched_out()?);
        stretches += 1;
        switched_out += u32::from(asked.1 != told.1);
        for &(served, ns, settling) in &stretch {
            let ns = ns + served.modelled_ns;
            let disturbed = S::CLOCK == Clock::Wall && (asked != told || settling);
            let timed = Timed { class: served.class, ns, disturbed };
            if at >= warm_up {
                times.offer(at - warm_up, timed);
            }
            at += 1;
        }
    }
    Ok(f64::from(switched_out) / f64::from(stretches))
}

/// Serves one request; returns when it ended and how long it took.
fn serve<S: Service>(service: &mut S, request: &[u8], reply: &mut Vec<u8>) -> Result<(Served, Instant, u64)> {
    reply.clear();
    let got = || if S::CLOCK == Clock::Thread { thread_time() } else { Ok(Duration::ZERO) };
    let begun = got()?;
    let start = Instant::now();
    let served = service.serve(black_box(request), reply)?;
    black_box(&*reply);
    let end = Instant::now();
    let took = match S::CLOCK {
        Clock::Wall => end - start,
        Clock::Thread => got()? - begun,
    };
    service.settle(request, reply)?;
    Ok((served, end, nanos(took)))
}

/// The times so far, by request.
struct Times {
    best: Vec<Option<Timed>>,
}

impl Times {
    fn of(requests: usize) -> Times {
        Times { best: vec![None; requests] }
    }

    fn offer(&mut self, request: usize, timed: Timed) {
        if self.best[request].is_none_or(|known| known.disturbed) {
            self.best[request] = Some(timed);
        }
    }

    /// Requests without an undisturbed time.
    fn gaps(&self) -> usize {
        self.best.iter().filter(|timed| timed.is_none_or(|timed| timed.disturbed)).count()
    }

    fn all(self) -> Result<Vec<Timed>> {
        self.best.into_iter().collect::<Option<_>>().context("a request was not measured")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts what it is asked; its classes depend on its state, its time on the request.
    #[derive(Default)]
    struct Counter {
        resets: u32,
        since_reset: usize,
        settled: u32,
    }

    impl Service for Counter {
        const CLASSES: &'static [&'static str] = &["even", "odd"];

        fn reset(&mut self) -> Result<()> {
            self.resets += 1;
            self.since_reset = 0;
            Ok(())
        }

        fn serve(&mut self, request: &[u8], reply: &mut Vec<u8>) -> Result<Served> {
            self.since_reset += 1;
            reply.extend_from_slice(request);
            let number = u64::from(u32::from_le_bytes(request.try_into()?));
            Ok(Served { class: (self.since_reset % 2) as u8, modelled_ns: number * 1_000_000_000_000 })
        }

        fn settle(&mut self, request: &[u8], reply: &[u8]) -> Result<()> {
            ensure!(request == reply, "replies pile up");
            self.settled += 1;
            Ok(())
        }
    }

    #[test]
    fn all_requests_but_the_warm_up_are_timed_in_order() {
        let core = crate::machine::pin(None).unwrap();
        let mut requests = Requests::default();
        (0..30_000_u32).for_each(|number| requests.push(&number.to_le_bytes()));
        for warm_up in [0, 10, 9_001] {
            let mut counter = Counter::default();
            let run = measure(&mut counter, &requests, warm_up, core).unwrap();
            assert_eq!(counter.resets, run.conditions.passes);
            assert_eq!(counter.settled, 30_000 * run.conditions.passes);
            let modelled: Vec<u64> = run.timed.iter().map(|timed| timed.ns / 1_000_000_000_000).collect();
            assert_eq!(modelled, (warm_up as u64..30_000).collect::<Vec<u64>>(), "the number of each");
            let in_turn = |(at, timed): (usize, &Timed)| usize::from(timed.class) == (at + warm_up + 1) % 2;
            assert!(run.timed.iter().enumerate().all(in_turn), "every pass begins with the first request");
        }
        assert!(measure(&mut Counter::default(), &requests, 30_000, core).is_err());
    }

    /// Works for some ms and sleeps for as long.
    struct Sleeper;

    impl Service for Sleeper {
        const CLASSES: &'static [&'static str] = &[];
        const CLOCK: Clock = Clock::Thread;

        fn reset(&mut self) -> Result<()> {
            Ok(())
        }

        fn serve(&mut self, _request: &[u8], _reply: &mut Vec<u8>) -> Result<Served> {
            std::thread::sleep(Duration::from_millis(30));
            let start = thread_time()?;
            while thread_time()? - start < Duration::from_millis(10) {}
            Ok(Served::default())
        }

        fn settle(&mut self, _request: &[u8], _reply: &[u8]) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn long_requests_are_timed_by_what_they_get_in_one_pass() {
        let core = crate::machine::pin(None).unwrap();
        let mut requests = Requests::default();
        (0..20).for_each(|_| requests.push(&[]));
        let run = measure(&mut Sleeper, &requests, 5, core).unwrap();
        assert_eq!((run.timed.len(), run.conditions.passes, run.conditions.left), (15, 1, 0));
        let least = run.timed.iter().map(|timed| timed.ns).min().unwrap();
        assert!((10_000_000..30_000_000).contains(&least), "{least} ns: without the sleep");
    }

    #[test]
    fn the_first_undisturbed_time_is_kept_not_the_shortest() {
        let mut times = Times::of(1);
        let timed = |ns, disturbed| Timed { class: 0, ns, disturbed };
        assert_eq!(times.gaps(), 1);
        for (offered, gaps) in [(timed(900, true), 1), (timed(500, false), 0), (timed(300, false), 0)] {
            times.offer(0, offered);
            assert_eq!(times.gaps(), gaps);
        }
        times.offer(0, timed(1, true));
        assert_eq!(times.all().unwrap()[0].ns, 500);
    }
}
