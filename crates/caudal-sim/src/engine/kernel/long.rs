//! The number of cores that run long requests, over time: other requests wait behind these. The loops `step`, `lines` and `stealing` tell it of
//! each start and end of a long request, and the accounts read it at each mark of a run.

/// How many of some cores run long requests, and the integral of that over time.
///
/// Only differences over times at which a request waits are right, and only those are read. The integral may
/// wrap, but no request waits that long.
#[derive(Clone, Copy, Default)]
pub(in crate::engine) struct Long {
    pub(in crate::engine) running: u64,
    pub(in crate::engine) behind_ps: u64,
    changed_ps: u64,
}

impl Long {
    /// The integral up to now. A change may lie ahead: until then nothing runs.
    #[inline(always)]
    pub(in crate::engine) fn behind_ps(&self, now_ps: u64) -> u64 {
        self.behind_ps.wrapping_add(self.running.wrapping_mul(now_ps.saturating_sub(self.changed_ps)))
    }

    #[inline(always)]
    pub(in crate::engine) fn settle(&mut self, now_ps: u64) {
        self.behind_ps = self.behind_ps(now_ps);
        self.changed_ps = now_ps;
    }

    /// Cores begin (1) or end (-1) long requests.
    #[inline(always)]
    pub(in crate::engine) fn change(&mut self, now_ps: u64, by: i64) {
        self.settle(now_ps);
        self.running = self.running.wrapping_add_signed(by);
    }
}
