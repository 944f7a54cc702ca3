//! A thread's sleep until a time, which ends then however many signals come meanwhile. Functions of this crate that park a coroutine call
//! it where they are called outside of a request, and so do threads that poll now and then for a runtime's end.
//!
//! `std::thread::sleep` sleeps for a span, and after each signal anew for what the kernel says is left of it. That has the slack of the
//! thread's timers in it (50 µs by default), so under a timer of 50 µs, as profilers have, it never gets less.

use std::ptr;
use std::time::Duration;

/// Lets the calling thread sleep for `span`; never less.
pub fn pause(span: Duration) {
    let mut until = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes the time there; this clock is always there.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut until) };
    let nanoseconds = until.tv_nsec + libc::c_long::from(span.subsec_nanos());
    until.tv_nsec = nanoseconds % 1_000_000_000;
    let seconds = libc::time_t::try_from(span.as_secs()).unwrap_or(libc::time_t::MAX);
    until.tv_sec = until.tv_sec.saturating_add(seconds).saturating_add(nanoseconds / 1_000_000_000);
    // SAFETY: the time lives during the call, which writes nothing where it is absolute.
    while unsafe {
        libc::clock_nanosleep(libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME, &raw const until, ptr::null_mut())
    } == libc::EINTR
    {}
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::atomic::AtomicU32;
    use std::sync::atomic::Ordering::Relaxed;
    use std::time::Instant;

    use super::*;

    /// Signals after which the storm ends by itself, so that a sleep that it keeps from its end fails and does not hang.
    const ENOUGH: u32 = 5_000;
    static SIGNALS: AtomicU32 = AtomicU32::new(0);

    extern "C" fn on_signal(_: libc::c_int) {
        if SIGNALS.fetch_add(1, Relaxed) + 1 == ENOUGH {
            every(0);
        }
    }

    fn every(microseconds: libc::suseconds_t) {
        let span = libc::timeval { tv_sec: 0, tv_usec: microseconds };
        let timer = libc::itimerval { it_interval: span, it_value: span };
        // SAFETY: the timer lives during the call.
        unsafe { libc::setitimer(libc::ITIMER_REAL, &raw const timer, ptr::null_mut()) };
    }

    /// Sleeps in a child, where no other thread can take the signals; what it answers tells whether the sleeps ended.
    #[test]
    fn it_ends_under_a_timer_that_is_faster_than_the_slack() {
        // SAFETY: the child calls what is safe after a fork alone, and ends.
        let child = unsafe { libc::fork() };
        assert!(child >= 0);
        if child == 0 {
            // SAFETY: all zeros is an action.
            let mut action = unsafe { std::mem::zeroed::<libc::sigaction>() };
            action.sa_sigaction = on_signal as *const () as usize;
            // SAFETY: the handler is safe whenever it comes.
            unsafe { libc::sigaction(libc::SIGALRM, &raw const action, ptr::null_mut()) };
            every(50);
            for _ in 0..50 {
                pause(Duration::from_micros(200));
            }
            let ended = SIGNALS.load(Relaxed) < ENOUGH;
            // SAFETY: ends the process.
            unsafe { libc::_exit(libc::c_int::from(!ended)) };
        }
        let mut status = 0;
        // SAFETY: the status is ours.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0, "the signals kept it from its end");
    }

    #[test]
    fn it_lasts_as_long_as_it_is_told_to() {
        for span in [Duration::ZERO, Duration::from_micros(300), Duration::from_millis(3)] {
            let begun = Instant::now();
            pause(span);
            assert!(begun.elapsed() >= span);
        }
    }
}
