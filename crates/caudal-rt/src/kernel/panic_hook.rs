//! Panics of requests: reported like any other, but not all of them when there are many. The start of a runtime puts this hook before the
//! process's own; it runs on whatever thread panics, also on coroutines.
//!
//! The process's panic hook writes a line, or a backtrace, under a lock; 10⁵ panicking requests would stall every worker. So on
//! coroutines the hook is called [`REPORTS_MAX`] times a second at most, and a line in the next second says how many were left out.

use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::base::say::say;
use crate::kernel::context::current;

/// Panics of requests that are reported in a second.
pub(crate) const REPORTS_MAX: u64 = 10;

static SECOND: AtomicU64 = AtomicU64::new(0);
static REPORTED: AtomicU64 = AtomicU64::new(0);
static LEFT_OUT: AtomicU64 = AtomicU64::new(0);

/// Puts the limit in front of the present hook.
pub(crate) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let earlier = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if current().is_none() || may_report() {
                earlier(info);
            }
        }));
    });
}

fn may_report() -> bool {
    let second = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    if SECOND.swap(second, Ordering::Relaxed) != second {
        REPORTED.store(0, Ordering::Relaxed);
        let left_out = LEFT_OUT.swap(0, Ordering::Relaxed);
        if left_out > 0 {
            say!("{left_out} more requests panicked, which was not reported");
        }
    }
    let may = REPORTED.fetch_add(1, Ordering::Relaxed) < REPORTS_MAX;
    if !may {
        LEFT_OUT.fetch_add(1, Ordering::Relaxed);
    }
    may
}
