//! Decision logs: what a host of `caudal-policy` let its policies see, and what they decided. Hosts write them, the replay reads them.
//!
//! A [`DecisionLog`] is a list of [`Entry`]s for each thread that decides. An *event* says what a policy was told, in raw
//! observations: times, names, counts. The *decisions* that it led to follow it, in order. Whoever feeds the events to the same
//! policies again has to find the same decisions (`caudal_sim::replay`).
//!
//! * [`Entry`]: one line of it.
//! * [`Watched`]: a discipline that tells a [`Witness`] what it sees and decides, in any host.
//! * [`DecisionLog::write_lines`], [`DecisionLog::write_binary`], [`DecisionLog::read`]: as JSON lines, and in a tenth of that.

mod entry;
mod format;
mod witness;

pub use entry::{Answer, Entry, Why};
pub use format::{MAGIC, ReadError};
pub use witness::{Watched, Witness};

use serde::{Deserialize, Serialize};

/// The version of the formats that this crate writes; it reads no other.
pub const VERSION: u32 = 1;

/// The facts without which the entries make no sense.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Of the format.
    pub version: u32,
    /// The system, as a `policy.toml`.
    pub policy: String,
    /// How many workers ran it, each with a pool of its own.
    pub workers: u32,
    /// Seed of the policies' draws.
    pub seed: u64,
    /// Rate of the host's counter, in cycles a second.
    pub hz: f64,
    /// Picoseconds a cycle, as 32.32 fixed point: the instant of a counter value is the product, rounded down.
    pub ps_per_cycle: u64,
}

impl Header {
    /// The counter value whose instant is `ps`, for counters that have run for less than 213 days.
    pub fn cycles(&self, ps: u64) -> u64 {
        let cycles = (u128::from(ps) << 32).div_ceil(u128::from(self.ps_per_cycle.max(1)));
        u64::try_from(cycles).unwrap_or(u64::MAX)
    }
}

/// The thread that decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Thread {
    /// The worker with this number, of the pool with this number.
    Worker(u32),
    /// The dispatcher.
    Dispatcher,
    /// All threads that hand in requests, where each places its own. The number of a request has its thread above bit 48.
    Submitters,
}

/// The entries of a thread, the first of them complete up to where it lost some.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadLog {
    /// The thread whose log it is.
    pub thread: Thread,
    /// In order.
    pub entries: Vec<Entry>,
    /// Entries that found no room behind these.
    pub lost: u64,
}

/// A log. See the [crate](self).
#[derive(Clone, Debug, PartialEq)]
pub struct DecisionLog {
    /// The header, which says what it is the log of.
    pub header: Header,
    /// By thread.
    pub threads: Vec<ThreadLog>,
}

impl DecisionLog {
    /// Entries of all threads.
    pub fn len(&self) -> usize {
        self.threads.iter().map(|thread| thread.entries.len()).sum()
    }

    /// Is there nothing in it?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Entries that found no room.
    pub fn lost(&self) -> u64 {
        self.threads.iter().map(|thread| thread.lost).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_instant_says_which_cycle_it_was(cycles in 0_u64..1 << 54, hz in 1e9_f64..5e9) {
            let ps_per_cycle = (1e12 / hz * 2_f64.powi(32)) as u64;
            let header = Header { version: VERSION, policy: String::new(), workers: 1, seed: 1, hz, ps_per_cycle };
            let ps = ((u128::from(cycles) * u128::from(ps_per_cycle)) >> 32) as u64;
            prop_assume!((u128::from(cycles) * u128::from(ps_per_cycle)) >> 96 == 0);
            prop_assert_eq!(header.cycles(ps), cycles);
        }
    }
}
