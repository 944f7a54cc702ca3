//! The counts and times that a run writes down of its requests and of itself.
//! The generator owns them while it runs, on its thread, and hands them over at the end; then they are joined, judged, printed and exported.

use serde::{Deserialize, Serialize};

use crate::latencies::Latencies;
use crate::transport::Outcome;

/// The requests of one class whose intended send time is behind the warm-up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClassRecord {
    /// The name of the class.
    pub class: String,
    /// Requests that were due.
    pub due: u64,
    /// Requests that were done, those of keys that the service does not have included.
    pub answered: u64,
    /// Of these, requests for keys that the service does not have.
    pub missing: u64,
    /// Requests that the service refused because it is overloaded.
    pub refused: u64,
    /// Requests that were answered with an error.
    pub failed: u64,
    /// Requests that were answered with a value that is not the key's.
    pub wrong: u64,
    /// Requests that were not answered within the time-out.
    pub unanswered: u64,
    /// Requests that were not sent, because the generator has no room for more that wait.
    pub unsent: u64,
    /// Times from the intended send time to the answer, of the requests that were done.
    pub latency: Latencies,
}

impl ClassRecord {
    /// A record of nothing.
    pub fn new(class: &str) -> ClassRecord {
        ClassRecord { class: class.to_owned(), ..ClassRecord::default() }
    }

    /// Requests that were not done, whatever the reason. In every percentile they count as the time-out.
    pub fn not_done(&self) -> u64 {
        self.refused + self.failed + self.wrong + self.unanswered + self.unsent
    }

    /// Counts an answer that came `latency_ns` after the intended send time.
    #[inline]
    pub(crate) fn answer(&mut self, outcome: Outcome, latency_ns: u64) {
        match outcome {
            Outcome::Done => {}
            Outcome::Missing => self.missing += 1,
            Outcome::Refused => return self.refused += 1,
            Outcome::Failed => return self.failed += 1,
            Outcome::Wrong => return self.wrong += 1,
        }
        self.answered += 1;
        self.latency.record(latency_ns);
    }

    /// Adds another process's record of the same class, or another class's to a sum.
    pub fn add(&mut self, other: &ClassRecord) {
        self.due += other.due;
        self.answered += other.answered;
        self.missing += other.missing;
        self.refused += other.refused;
        self.failed += other.failed;
        self.wrong += other.wrong;
        self.unanswered += other.unanswered;
        self.unsent += other.unsent;
        self.latency.add(&other.latency);
    }

    /// A percentile of all requests that were due. A request that was not done took at least `timeout_ns`.
    pub fn percentile(&self, percentile: f64, timeout_ns: u64) -> Time {
        let done = self.latency.count();
        let all = done + self.not_done();
        // The rank of 99.9 % of 1,000 is 999, although 0.999 × 1,000 is a little more in binary.
        let rank = (percentile / 100.0 * all as f64 - 1e-6).ceil().clamp(1.0, all.max(1) as f64);
        if all > 0 && rank > done as f64 {
            return Time { ns: timeout_ns, at_least: true };
        }
        Time { ns: self.latency.percentile((rank / done.max(1) as f64 * 100.0).min(100.0)), at_least: false }
    }

    /// The mean latency of all requests, in ns; at least so much if some were not done.
    pub fn mean(&self, timeout_ns: u64) -> Time {
        let (done, not_done) = (self.latency.count(), self.not_done());
        let sum = self.latency.sum() + not_done as f64 * timeout_ns as f64;
        Time { ns: (sum / (done + not_done).max(1) as f64) as u64, at_least: not_done > 0 }
    }
}

/// A time, or the least that it can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time {
    /// The time, in ns.
    pub ns: u64,
    /// Whether it is this time or a longer one.
    pub at_least: bool,
}

/// The generator's record of itself, behind the warm-up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OwnRecord {
    /// Times from the intended to the true moment of sending.
    pub send_error: Latencies,
    /// Lengths of the moments in which the generator itself stood still while it had nothing to do.
    pub stalls: Latencies,
    /// Time in which there was nothing to send and no answer had come, in ns.
    pub idle_ns: u64,
    /// Time that was watched, in ns.
    pub watched_ns: u64,
    /// The share of the schedule that was sent in its time, from 0 to 1. See [`crate::generator`].
    pub kept: f64,
    /// Answers that belong to no request that waits: they came late, or twice.
    pub stray: u64,
    /// Datagrams that had arrived and found no room in the generator's socket.
    pub lost_datagrams: u64,
}

impl OwnRecord {
    /// The share of the time in which the generator was idle, from 0 to 1.
    pub fn idle_share(&self) -> f64 {
        self.idle_ns as f64 / self.watched_ns.max(1) as f64
    }

    /// The share of the time in which the generator stood still, from 0 to 1: at least this, because only its idle time shows it.
    pub fn stalled_share(&self) -> f64 {
        self.stalls.sum() / self.watched_ns.max(1) as f64
    }

    /// Adds another process's record: counts and times add up, and the worse of two shares counts.
    pub fn add(&mut self, other: &OwnRecord) {
        self.send_error.add(&other.send_error);
        self.stalls.add(&other.stalls);
        self.idle_ns += other.idle_ns;
        self.watched_ns += other.watched_ns;
        self.kept = self.kept.min(other.kept);
        self.stray += other.stray;
        self.lost_datagrams += other.lost_datagrams;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_that_were_not_done_are_the_slowest() {
        let mut class = ClassRecord::new("get");
        (0..990).for_each(|_| class.answer(Outcome::Done, 1_000));
        class.unanswered = 5;
        class.answer(Outcome::Wrong, 10);
        class.answer(Outcome::Refused, 10);
        class.answer(Outcome::Failed, 10);
        class.unsent = 2;
        let at = |percentile| class.percentile(percentile, 1_000_000);
        assert_eq!(at(99.0), Time { ns: 1_000, at_least: false });
        assert_eq!(at(99.1), Time { ns: 1_000_000, at_least: true });
        assert_eq!(class.mean(1_000_000), Time { ns: 10_990, at_least: true });
        assert_eq!(ClassRecord::new("x").percentile(50.0, 9), Time { ns: 0, at_least: false });
    }
}
