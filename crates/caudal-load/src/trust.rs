//! The generator's distrust of itself: which percentiles are its own doing, and what else speaks against a run.
//! The crate's users print it.

use std::fmt;

use crate::generator::{STOP_BELOW, WARN_BELOW};
use crate::record::{ClassRecord, Time};
use crate::run::{Mode, Run};

/// The percentiles that are told of a class.
pub const PERCENTILES: [f64; 5] = [50.0, 90.0, 99.0, 99.9, 99.99];
/// A percentile is not trusted if that of the send error is more than this part of it.
const ERROR_PART: u64 = 4;
/// The idle share below which a generator may itself be what requests wait for.
const IDLE_BELOW: f64 = 0.1;
/// The share of misses from which on a cache is not the one that was filled.
const MISSING_ABOVE: f64 = 0.01;

/// A percentile, and whether the generator stands for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Told {
    /// The percentile, above 0 and below 100.
    pub percentile: f64,
    /// The latency.
    pub time: Time,
    /// The same percentile of the send error, in ns.
    pub send_error_ns: u64,
    /// Whether the latency is the service's: the send error is at most a quarter of it, and the schedule was kept.
    pub is_trusted: bool,
}

/// A fact that speaks against a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Warning {
    /// Not all of the schedule was kept.
    Behind {
        /// The share that was kept.
        kept: f64,
    },
    /// The generator had hardly a moment in which it had nothing to do.
    Busy {
        /// The idle share.
        idle: f64,
    },
    /// Datagrams found no room in the generator's socket.
    LostDatagrams(u64),
    /// Requests could not be sent, because too many waited.
    Unsent(u64),
    /// The service does not have the keys that it should have.
    Missing {
        /// The share of requests that asked for a key that is not there.
        share: f64,
    },
    /// Values were not those of their keys.
    Wrong(u64),
    /// Requests were answered with errors.
    Failed {
        /// How many.
        count: u64,
        /// The first error.
        first: String,
    },
    /// Latencies are those of a closed loop.
    Closed,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::Behind { kept } => write!(
                f,
                "the generator kept {:.2} % of the schedule, less than {} %: part of the latency is its own; ask for a lower \
                 rate, or share the rate among several generators (`caudal load merge`)",
                kept * 100.0,
                WARN_BELOW * 100.0
            ),
            Warning::Busy { idle } => write!(
                f,
                "the generator was idle for {:.1} % of the time, less than {} %: requests may have waited for the generator and \
                 not for the service; ask for a lower rate, or share the rate among several generators",
                idle * 100.0,
                IDLE_BELOW * 100.0
            ),
            Warning::LostDatagrams(count) => write!(
                f,
                "{count} datagrams had come and found no room in the generator's socket: their requests count as unanswered, \
                 which is not the service's fault"
            ),
            Warning::Unsent(count) => write!(
                f,
                "{count} requests were not sent, because as many waited for answers as there is room for: they count as \
                 unanswered"
            ),
            Warning::Missing { share } => write!(
                f,
                "{:.1} % of the requests asked for a key that the service does not have: it drops items; ask for fewer --keys or \
                 shorter --value-bytes, or give the service more memory",
                share * 100.0
            ),
            Warning::Wrong(count) => write!(
                f,
                "{count} answers held a value that is not the key's: the service mixes up values, or somebody else writes to \
                 these keys"
            ),
            Warning::Failed { count, first } => {
                write!(f, "{count} requests were answered with an error, the first with `{first}`")
            }
            Warning::Closed => f.write_str(
                "the loop is closed: a slow answer delays the requests behind it, whose waiting is not in these latencies; they \
                 say what the service can do, and nothing about its tail under load",
            ),
        }
    }
}

impl Run {
    /// The percentiles of requests of this run that there are enough of for.
    pub fn told(&self, requests: &ClassRecord) -> Vec<Told> {
        let count = requests.latency.count() + requests.not_done();
        let enough = |percentile: &f64| count as f64 * (100.0 - percentile) / 100.0 >= 0.999_999;
        let one = |percentile| {
            let time = requests.percentile(percentile, self.timeout_ns);
            let send_error_ns = self.own.send_error.percentile(percentile);
            let is_trusted = send_error_ns * ERROR_PART <= time.ns && self.own.kept >= STOP_BELOW;
            Told { percentile, time, send_error_ns, is_trusted }
        };
        PERCENTILES.into_iter().filter(enough).map(one).collect()
    }

    /// The facts that speak against the run.
    pub fn warnings(&self) -> Vec<Warning> {
        let total = self.total();
        let mut warnings = Vec::new();
        if let Mode::Closed { .. } = self.mode {
            warnings.push(Warning::Closed);
        } else if self.own.idle_share() < IDLE_BELOW {
            warnings.push(Warning::Busy { idle: self.own.idle_share() });
        }
        if self.own.kept < WARN_BELOW {
            warnings.insert(0, Warning::Behind { kept: self.own.kept });
        }
        if self.own.lost_datagrams > 0 {
            warnings.push(Warning::LostDatagrams(self.own.lost_datagrams));
        }
        if total.unsent > 0 {
            warnings.push(Warning::Unsent(total.unsent));
        }
        let share = total.missing as f64 / total.answered.max(1) as f64;
        if share > MISSING_ABOVE {
            warnings.push(Warning::Missing { share });
        }
        if total.wrong > 0 {
            warnings.push(Warning::Wrong(total.wrong));
        }
        if total.failed > 0 {
            let first = self.first_failure.clone().unwrap_or_else(|| "an error".to_owned());
            warnings.push(Warning::Failed { count: total.failed, first });
        }
        warnings
    }
}
