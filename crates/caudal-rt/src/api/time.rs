//! Sleep until a time: a request is parked, and its worker runs others; any other thread sleeps.

use std::time::{Duration, Instant};

use crate::base::clock::now;
use crate::base::pause::pause;
use crate::kernel::context::{current, until};

/// Waits for `span`. A request goes on when its worker checks its timers next after that, which it does between slices, and when
/// its discipline has it run.
///
/// # Panics
/// Where a request must not wait: in a critical section, and while a panic unwinds.
pub fn sleep(span: Duration) {
    let Some(me) = current() else { return pause(span) };
    let due = until(me.shared(), span);
    // Asked anew each time: a migratable coroutine may go on elsewhere.
    while let Some(me) = current() {
        me.end_if_cancelled();
        if now() >= due {
            return;
        }
        me.park_until(due, "sleep");
    }
}

/// Waits until `instant`; not at all if that is over. See [`sleep`].
///
/// # Panics
/// As [`sleep`].
pub fn sleep_until(instant: Instant) {
    sleep(instant.saturating_duration_since(Instant::now()));
}
