//! The experiment with recorded arrivals, which are a stretch of time as it was and have no steady state. [`super::Experiment`] hands
//! over to it where a workload's arrivals come from a file.
//!
//! Every replication plays the file from its first arrival to its last, into a system that begins empty, and measures all
//! of them: what is reported is about this file, its busy parts included. A part of it would be about that part, and where
//! the parts lie is what such a file is recorded for.
//!
//! Replications differ in the draws of service times and in what policies draw, and in nothing else. So intervals say how
//! well the figures are known *for these arrivals*; they say nothing about another hour or another day, and there is no
//! steady state for them to be about: the load of the whole file may be far below what the cores can do, and that of a
//! part of it far above. [`Results::steady`] is never true.
//!
//! There are at least 12 replications, and more until the figures are known to [`FINE`], whatever was asked for, as far as
//! the limit of requests goes: there is one right answer for a file. There are fewer where they would be more requests than
//! that, with intervals that are as much wider. A quick run is content with two. Where not even
//! one fits, the file is played as far as the limit goes, and the rest is said to be missing ([`Recorded::is_whole`]).

pub use caudal_row::Recorded;
use caudal_stats::{Decision, StopRule};

use crate::engine::Length;
use crate::experiment::{Control, Experiment, ExperimentError, Results, STAGE_MIN, quick_requests};

/// Most replications of a short file: more precision than that takes a longer one.
const PLAYS_MAX: u64 = 1_000;
/// Replications of a quick run, at least: one has no interval.
const PLAYS_QUICK: u64 = 2;
/// Precision to which a file is played, if that was not asked for, as far as the limit of requests goes.
const FINE: f64 = 0.01;

/// The part of so many recorded arrivals that replications of this length play.
pub(crate) fn recorded(arrivals: u64, length: Length) -> Recorded {
    let left_out = length.warm_up.min(arrivals);
    Recorded { arrivals, left_out, measured: length.measured.min(arrivals - left_out) }
}

impl Experiment<'_> {
    /// Plays recorded arrivals, of which there are `count`.
    pub(crate) fn play(&self, count: u64, control: &Control<'_>) -> Result<Results, ExperimentError> {
        let limit = self.measure.stop.max_requests;
        let warm_up = self.given_warm_up(self.measure.warm_up).min(count.saturating_sub(1));
        let rest = count - warm_up;
        let measured = self.measure.requests.map_or(rest, |given| given.min(rest));
        let measured = measured.min(limit.saturating_sub(warm_up)).max(1);
        let length = Length { warm_up, measured };
        let rule = self.plays(length);
        let fine = match self.quick || self.measure.replications.is_some() {
            true => rule,
            false => StopRule { relative_error: rule.relative_error.min(FINE), ..rule },
        };
        let mut results = self.stage(control, &fine, length, 0)?;
        let done = results.accounts.len() as u32;
        let estimates = self.judged_estimates(&results, rule.confidence);
        results.precise = !results.overloaded && rule.decide(done, &estimates) == Decision::Precise;
        Ok(results)
    }

    /// How often a file is played.
    fn plays(&self, Length { warm_up, measured }: Length) -> StopRule {
        let stop = &self.measure.stop;
        let most = (stop.max_requests / (warm_up + measured)).clamp(1, PLAYS_MAX);
        let enough = match self.quick {
            true => (quick_requests(self.system) / (warm_up + measured)).clamp(PLAYS_QUICK.min(most), most),
            false => most,
        };
        let exactly = self.measure.replications;
        StopRule {
            confidence: stop.confidence,
            relative_error: self.relative_error(),
            min_replications: exactly.unwrap_or(STAGE_MIN.min(enough as u32)),
            max_replications: exactly.unwrap_or(enough as u32),
        }
    }
}
