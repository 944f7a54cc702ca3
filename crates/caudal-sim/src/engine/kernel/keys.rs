//! The key of an event: one number that says when the event is due, and whose it is. Every loop makes its events of such keys and takes
//! the least. Pure arithmetic.
//!
//! ```text
//!   key = (time − base) << bits | worker        bits: enough for one id more than there are workers
//!         '-- below 2^(63 − bits) --'           top bit: too far ahead for a key, or never
//! ```
//!
//! The worker in the low bits makes the order total: (time, worker). The base moves along with the clock, so
//! that what is left for the time does for runs of any length. An event that lies too far ahead all the same
//! gets a *far* key, later than all others; a loop that has only far keys left moves the base and asks again.

/// The top bit: no key that is not far has it.
pub(in crate::engine) const FAR: u64 = 1 << 63;

#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct Keys {
    base_ps: u64,
    bits: u32,
}

impl Keys {
    pub(in crate::engine) fn new(workers: u32) -> Keys {
        // One id more than there are workers, all bits set: it marks what comes after all workers.
        Keys { base_ps: 0, bits: (workers + 1).next_power_of_two().trailing_zeros() }
    }

    /// The same keys in code that is compiled for 2^`levels` workers, unless that is 0: shifts by a number that is known
    /// take one instruction where others take three.
    #[inline(always)]
    pub(in crate::engine) fn for_levels(self, levels: u32) -> Keys {
        debug_assert!(levels == 0 || self.bits == levels + 1);
        if levels == 0 { self } else { Keys { base_ps: self.base_ps, bits: levels + 1 } }
    }

    /// The key of an event at `time_ps` that comes before any worker's at that time.
    #[inline(always)]
    pub(in crate::engine) fn before(self, time_ps: u64) -> u64 {
        (time_ps - self.base_ps).min(FAR >> self.bits) << self.bits
    }

    /// The key of an event at `time_ps` that comes after any worker's at that time.
    #[inline]
    pub(in crate::engine) fn after(self, time_ps: u64) -> u64 {
        self.end_of(self.before(time_ps))
    }

    /// The key that comes after any worker's event at the time of `key`, and before all later ones.
    #[inline(always)]
    pub(in crate::engine) fn end_of(self, key: u64) -> u64 {
        key | ((1 << self.bits) - 1)
    }

    /// The key of an event of `worker`.
    #[inline(always)]
    pub(in crate::engine) fn of(self, worker: usize, time_ps: u64) -> u64 {
        self.before(time_ps) | worker as u64
    }

    /// Is this the key of something too far ahead, or of nothing?
    #[inline(always)]
    pub(in crate::engine) fn is_far(key: u64) -> bool {
        key >= FAR
    }

    /// The time of a key that is not far.
    #[inline(always)]
    pub(in crate::engine) fn time_ps(self, key: u64) -> u64 {
        (key >> self.bits) + self.base_ps
    }

    /// The worker whose event it is.
    #[inline(always)]
    pub(in crate::engine) fn worker(self, key: u64) -> usize {
        (key & ((1 << self.bits) - 1)) as usize
    }

    /// Is half of the room for times used up at `now_ps`?
    #[inline(always)]
    pub(in crate::engine) fn are_old(self, now_ps: u64) -> bool {
        now_ps - self.base_ps >= FAR >> self.bits >> 1
    }

    /// Counts from `base_ps` on; keys that were made before are worth nothing then.
    pub(in crate::engine) fn rebase(&mut self, base_ps: u64) {
        self.base_ps = base_ps;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_order_by_time_and_then_by_worker() {
        let keys = Keys::new(16);
        assert!(keys.after(4) < keys.before(5));
        assert!(keys.before(5) <= keys.of(0, 5) && keys.of(0, 5) < keys.of(15, 5));
        assert!(keys.of(15, 5) < keys.after(5));
        assert_eq!((keys.time_ps(keys.of(7, 123)), keys.worker(keys.of(7, 123))), (123, 7));
    }

    #[test]
    fn what_is_too_far_comes_last_until_the_base_has_moved() {
        let mut keys = Keys::new(4096);
        let hour_ps = 3_600_000_000_000_000;
        let far = keys.of(3, hour_ps);
        assert!(Keys::is_far(far) && keys.worker(far) == 3);
        assert!(keys.after(600_000_000_000_000) < far && far < u64::MAX);
        keys.rebase(hour_ps - 1);
        assert!(!Keys::is_far(keys.of(3, hour_ps)));
        assert_eq!(keys.time_ps(keys.of(3, hour_ps)), hour_ps);
    }
}
