//! The limit that is to be kept at the highest rate: on the 99.9th percentile of all requests, or of those of a class. A figure names it,
//! and the search judges each run by it. Pure.

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

/// Where no request breaks the limit: the share that breaks it, over the share that may.
const NONE_BREAKS: f64 = 1e-3;

impl Within {
    /// The quantity that is limited, of the results of a service with these classes.
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

    /// The logarithm of a ratio: the share of requests that break the limit, over the share that may break it.
    pub(super) fn log_share(self, judged: &Replicated, replications: usize) -> Linear {
        let above = judged.share_above(self.limit(), replications);
        let allowed = 1.0 - PERCENTILE / 100.0;
        // No request broke the limit: a logarithm of 0 does not exist, and nothing is known of errors.
        if above.value() <= 0.0 {
            return above.mapped(NONE_BREAKS.ln(), 0.0);
        }
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

    /// Its key in rows.
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

#[cfg(test)]
mod tests {
    use caudal_stats::Histogram;

    use super::*;

    fn latencies(us: &[u64]) -> Replicated {
        let mut all = Replicated::new();
        for _ in 0..8 {
            let mut one = Histogram::new();
            us.iter().for_each(|us| one.record(us * 1_000_000));
            all.push(&one);
        }
        all
    }

    #[test]
    fn the_share_that_breaks_a_limit_is_held_against_the_one_that_may() {
        let within = Within::Latency { class: "get", us: 50 };
        let mut us = vec![10; 999];
        us.push(900);
        let share = within.log_share(&latencies(&us), 8).exp_interval(0.95);
        assert!((share.estimate - 1.0).abs() < 1e-9, "one in a thousand: {share:?}");
        us.push(901);
        assert!(within.log_share(&latencies(&us), 8).value() > 0.0);
    }

    /// An interval of nothing was none at all, so that systems that never break the limit had no highest rate.
    #[test]
    fn a_limit_that_nobody_breaks_is_known_to_be_kept() {
        let within = Within::Latency { class: "", us: 50 };
        let share = within.log_share(&latencies(&[10, 20]), 8).exp_interval(0.95);
        assert!(share.estimate < 0.01 && share.high < 0.01 && share.low > 0.0, "{share:?}");
    }
}
