//! The range of stalls for which a prediction stands, and the verdict on a row. The fidelity run fills it, round by round, and prints by it.
//!
//! On a virtual machine stalls change from minute to minute. Each round is predicted from the stalls that its calibration saw, so the
//! predictions of all rounds have a spread: that is the prediction's interval. A round whose run met more or fewer stalls than any of the
//! calibrations has left the range that anything was predicted for, and says little about the simulator.

use std::error::Error;

use caudal_config::{File, Options};
use caudal_measure::compare::Spread;

/// A run has left the range of its calibrations if its share of stalled time is so many times as large as in the worst of them, or as
/// small as in the best.
const BEYOND: f64 = 1.25;

/// Shares of the time in which the machine stood still, from 0 to 1: of the calibrations, and of the runs.
#[derive(Clone, Debug, Default)]
pub(super) struct StallsSeen {
    calibrated: Vec<f64>,
    measured: Vec<f64>,
}

impl StallsSeen {
    /// Adds a round.
    pub(super) fn add(&mut self, calibrated: f64, measured: f64) {
        self.calibrated.push(calibrated);
        self.measured.push(measured);
    }

    /// Number of rounds whose run has left the range of the calibrations.
    pub(super) fn left(&self) -> usize {
        let Some(range) = Spread::of(&self.calibrated) else { return 0 };
        let is_within = |share: &&f64| **share <= range.high * BEYOND && **share >= range.low / BEYOND;
        self.measured.len() - self.measured.iter().filter(is_within).count()
    }

    /// A sentence if some rounds have left the range.
    pub(super) fn said(&self) -> Option<String> {
        let (calibrated, measured) = (Spread::of(&self.calibrated)?, Spread::of(&self.measured)?);
        let percent = |spread: Spread| format!("{:.1} to {:.1} %", 100.0 * spread.low, 100.0 * spread.high);
        (self.left() > 0).then(|| {
            format!(
                "in {} of {} rounds the machine left the range that was predicted for: it stood still for {} of the time in the runs, \
                 and for {} in the calibrations",
                self.left(),
                self.measured.len(),
                percent(measured),
                percent(calibrated)
            )
        })
    }
}

/// Share of the time that stalls take by these costs, which are overrides.
pub(super) fn share_of(costs: &[String]) -> Result<f64, Box<dyn Error>> {
    let options = Options { overrides: costs.to_vec(), ..Options::default() };
    let file = File::parse_with("[system]\ncores = 1\n", "costs.toml", &options)?;
    let stalls = file.systems.first().and_then(|plan| plan.costs.stalls.as_ref());
    Ok(stalls.map_or(0.0, caudal_config::Stalls::share))
}

/// The verdict on a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The median of the rounds' ratios is within the bound.
    Met,
    /// It is not, and the measured median lies in the interval of the prediction.
    InRange,
    /// It is not, and in most rounds the machine had left the range of stalls that was predicted for.
    Left,
    /// It is not, and stalls do not explain it.
    Missed,
}

impl Verdict {
    /// A word for the table and for JSON.
    pub(super) fn word(self) -> &'static str {
        match self {
            Verdict::Met => "met",
            Verdict::InRange => "in range",
            Verdict::Left => "left",
            Verdict::Missed => "missed",
        }
    }
}

/// The verdict on a row whose ratio of simulated to measured may be `within` of 1, where `left` rounds had other stalls.
pub(super) fn verdict(
    ratio: Spread,
    measured: Spread,
    simulated: Spread,
    within: f64,
    left: usize,
) -> Verdict {
    if (ratio.median - 1.0).abs() <= within {
        Verdict::Met
    } else if (simulated.low..=simulated.high).contains(&measured.median) {
        Verdict::InRange
    } else if 2 * left > ratio.trials {
        Verdict::Left
    } else {
        Verdict::Missed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(low: f64, median: f64, high: f64) -> Spread {
        Spread { median, low, high, trials: 3 }
    }

    #[test]
    fn a_run_with_other_stalls_than_the_calibrations_has_left_their_range() {
        let mut seen = StallsSeen::default();
        [(0.02, 0.02), (0.04, 0.045), (0.03, 0.1), (0.03, 0.001)]
            .into_iter()
            .for_each(|(of, in_run)| seen.add(of, in_run));
        assert_eq!(seen.left(), 2);
        let said = seen.said().expect("two rounds have left");
        assert!(said.starts_with("in 2 of 4 rounds") && said.contains("0.1 to 10.0 %"), "{said}");
        let mut quiet = StallsSeen::default();
        quiet.add(0.0, 0.0);
        assert_eq!((quiet.left(), quiet.said()), (0, None));
    }

    #[test]
    fn verdicts_say_whether_stalls_explain_a_miss() {
        let off = spread(1.2, 1.3, 1.4);
        assert_eq!(verdict(spread(0.9, 1.1, 1.4), off, off, 0.15, 3), Verdict::Met);
        assert_eq!(verdict(off, spread(4.0, 5.0, 6.0), spread(4.5, 6.5, 7.0), 0.15, 0), Verdict::InRange);
        assert_eq!(verdict(off, spread(4.0, 5.0, 6.0), spread(6.0, 6.5, 7.0), 0.15, 2), Verdict::Left);
        assert_eq!(verdict(off, spread(4.0, 5.0, 6.0), spread(6.0, 6.5, 7.0), 0.15, 1), Verdict::Missed);
    }

    #[test]
    fn the_share_of_stalls_is_that_of_the_costs() {
        let stalls = "costs.stalls={ rate = \"1000/s\", lengths = [[0, \"10us\"], [1, \"30us\"]] }";
        assert!((share_of(&[stalls.to_owned()]).unwrap() - 0.02).abs() < 1e-9);
        assert_eq!(share_of(&[]).unwrap(), 0.0);
    }
}
