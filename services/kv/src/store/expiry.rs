//! When items die: by their own expiry, or by a `flush_all`.
//! Shards ask it of every item that they find. Seconds are the caller's, since 1970; nothing here reads a clock.

use std::sync::atomic::{AtomicU64, Ordering};

/// Seconds of thirty days: a longer expiry is a moment, a shorter one a distance.
const DISTANCE_MAX: i64 = 60 * 60 * 24 * 30;

/// A moment in seconds since 1970; 0 is never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Expiry(pub(super) u32);

impl Expiry {
    /// The moment that a client means by `exptime`: never (0), at once (negative), after so many seconds (up to thirty days), or at that
    /// second since 1970.
    pub(super) fn of(exptime: i64, now: u32) -> Expiry {
        let second = match exptime {
            0 => return Expiry(0),
            ..0 => 1,
            1..=DISTANCE_MAX => i64::from(now) + exptime,
            _ => exptime,
        };
        Expiry(u32::try_from(second).unwrap_or(u32::MAX))
    }

    /// Whether the moment has come.
    pub(super) fn is_over(self, now: u32) -> bool {
        self.0 != 0 && self.0 <= now
    }
}

/// A moment, as it decides whether an item lives. Taken while the shard's lock is held, so that moments of one shard never go backwards.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    /// The caller's seconds since 1970.
    pub(super) now: u32,
    /// How many times everything was flushed. An item of an earlier generation is dead.
    pub(super) generation: u32,
}

/// The generation, and the second at which the next one begins, if a client has asked for that.
///
/// ```text
///  63          32 31           0
///  +-------------+-------------+
///  | generation  | second or 0 |      one word, so that a flush with a delay happens once, whoever notices that it is due
///  +-------------+-------------+
/// ```
///
/// An operation reads the word under its shard's lock and acts at once. So a flush comes before an operation or after it, for each key as for
/// all: what was stored before is dead to whoever begins after the flush was answered.
#[derive(Debug, Default)]
pub(super) struct Flushes(AtomicU64);

fn packed(generation: u32, second: u32) -> u64 {
    u64::from(generation) << 32 | u64::from(second)
}

fn unpacked(word: u64) -> (u32, u32) {
    ((word >> 32) as u32, word as u32)
}

impl Flushes {
    /// The moment `now`. Carries out a flush whose second has come.
    #[inline]
    pub(super) fn moment(&self, now: u32) -> Moment {
        // Acquire and release order nothing here but the word itself: what is flushed is guarded by the shards' locks.
        let mut word = self.0.load(Ordering::Acquire);
        loop {
            let (generation, second) = unpacked(word);
            if !Expiry(second).is_over(now) {
                return Moment { now, generation };
            }
            let next = packed(generation.wrapping_add(1), 0);
            match self.0.compare_exchange(word, next, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Moment { now, generation: generation.wrapping_add(1) },
                Err(changed) => word = changed,
            }
        }
    }

    /// Flushes at the moment that `delay` means, or at once if it is 0 or negative. A flush that was to come later is forgotten, as
    /// in memcached.
    pub(super) fn flush(&self, delay: i64, now: u32) {
        let second = if delay > 0 { Expiry::of(delay, now).0 } else { 0 };
        let at_once = Expiry(second).is_over(now) || second == 0;
        let flushed = |word| {
            let (generation, _) = unpacked(word);
            Some(if at_once { packed(generation.wrapping_add(1), 0) } else { packed(generation, second) })
        };
        // An earlier one that is due by now has happened, whether or not anybody has noticed.
        self.moment(now);
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, flushed).expect("it always answers");
    }
}

impl Moment {
    /// Whether an item with this expiry, stored in this generation, is dead.
    #[inline]
    pub(super) fn is_dead(self, expiry: Expiry, generation: u32) -> bool {
        generation != self.generation || expiry.is_over(self.now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u32 = 1_700_000_000;

    #[test]
    fn an_expiry_is_a_distance_up_to_thirty_days_and_a_moment_beyond() {
        assert_eq!(Expiry::of(0, NOW), Expiry(0));
        assert!(!Expiry(0).is_over(u32::MAX));
        assert_eq!(Expiry::of(5, NOW), Expiry(NOW + 5));
        assert_eq!(Expiry::of(DISTANCE_MAX, NOW), Expiry(NOW + DISTANCE_MAX as u32));
        assert_eq!(Expiry::of(DISTANCE_MAX + 1, NOW), Expiry(DISTANCE_MAX as u32 + 1));
        assert!(Expiry::of(-1, NOW).is_over(NOW) && Expiry::of(i64::MIN, 1).is_over(1));
        assert_eq!(Expiry::of(i64::MAX, NOW), Expiry(u32::MAX));
        assert!(!Expiry(NOW + 1).is_over(NOW) && Expiry(NOW).is_over(NOW));
    }

    #[test]
    fn a_flush_with_a_delay_happens_once_when_its_second_has_come() {
        let flushes = Flushes::default();
        flushes.flush(10, NOW);
        assert_eq!(flushes.moment(NOW + 9).generation, 0);
        assert_eq!(flushes.moment(NOW + 10).generation, 1);
        assert_eq!(flushes.moment(NOW + 11).generation, 1);
        // A clock that is behind changes nothing.
        assert_eq!(flushes.moment(NOW).generation, 1);
    }

    #[test]
    fn a_later_flush_takes_the_place_of_one_that_has_not_happened() {
        let flushes = Flushes::default();
        flushes.flush(10, NOW);
        flushes.flush(0, NOW + 1);
        assert_eq!(flushes.moment(NOW + 20).generation, 1);
        flushes.flush(10, NOW + 20);
        flushes.flush(30, NOW + 21);
        assert_eq!(flushes.moment(NOW + 40).generation, 1);
        assert_eq!(flushes.moment(NOW + 51).generation, 2);
        // One that was due before the next came has happened.
        flushes.flush(1, NOW + 60);
        flushes.flush(100, NOW + 62);
        assert_eq!(flushes.moment(NOW + 62).generation, 3);
    }
}
