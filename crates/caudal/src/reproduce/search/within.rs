//! What is to be kept at the highest rate: a limit on the 99.9th percentile of all requests, or of those of a class.

use std::fmt;

use caudal_sim::experiment::Results;
use caudal_stats::{Estimate, Linear, Replicated, SLOWDOWN_ONE};

use super::{PERCENTILE, SLOWDOWN_MAX};

/// A limit on the 99.9th percentile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Within {
    /// The slowdown of all requests is at most [`SLOWDOWN_MAX`].
    Slowdown,
    /// The latency of the requests of this class, or of all if that is empty, is at most so long.
    Latency { class: &'static str, us: u64 },
}

impl Within {
    /// What is limited, of the results of a service with these classes.
    ///
    /// # Panics
    /// If the service has no such class; the tests read all files.
    pub(super) fn judged<'a>(self, classes: &[String], results: &'a Results) -> &'a Replicated {
        match self {
            Within::Slowdown => &results.all.slowdown,
            Within::Latency { class: "", .. } => &results.all.latency_ps,
            Within::Latency { class, .. } => {
                let at = classes.iter().position(|name| name == class);
                let at = at.unwrap_or_else(|| panic!("no class is called {class}: there are {classes:?}"));
                &results.classes[at].latency_ps
            }
        }
    }

    /// The limit, in the unit in which values are kept.
    fn limit(self) -> u64 {
        match self {
            Within::Slowdown => (SLOWDOWN_MAX * SLOWDOWN_ONE as f64) as u64,
            Within::Latency { us, .. } => us * 1_000_000,
        }
    }

    /// The logarithm of the share of requests that break the limit over the one that may.
    pub(super) fn log_share(self, judged: &Replicated, replications: usize) -> Linear {
        let above = judged.share_above(self.limit(), replications);
        let allowed = 1.0 - PERCENTILE / 100.0;
        above.mapped(above.value() / allowed, 1.0 / allowed).ln()
    }

    /// The percentile itself: a ratio, or ns.
    pub(super) fn percentile(self, judged: &Replicated, confidence: f64) -> Estimate {
        let one = match self {
            Within::Slowdown => SLOWDOWN_ONE as f64,
            Within::Latency { .. } => 1e3,
        };
        judged.percentile(PERCENTILE, confidence).divided_by(one)
    }

    /// How often the last step is halved at most, where the share that breaks the limit grows steeply in it. The latency of
    /// short requests jumps from a few service times to that of a long one, slowdown over all of them grows more evenly.
    pub(super) fn halvings(self) -> u32 {
        match self {
            Within::Slowdown => 1,
            Within::Latency { .. } => 3,
        }
    }

    /// What rows call it.
    pub(super) fn unit(self) -> &'static str {
        match self {
            Within::Slowdown => "slowdown",
            Within::Latency { .. } => "latency_ns",
        }
    }
}

impl fmt::Display for Within {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Within::Slowdown => write!(f, "p99.9 slowdown at most {SLOWDOWN_MAX}"),
            Within::Latency { class: "", us } => write!(f, "p99.9 at most {us} us"),
            Within::Latency { class, us } => write!(f, "p99.9 of {class} at most {us} us"),
        }
    }
}
