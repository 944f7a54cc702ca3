//! The clock of a run: the processor's counter, or in tests a number that a test moves.
//! Used by `generator` and the crate's users.

use caudal_measure::clock::{self, ClockError, Tsc};

/// A clock that never runs backwards.
pub trait Clock {
    /// Nanoseconds since some moment before the run.
    fn now_ns(&self) -> u64;
}

/// The time stamp counter, in nanoseconds since this clock was made.
#[derive(Clone, Copy, Debug)]
pub struct TscClock {
    tsc: Tsc,
    origin: u64,
}

impl TscClock {
    /// Measures the counter's frequency, which takes 10 ms.
    ///
    /// # Errors
    /// If the counter is no clock on this machine.
    pub fn calibrate() -> Result<TscClock, ClockError> {
        Ok(TscClock { tsc: Tsc::calibrate()?, origin: clock::now() })
    }
}

impl Clock for TscClock {
    #[inline]
    fn now_ns(&self) -> u64 {
        // A counter that differs by some ticks between cores may seem to run backwards.
        self.tsc.to_ns(clock::now().saturating_sub(self.origin))
    }
}
