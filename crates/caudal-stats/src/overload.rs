//! Overload: does the system keep up with its load?
//! The simulator counts for it during a run and asks at its end.

use serde::{Deserialize, Serialize};

/// Counters of the last half of a run, from which overload is decided.
///
/// A system is *overloaded* if it completes fewer than 99 % of what arrives over the last half of the run **and**
/// its backlog (requests arrived and not completed) grows: from the start to the middle of that half, and from
/// its middle to its end. Its latency then depends on how long the run was and is not a result: report
/// [`Summary::missing`](crate::Summary::missing).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverloadCheck {
    /// Requests that arrived in the last half.
    pub arrivals: u64,
    /// Requests that completed in the last half.
    pub completions: u64,
    /// Backlog when the last half begins.
    pub backlog_start: u64,
    /// Backlog in the middle of the last half (at three quarters of the run).
    pub backlog_middle: u64,
    /// Backlog when the run ends.
    pub backlog_end: u64,
}

impl OverloadCheck {
    /// True if the system is overloaded. A half without arrivals is not.
    pub const fn is_overloaded(&self) -> bool {
        // Multiplied out: no rounding. 128 bits hold the product of any counter.
        let behind = (self.completions as u128) * 100 < (self.arrivals as u128) * 99;
        behind && self.backlog_start < self.backlog_middle && self.backlog_middle < self.backlog_end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(arrivals: u64, completions: u64, backlog: [u64; 3]) -> bool {
        let [backlog_start, backlog_middle, backlog_end] = backlog;
        OverloadCheck { arrivals, completions, backlog_start, backlog_middle, backlog_end }.is_overloaded()
    }

    #[test]
    fn needs_both_signs() {
        assert!(check(1000, 989, [5, 10, 16]));
        assert!(!check(1000, 990, [5, 10, 15]), "exactly 99 % is kept up with");
        assert!(!check(1000, 900, [5, 110, 105]), "a burst that drains again is not overload");
        assert!(!check(1000, 900, [5, 5, 105]), "a burst at the end is not growth");
        assert!(!check(0, 0, [0, 0, 0]));
        assert!(check(u64::MAX, u64::MAX / 2, [1, 2, 3]));
    }
}
