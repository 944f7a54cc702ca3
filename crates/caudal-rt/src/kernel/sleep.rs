//! Sleep of an idle runtime's threads, and how they are woken.
//! Idle workers and the dispatcher call it through [`Shared`](crate::kernel::shared::Shared); whoever brings work wakes them through it.
//!
//! The runtime sleeps as a whole. A thread goes to sleep only when all of them have had nothing to do for the time that it
//! spins; so while requests run nobody pays for wake-ups, which take the waker 10 to 22 µs. The first request after idleness
//! wakes everybody with one call.
//!
//! # Protocol
//!
//! An *eventcount*: `epoch` is a futex word, `sleepers` counts who sleeps or is about to.
//!
//! | who goes to sleep | who has put something where a sleeper would find it |
//! | --- | --- |
//! | reads `epoch` | makes it visible (a push with release ordering) |
//! | adds 1 to `sleepers` | — full fence — |
//! | — full fence — | reads `sleepers`: 0, done |
//! | checks everything again; found something: stays up | adds 1 to `epoch` |
//! | sleeps while `epoch` is what it read | wakes all |
//!
//! *Why no wake-up is lost*: of the two fences one comes first. If the sleeper's does, the waker sees the sleeper, and its
//! change of `epoch` either comes before the sleeper's call, which then returns at once, or after it, and the call to wake
//! follows. If the waker's does, the sleeper sees what was pushed when it checks again.
//!
//! *A thread with a source, or with replies to send,* sleeps in `poll`, on their descriptors and on a [`Bell`] of its own. It does as the left
//! column says, but for `epoch`: the bell counts instead, for it stays readable from when it rings until the thread, having got up, silences
//! it, and checks everything again after that. Behind the call that wakes, wakers ring the bell of each thread that has said, before its fence,
//! that it listens. So a waker that sees the sleeper rings a bell that the sleeper hears, or has silenced before a check that finds what the
//! waker has pushed; and a descriptor that is readable before the call ends it at once. A bell that rings late ends the next sleep for no
//! reason.
//!
//! *The helper's watchdog* sleeps where all of them sleep. Whoever gets up subtracts itself from `sleepers` and rings the
//! helper's bell then ([`Shared::sleep_unless`](crate::kernel::shared::Shared::sleep_unless)); the helper reads the bell before it reads
//! `sleepers`, and sleeps only while the bell is what it read. So it sees that a thread is up, or is woken.

use std::sync::OnceLock;
use std::time::Duration;

use crossbeam_utils::CachePadded;

use crate::base::bell::{Awaited, Bell};
use crate::base::futex;
use crate::base::primitives::{AtomicBool, AtomicU32, Ordering, fence};

/// The eventcount of one runtime. See the [module](self).
#[derive(Debug, Default)]
pub(crate) struct EventCount {
    epoch: CachePadded<AtomicU32>,
    sleepers: CachePadded<AtomicU32>,
    /// One for each thread, where threads wait for descriptors; set before these begin.
    bells: OnceLock<Box<[Listener]>>,
}

/// A thread that may wait for descriptors.
#[derive(Debug)]
struct Listener {
    bell: Bell,
    listens: AtomicBool,
}

impl EventCount {
    /// Sleeps until somebody calls [`EventCount::wake_all`], at most for `longest`, unless `has_work` finds something to do after all.
    pub(crate) fn sleep_unless(&self, longest: Option<Duration>, has_work: impl FnOnce() -> bool) {
        let epoch = self.epoch.load(Ordering::Acquire);
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        if !has_work() {
            futex::wait(&self.epoch, epoch, longest);
        }
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
    }

    /// From now on threads can wait for descriptors, each by its own one of these.
    pub(crate) fn hang(&self, bells: Vec<Bell>) {
        let listener = |bell| Listener { bell, listens: AtomicBool::new(false) };
        let _ = self.bells.set(bells.into_iter().map(listener).collect());
    }

    /// In models: a source of the thread with this bell has made its descriptor readable.
    #[cfg(all(test, loom))]
    pub(crate) fn is_readable(&self, number: usize) {
        self.bells
            .get()
            .into_iter()
            .flatten()
            .nth(number)
            .into_iter()
            .for_each(|listener| listener.bell.ring());
    }

    /// As [`EventCount::sleep_unless`], until one of `awaited` is ready as well. `number`: of the calling thread's bell.
    ///
    /// # Panics
    /// If the thread has no bell.
    pub(crate) fn sleep_for_unless(
        &self,
        number: usize,
        awaited: &[Awaited],
        longest: Option<Duration>,
        has_work: impl FnOnce() -> bool,
    ) {
        let Some(listener) = self.bells.get().and_then(|bells| bells.get(number)) else {
            unreachable!("a runtime with sources or sinks has a bell for each of its threads");
        };
        listener.listens.store(true, Ordering::Relaxed);
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        if !has_work() {
            listener.bell.wait_with(awaited, longest);
        }
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
        listener.listens.store(false, Ordering::Relaxed);
        listener.bell.silence();
    }

    /// Something is there to be done: wakes all sleepers; were there any? Call it after that something has become visible.
    #[inline]
    pub(crate) fn wake_if_asleep(&self) -> bool {
        fence(Ordering::SeqCst);
        let asleep = self.sleepers.load(Ordering::Relaxed) != 0;
        if asleep {
            self.wake_all();
        }
        asleep
    }

    /// Wakes all sleepers.
    #[cold]
    pub(crate) fn wake_all(&self) {
        fence(Ordering::SeqCst);
        self.epoch.fetch_add(1, Ordering::SeqCst);
        futex::wake(&self.epoch, i32::MAX);
        let listeners = self.bells.get().into_iter().flatten();
        listeners
            .filter(|listener| listener.listens.load(Ordering::Relaxed))
            .for_each(|listener| listener.bell.ring());
    }

    /// Does anybody sleep, or is about to?
    pub(crate) fn sleepers(&self) -> u32 {
        self.sleepers.load(Ordering::Relaxed)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::base::primitives::AtomicU64;
    use std::time::Instant;

    #[test]
    fn nobody_sleeps_through_a_push() {
        let (event_count, pushed, seen) = (EventCount::default(), AtomicU64::new(0), AtomicU64::new(0));
        const PUSHES: u64 = 20_000;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while seen.load(Ordering::Relaxed) < PUSHES {
                    let before = seen.load(Ordering::Relaxed);
                    event_count.sleep_unless(None, || pushed.load(Ordering::Acquire) > before);
                    seen.store(pushed.load(Ordering::Acquire), Ordering::Release);
                }
            });
            for push in 1..=PUSHES {
                pushed.store(push, Ordering::Release);
                event_count.wake_if_asleep();
                // A lost wake-up leaves the sleeper behind for ever.
                while push % 64 == 0 && seen.load(Ordering::Acquire) < push {
                    std::thread::yield_now();
                }
            }
        });
    }

    #[test]
    fn sleep_ends_by_itself_where_a_longest_time_is_given() {
        let begun = Instant::now();
        EventCount::default().sleep_unless(Some(Duration::from_millis(2)), || false);
        assert!(begun.elapsed() >= Duration::from_millis(1));
    }
}
