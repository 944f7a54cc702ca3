//! The process by which the machine itself takes cores away from a program: hypervisors, interrupts, other programs. `costs` holds it
//! where a file or a calibration gives one, the rules of coherence check its numbers, and the simulator draws stalls from it. Pure.
//!
//! On each core, times without a stall and stalls alternate. A time without is exponentially distributed; the length of a stall is drawn
//! from the distribution that was measured. Cores do not depend on each other. During a stall its core does nothing, and the core's work takes
//! that much longer.

use caudal_policy::{List, Picos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Rate;

/// How often a core is taken away, and for how long. Read it from a machine by `caudal calibrate`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stalls {
    /// Stalls of one core a second.
    pub rate: Rate,
    /// Their lengths: at most 16 pairs of a share of all stalls and the length that this share does not exceed, from share 0 (the shortest) to
    /// share 1 (the longest). Between two pairs, lengths lie on a straight line.
    pub lengths: List<(f64, Picos)>,
}

impl Stalls {
    /// The largest share of a core's time that stalls may take. A core that is shared with four other busy programs is away for four fifths.
    pub const SHARE_MAX: f64 = 0.95;

    /// The length that a `share` of all stalls, 0 to 1, does not exceed.
    pub fn length(&self, share: f64) -> Picos {
        let Some(&(_, first)) = self.lengths.first() else { return Picos::ZERO };
        let at = self.lengths.partition_point(|pair| pair.0 <= share);
        let ((from, low), above) = match at.checked_sub(1) {
            Some(below) => (self.lengths[below], self.lengths.get(at)),
            None => return first,
        };
        let Some(&(to, high)) = above else { return low };
        let over = (share - from) / (to - from) * (high.0 - low.0) as f64;
        Picos(low.0 + over.round() as u64)
    }

    /// Their mean length, in ps.
    pub fn mean_length_ps(&self) -> f64 {
        let part = |pair: &[(f64, Picos)]| {
            let ((from, low), (to, high)) = (pair[0], pair[1]);
            (to - from) * (low.0 as f64 + high.0 as f64) / 2.0
        };
        self.lengths.windows(2).map(part).sum()
    }

    /// The mean time from the end of a stall to the begin of the next one, in ps.
    pub fn mean_gap_ps(&self) -> f64 {
        1e12 / self.rate.per_s() - self.mean_length_ps()
    }

    /// Share of a core's time that stalls take.
    pub fn share(&self) -> f64 {
        self.rate.per_s() * self.mean_length_ps() / 1e12
    }

    /// Are shares and lengths in order?
    pub(crate) fn in_order(&self) -> bool {
        let ends = self.lengths.first().is_some_and(|pair| pair.0 == 0.0)
            && self.lengths.last().is_some_and(|pair| pair.0 == 1.0 && pair.1 > Picos::ZERO);
        let rising = |pair: &[(f64, Picos)]| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1;
        ends && self.lengths.windows(2).all(rising)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stalls(rate: &str, lengths: &[(f64, u64)]) -> Stalls {
        let lengths: Vec<(f64, Picos)> =
            lengths.iter().map(|&(share, ns)| (share, Picos::from_nanos(ns))).collect();
        Stalls { rate: Rate::parse(rate).unwrap(), lengths: List::new(&lengths).unwrap() }
    }

    #[test]
    fn lengths_lie_on_straight_lines_between_the_pairs() {
        let stalls = stalls("1000/s", &[(0.0, 1_000), (0.5, 3_000), (1.0, 11_000)]);
        for (share, ns) in [(0.0, 1_000), (0.25, 2_000), (0.5, 3_000), (0.75, 7_000), (1.0, 11_000)] {
            assert_eq!(stalls.length(share), Picos::from_nanos(ns), "{share}");
        }
        // (1 + 3) / 2 and (3 + 11) / 2, each for half of them.
        assert_eq!(stalls.mean_length_ps(), 4.5e6);
        assert!((stalls.share() - 0.0045).abs() < 1e-12);
        assert_eq!(stalls.mean_gap_ps(), 1e9 - 4.5e6);
    }

    #[test]
    fn the_order_of_pairs_is_checked() {
        let sound = |lengths: &[(f64, u64)]| stalls("1/s", lengths).in_order();
        assert!(sound(&[(0.0, 5), (1.0, 5)]), "all equally long");
        assert!(!sound(&[(0.0, 5)]), "no longest one");
        assert!(!sound(&[]));
        assert!(!sound(&[(0.1, 5), (1.0, 9)]), "no shortest one");
        assert!(!sound(&[(0.0, 5), (0.5, 4), (1.0, 9)]), "lengths fall");
        assert!(!sound(&[(0.0, 5), (0.5, 6), (0.5, 7), (1.0, 9)]), "a share twice");
        assert!(!sound(&[(0.0, 0), (1.0, 0)]), "nothing at all");
    }
}
