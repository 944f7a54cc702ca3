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
//! What this cannot see is what the hypervisor takes, and interrupts by devices. Services whose requests are the same work many
//! times over read the clock in between ([`Units`](crate::units::Units)): a request that was stalled there is measured again
//! like one that was disturbed. One that is stalled in each of ten passes is slow by itself: its first time is kept, and marked.
//! Left out, stalled requests would be missed: the longer a request, the more of them it meets. In the times of all
//! other services, such stalls stay.
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
use crate::units::Units;

/// Length of a stretch: usually a quarter of the time between two interrupts by the timer.
const STRETCH: Duration = Duration::from_millis(1);
/// Room for a reply, so that none waits for memory.
const REPLY_BYTES: usize = 64 << 10;
/// Times of requests that begin this soon after the kernel was asked are not kept, because the caches still hold the kernel's data.
const SETTLING: Duration = Duration::from_micros(50);
/// Requests of the warm-up that a pass serves as if they counted, or a multiple of it: the first ones that do count are
/// then beyond the settling, and each pass asks the kernel at other requests.
const LEAD: usize = 500;
/// Gaps that are left after so many passes are filled by disturbed times, and counted.
const MOST_PASSES: u32 = 60;
/// A request that was stalled so often, and otherwise undisturbed, is taken as it is.
const MOST_STALLS: u8 = 10;
/// Requests that show what a unit of a request usually takes.
const LEARNT: usize = 2_000;

/// One timed request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timed {
    pub(crate) class: u8,
    pub(crate) ns: u64,
    /// Time that the request was stalled, which is a part of `ns`.
    pub(crate) stall_ns: u64,
    disturbed: bool,
}

/// The state of the machine around a run. None of it depends on the service's times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conditions {
    pub(crate) passes: u32,
    /// Share of the first pass's stretches in which the thread had to give up its core.
    pub(crate) switched_out: f64,
    /// Requests that the first pass left to the others.
    pub(crate) repeated: usize,
    /// Requests whose times were disturbed in all passes.
    pub(crate) left: usize,
    /// Share of the first times that the kernel knows no disturbance of, but in which the request was stalled.
    pub(crate) stalled: f64,
    /// Requests that are kept with a stall, because they never came out without.
    pub(crate) marked: usize,
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
    /// The first times without a disturbance that the kernel knows of, stalls and all.
    pub(crate) first_ns: Vec<u64>,
    /// Words, keys … of all the requests that were timed.
    pub(crate) items: usize,
    /// Does the service say how far it is, so that stalls are seen?
    pub(crate) watched: bool,
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
    learn(service, requests)?;
    let before = Ticks::read(core)?;
    let spun_before_ns = spin_ns();
    let mut timer = TimerInterrupts::of(core)?;
    let watched = service.units().is_some();
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
        left: times.disturbed(),
        stalled: times.stalled(),
        marked: times.marked(),
        spin_ns,
        others_busy: after.others_busy(&before, core),
        stolen_ms: after.stolen_ms(&before),
        clock_cost_ns,
    };
    let items = requests.all().skip(warm_up).map(S::items).sum();
    let (timed, first_ns) = times.all()?;
    Ok(Run { timed, first_ns, items, watched, conditions })
}

/// Serves some requests to see how long their units take.
fn learn<S: Service>(service: &mut S, requests: &Requests) -> Result<()> {
    if service.units().is_none() {
        return Ok(());
    }
    service.reset()?;
    let mut reply = Vec::with_capacity(REPLY_BYTES);
    for request in requests.all().take(LEARNT) {
        serve(service, request, &mut reply)?;
    }
    service.units().into_iter().for_each(Units::learn);
    Ok(())
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
    let mut reply = Vec::with_capacity(REPLY_BYTES);
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
            let done = serve(service, requests.get(at + stretch.len()), &mut reply)?;
            now = done.ended;
            stretch.push((done, settling));
        }
        let told = (timer.count()?, times_switched_out()?);
        stretches += 1;
        switched_out += u32::from(asked.1 != told.1);
        for &(Done { served, ns, stall_ns, .. }, settling) in &stretch {
            let ns = ns + served.modelled_ns;
            let disturbed = S::CLOCK == Clock::Wall && (asked != told || settling);
            let timed = Timed { class: served.class, ns, stall_ns, disturbed };
            if at >= warm_up {
                times.offer(at - warm_up, timed);
            }
            at += 1;
        }
    }
    Ok(f64::from(switched_out) / f64::from(stretches))
}

/// A request that was served.
#[derive(Clone, Copy)]
struct Done {
    served: Served,
    ended: Instant,
    ns: u64,
    stall_ns: u64,
}

fn serve<S: Service>(service: &mut S, request: &[u8], reply: &mut Vec<u8>) -> Result<Done> {
    reply.clear();
    let got = || if S::CLOCK == Clock::Thread { thread_time() } else { Ok(Duration::ZERO) };
    let begun = got()?;
    let start = Instant::now();
    if let Some(units) = service.units() {
        units.begin(start);
    }
    let served = service.serve(black_box(request), reply)?;
    black_box(&*reply);
    let ended = Instant::now();
    let took = match S::CLOCK {
        Clock::Wall => ended - start,
        Clock::Thread => got()? - begun,
    };
    let stall_ns = service.units().map_or(0, |units| units.end(ended));
    service.settle(request, reply)?;
    Ok(Done { served, ended, ns: nanos(took), stall_ns })
}

/// The times so far, by request.
struct Times {
    known: Vec<Option<Known>>,
}

#[derive(Clone, Copy)]
struct Known {
    best: Timed,
    /// The first time, of those without a disturbance if there is any.
    first: Timed,
    /// How many times of it were stalled, and not disturbed.
    stalls: u8,
}

impl Times {
    fn of(requests: usize) -> Times {
        Times { known: vec![None; requests] }
    }

    /// Keeps the first time that is neither disturbed nor stalled; as long as there is none, the first that is not disturbed.
    fn offer(&mut self, request: usize, timed: Timed) {
        let stalled = u8::from(!timed.disturbed && timed.stall_ns > 0);
        let Some(known) = &mut self.known[request] else {
            self.known[request] = Some(Known { best: timed, first: timed, stalls: stalled });
            return;
        };
        if !known.is_gap() {
            return;
        }
        known.stalls += stalled;
        if known.best.disturbed {
            known.first = timed;
        }
        if known.best.disturbed || (!timed.disturbed && timed.stall_ns == 0) {
            known.best = timed;
        }
    }

    /// Requests that are to be served again.
    fn gaps(&self) -> usize {
        self.known.iter().filter(|known| known.is_none_or(|known| known.is_gap())).count()
    }

    fn count(&self, of: impl Fn(&Known) -> bool) -> usize {
        self.known.iter().flatten().filter(|known| of(known)).count()
    }

    /// Requests of which all times are disturbed.
    fn disturbed(&self) -> usize {
        self.count(|known| known.best.disturbed)
    }

    /// Requests that are known by nothing better than a stalled time.
    fn marked(&self) -> usize {
        self.count(|known| known.best.stall_ns > 0)
    }

    /// Share of the undisturbed first times that are stalled.
    fn stalled(&self) -> f64 {
        let undisturbed = self.count(|known| !known.first.disturbed);
        let stalled = self.count(|known| !known.first.disturbed && known.first.stall_ns > 0);
        if undisturbed == 0 { 0.0 } else { stalled as f64 / undisturbed as f64 }
    }

    /// The times that are kept, and the first times in ns.
    fn all(self) -> Result<(Vec<Timed>, Vec<u64>)> {
        let known = self.known.into_iter().map(|known| known.map(|known| (known.best, known.first.ns)));
        let all: Option<(Vec<Timed>, Vec<u64>)> = known.collect();
        all.context("a request was not measured")
    }
}

impl Known {
    fn is_gap(&self) -> bool {
        self.best.disturbed || (self.best.stall_ns > 0 && self.stalls < MOST_STALLS)
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
        let timed = |ns, disturbed| Timed { class: 0, ns, stall_ns: 0, disturbed };
        assert_eq!(times.gaps(), 1);
        for (offered, gaps) in [(timed(900, true), 1), (timed(500, false), 0), (timed(300, false), 0)] {
            times.offer(0, offered);
            assert_eq!(times.gaps(), gaps);
        }
        times.offer(0, timed(1, true));
        let (timed, first_ns) = times.all().unwrap();
        assert_eq!((timed[0].ns, first_ns[0]), (500, 500));
    }

    #[test]
    fn a_stalled_time_gives_way_to_one_without_a_stall() {
        let mut times = Times::of(1);
        let timed = |ns, stall_ns, disturbed| Timed { class: 0, ns, stall_ns, disturbed };
        for (offered, kept_ns) in [
            (timed(70_000, 40_000, true), 70_000),
            (timed(60_000, 30_000, false), 60_000),
            (timed(50_000, 20_000, false), 60_000),
            (timed(29_000, 0, true), 60_000),
        ] {
            times.offer(0, offered);
            assert_eq!((times.known[0].unwrap().best.ns, times.gaps(), times.marked()), (kept_ns, 1, 1));
        }
        assert_eq!((times.disturbed(), times.stalled()), (0, 1.0));
        times.offer(0, timed(30_000, 0, false));
        times.offer(0, timed(28_000, 0, false));
        assert_eq!((times.gaps(), times.marked()), (0, 0));
        let (timed, first_ns) = times.all().unwrap();
        assert_eq!((timed[0].ns, timed[0].stall_ns, first_ns[0]), (30_000, 0, 60_000));
    }

    #[test]
    fn what_is_stalled_in_every_pass_is_kept_with_its_mark() {
        let mut times = Times::of(1);
        for stalls in 1..=u64::from(MOST_STALLS) {
            assert_eq!(times.gaps(), 1);
            times.offer(0, Timed { class: 0, ns: 9_000 + stalls, stall_ns: 5_000, disturbed: false });
        }
        assert_eq!((times.gaps(), times.marked(), times.disturbed()), (0, 1, 0));
        let (timed, _) = times.all().unwrap();
        assert_eq!((timed[0].ns, timed[0].stall_ns), (9_001, 5_000));
    }

    /// Ten units of ten bytes and a few microseconds; before the sixth, some requests wait: for 60 us where they are asked to for
    /// good, and as often as is said where the machine is meant.
    struct Stalling {
        units: Units,
        waits_of_the_machine: u32,
    }

    const FINE: &[u8] = b"fine";
    const SLOW: &[u8] = b"slow";

    impl Service for Stalling {
        const CLASSES: &'static [&'static str] = &[];

        fn reset(&mut self) -> Result<()> {
            Ok(())
        }

        fn serve(&mut self, request: &[u8], _reply: &mut Vec<u8>) -> Result<Served> {
            for unit in 0..10 {
                wait(Duration::from_micros(3));
                if unit == 5 && request == SLOW {
                    wait(Duration::from_micros(60));
                }
                self.units.mark(10);
            }
            if request == b"once" && self.waits_of_the_machine > 0 {
                self.waits_of_the_machine -= 1;
                wait(Duration::from_micros(200));
            }
            Ok(Served::default())
        }

        fn settle(&mut self, _request: &[u8], _reply: &[u8]) -> Result<()> {
            Ok(())
        }

        fn units(&mut self) -> Option<&mut Units> {
            Some(&mut self.units)
        }

        fn items(_request: &[u8]) -> usize {
            10
        }
    }

    fn wait(time: Duration) {
        let start = Instant::now();
        while start.elapsed() < time {
            std::hint::spin_loop();
        }
    }

    #[test]
    fn a_unit_that_really_stalls_is_marked() {
        let core = crate::machine::pin(None).unwrap();
        let mut requests = Requests::default();
        (0..LEARNT).for_each(|_| requests.push(FINE));
        for number in 0..600 {
            requests.push([FINE, SLOW, b"once"][number % 3]);
        }
        let mut service = Stalling { units: Units::new(), waits_of_the_machine: 100 };
        let run = measure(&mut service, &requests, LEARNT, core).unwrap();
        assert_eq!(service.waits_of_the_machine, 0);
        assert_eq!((run.watched, run.items), (true, 6_000));
        // A busy machine may stall any of them, in all of the passes; then they say so.
        for (number, timed) in run.timed.iter().enumerate().filter(|(_, timed)| !timed.disturbed) {
            if number % 3 == 1 {
                assert!(timed.stall_ns >= 57_000, "{timed:?} of {number}");
            } else {
                assert!(timed.stall_ns > 0 || timed.ns < 30_000 + 11 * 2_600, "{timed:?} of {number}");
            }
            assert!(timed.ns >= 30_000 && timed.ns > timed.stall_ns, "{timed:?}");
        }
        assert!(run.conditions.marked >= 200, "{:?}", run.conditions);
    }
}
