//! Gaps: times in which code that never waits did not run. Synthetic work and generators log them while a measurement runs, and the
//! filter drops the requests that they touched. Data in memory.

/// The shortest gap that counts, in ns: longer than anything that the code itself does between two readings.
pub const GAP_NS: u64 = 2_500;

/// One gap between two readings of the clock, in the unit of whoever holds it (ticks in a [`GapLog`], nanoseconds since the
/// run's start in a [`Trace`](crate::trace::Trace)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The reading before.
    pub start: u64,
    /// The reading after.
    pub end: u64,
}

/// Gaps in the order in which they happened; memory is taken at the start, what does not fit is counted.
#[derive(Clone, Debug)]
pub struct GapLog {
    threshold_ticks: u64,
    limit: usize,
    lost: u64,
    gaps: Vec<Gap>,
}

impl GapLog {
    /// A log for `limit` gaps of more than `threshold_ticks` each.
    pub fn new(threshold_ticks: u64, limit: usize) -> GapLog {
        GapLog { threshold_ticks, limit, lost: 0, gaps: Vec::with_capacity(limit) }
    }

    /// Compares two readings in a row, in ticks; notes a gap if there is one.
    #[inline(always)]
    pub fn check(&mut self, start: u64, end: u64) {
        // A counter that differs by some ticks between cores may seem to run backwards: that is no gap.
        if end.saturating_sub(start) > self.threshold_ticks {
            self.note(Gap { start, end });
        }
    }

    #[cold]
    #[inline(never)]
    fn note(&mut self, gap: Gap) {
        if self.gaps.len() < self.limit {
            self.gaps.push(gap);
        } else {
            self.lost += 1;
        }
    }

    /// The gaps, oldest first, in ticks.
    pub fn gaps(&self) -> &[Gap] {
        &self.gaps
    }

    /// Gaps that found no room.
    pub fn lost(&self) -> u64 {
        self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_what_is_longer_and_counts_what_does_not_fit() {
        let mut log = GapLog::new(100, 2);
        for (start, end) in [(0, 100), (100, 201), (300, 290), (300, 500), (600, 800)] {
            log.check(start, end);
        }
        assert_eq!(log.gaps(), [Gap { start: 100, end: 201 }, Gap { start: 300, end: 500 }]);
        assert_eq!(log.lost(), 1);
    }
}
