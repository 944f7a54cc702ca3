//! The crossing: the rate at which the share of requests beyond a limit reaches the share that is allowed, with its interval. It lies on
//! a straight line between the rate just below and the rate just above, where the logarithm of the share is drawn over the logarithm of
//! the rate. The search leaves these two in [`Highest`]; a figure computes crossings of them when it is judged and drawn. Figure 12 of
//! Tail-control calls [`crossing()`] with points of its own sweep. Pure.

use caudal_stats::{Estimate, Linear, Replicated};

use super::super::cell::CONFIDENCE;
use super::Within;

/// The highest rate that a search found.
#[derive(Clone, Debug)]
pub(crate) struct Highest {
    /// The workload of its file, where a figure has several; else empty.
    pub(crate) about: &'static str,
    /// Name of the system.
    pub(crate) system: String,
    /// The limit that is kept.
    pub(crate) within: Within,
    /// Quantum of the system.
    pub(crate) quantum_ns: f64,
    /// Cost of a preemption.
    pub(crate) preemption_ns: f64,
    /// Rates per second just below and just above, with what was measured there; none if there is no such rate.
    pub(super) ends: Option<[(f64, Limited); 2]>,
    /// Loads that were simulated, with the percentile there; missing in overload.
    pub(crate) tried: Vec<(f64, Estimate)>,
}

/// The replications of the limited quantity (slowdown or latency) at one rate; none in overload.
pub(super) type Limited = Option<Replicated>;

impl Highest {
    /// Replications near the highest rate.
    fn replications(&self) -> usize {
        let ends = self.ends.iter().flatten().filter_map(|(_, judged)| judged.as_ref());
        ends.map(Replicated::replications).min().unwrap_or(0)
    }

    /// The crossing by the first `replications`.
    fn crossing(&self, replications: usize) -> Crossing {
        let log = |judged: &Limited| Some(self.within.log_share(judged.as_ref()?, replications));
        match &self.ends {
            Some([below, above]) => crossing((below.0, log(&below.1)), (above.0, log(&above.1))),
            None => Crossing { log: None, jump: 0.0 },
        }
    }

    /// The highest rate, per second, with an interval of this confidence.
    pub(crate) fn rate_per_s(&self, confidence: f64) -> Estimate {
        self.crossing(self.replications()).interval(confidence)
    }

    /// The highest rate over the highest rate of another system, which saw the same requests.
    pub(crate) fn over(&self, other: &Highest) -> Crossing {
        let common = self.replications().min(other.replications());
        self.crossing(common).over(&other.crossing(common))
    }

    /// The row in the file of results.
    pub(crate) fn row(&self) -> serde_json::Value {
        let tried = self
            .tried
            .iter()
            .map(|(load, found)| serde_json::json!({ "load": load, self.within.unit(): found }));
        serde_json::json!({
            "workload": self.about,
            "system": self.system,
            "within": self.within.to_string(),
            "quantum_ns": self.quantum_ns,
            "preemption_ns": self.preemption_ns,
            "rate_per_s": self.rate_per_s(CONFIDENCE),
            "tried": tried.collect::<Vec<_>>(),
        })
    }
}

/// A highest rate, or a ratio of such rates.
pub(crate) struct Crossing {
    /// The logarithm of the rate, or of the ratio of rates, with its errors; none if the lower rate is in overload, or if the search found
    /// no two rates.
    log: Option<Linear>,
    /// An error of the logarithm in either direction that `log` does not include: half the distance of the two rates where the upper one is
    /// in overload, so that no line can be drawn; 0 elsewhere.
    jump: f64,
}

impl Crossing {
    /// The ratio of two crossings; none unless they have the same number of replications.
    pub(crate) fn over(&self, other: &Crossing) -> Crossing {
        let both = self.log.as_ref().zip(other.log.as_ref());
        let log = both
            .filter(|(own, other)| own.replications() == other.replications())
            .map(|(own, other)| own.plus(-1.0, other));
        Crossing { log, jump: self.jump + other.jump }
    }

    /// The rate or ratio itself, with an interval of this confidence; missing if there is none.
    pub(crate) fn interval(&self, confidence: f64) -> Estimate {
        let Some(log) = &self.log else { return Estimate::MISSING };
        let Estimate { estimate, low, high } = log.exp_interval(confidence);
        Estimate { estimate, low: low * (-self.jump).exp(), high: high * self.jump.exp() }
    }
}

/// The crossing between a rate below it and a rate above it. With each rate comes the logarithm of a ratio: the share of requests that
/// break the limit, over the share that may break it. The ratio is none for a rate in overload.
pub(crate) fn crossing(below: (f64, Option<Linear>), above: (f64, Option<Linear>)) -> Crossing {
    let width = (above.0 / below.0).ln();
    match (&below.1, &above.1) {
        (Some(low), Some(high)) => {
            let rise = high.value() - low.value();
            let share = -low.value() / rise;
            // A higher share at either end moves the crossing to a lower rate.
            let errors = low.mapped(0.0, (share - 1.0) * width / rise);
            let errors = errors.plus(-width / rise, &high.mapped(0.0, share));
            Crossing { log: Some(errors.mapped(below.0.ln() + share * width, 1.0)), jump: 0.0 }
        }
        (Some(low), None) => {
            Crossing { log: Some(low.mapped(below.0.ln() + width / 2.0, 0.0)), jump: width / 2.0 }
        }
        (None, _) => Crossing { log: None, jump: 0.0 },
    }
}

#[cfg(test)]
mod tests {
    use super::super::bracket::{Bracket, RESOLUTION, TriedLoad, bracket};
    use super::*;

    /// A share that grows with the load, in replications that differ by `noise`.
    fn grows(load: f64, limit: f64, noise: f64) -> Linear {
        let share = |sign: f64| ((load / limit).powi(9) * (sign * noise).exp(), 1.0);
        let signs = [1.0, -1.0, 1.0, -1.0, -1.0, 1.0, -1.0, 1.0];
        Linear::ratio_of_sums(&signs.map(share)).ln()
    }

    fn find(step: f64, of: impl Fn(f64) -> Option<Linear>) -> Option<Crossing> {
        let at = |load: f64| {
            let what = of(load);
            Ok::<_, ()>(TriedLoad { load, log: what.as_ref().map_or(f64::INFINITY, Linear::value), what })
        };
        let Bracket { below, above } = bracket(0.5, step, at).unwrap();
        let between = below.log <= 0.0 && above.log > 0.0;
        between.then(|| crossing((below.load, below.what), (above.load, above.what)))
    }

    #[test]
    fn finds_the_crossing_from_either_side() {
        for limit in [0.3, 0.713, 0.97] {
            let found = find(0.1, |load| Some(grows(load, limit, 0.1))).unwrap();
            let rate = found.interval(0.95);
            assert!(rate.contains(limit) && found.jump == 0.0, "{limit}: {rate:?}");
            // Nine per cent are one of load; the mean of 8 replications, at t = 2.36.
            assert!((0.005..0.02).contains(&rate.relative_half_width()), "{limit}: {rate:?}");
        }
    }

    #[test]
    fn what_two_systems_share_cancels_in_the_ratio_of_their_rates() {
        let highest = |limit: f64| find(0.05, |load| Some(grows(load, limit, 0.3))).unwrap();
        let ratio = highest(0.9).over(&highest(0.6)).interval(0.95);
        assert!(ratio.contains(1.5) && ratio.relative_half_width() < 0.005, "{ratio:?}");
    }

    #[test]
    fn a_jump_into_overload_is_known_to_the_resolution() {
        let found = find(0.1, |load| (load < 0.6).then(|| grows(load, 0.9, 0.1))).unwrap();
        let rate = found.interval(0.95);
        assert!(rate.contains(0.6) && rate.relative_half_width() <= RESOLUTION, "{rate:?}");
    }

    #[test]
    fn a_system_that_never_breaks_the_limit_or_never_keeps_it_has_no_highest_rate() {
        assert!(find(0.3, |load| Some(grows(load, 5.0, 0.1))).is_none());
        assert!(find(0.3, |_| None).is_none());
    }
}
