//! Two systems that see the same requests: which one is better, by how much, and how sure is that?
//! `caudal compare` calls [`compare()`], and so does the judgement of lanes.
//!
//! Replication *i* of both has the same arrivals and service times; [`caudal_stats::paired`] says what follows
//! from that. Replications get longer until the ratio of every judged statistic (mean and percentiles of all
//! requests' latency) is known as precisely as was asked, or the limit of requests is reached.

use caudal_config::{Measure, SystemPlan, WarmUp, Workload};
use caudal_policy::Picos;
use caudal_sim::experiment::{
    ClassResults, Control, Experiment, ExperimentError, Results, StopOn, quick_requests,
};
use caudal_sim::recorded::Recorded;
use caudal_stats::Estimate;
use caudal_stats::paired::{Comparison, Metric, Verdict, compare as paired};
use caudal_stats::{Replicated, Scale, percentile_label};
use serde::Serialize;

use crate::TuneError;

/// Pairs of replications.
const PAIRS: u32 = 20;
/// Requests of a replication: at first, and the factor to the next length.
const FIRST_REQUESTS: u64 = 20_000;
const LONGER: u64 = 4;
/// Most times that recorded arrivals are played.
const PLAYS_MAX: u64 = 500;

/// The two systems of a comparison, with their workload.
#[derive(Clone, Copy, Debug)]
pub struct Contest<'a> {
    /// The two systems; each has its own costs, and as many workers as it likes.
    pub systems: [&'a SystemPlan; 2],
    /// The workload that both serve.
    pub workload: &'a Workload,
    /// Requests a second, the same for both.
    pub rate_per_s: f64,
    /// Seed, percentiles, precision and confidence.
    pub measure: &'a Measure,
    /// Settle for 10 % precision and [`quick_requests`].
    pub quick: bool,
}

/// One statistic of both systems.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// The class of requests; all if none.
    pub class: Option<String>,
    /// `latency_ns`, `slowdown`, `waiting_ns` or `miss`.
    pub metric: &'static str,
    /// `mean`, `p99`, `miss 25ms`.
    pub statistic: String,
    /// The first and the second system's.
    pub values: [Estimate; 2],
    /// First minus second, in ns or as a difference of slowdowns or shares.
    pub difference: Estimate,
    /// The first system's statistic over the second's.
    pub ratio: Estimate,
    /// The verdict on whether the first system is better.
    pub verdict: Verdict,
}

/// The result of a contest.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// Names of the systems.
    pub systems: [String; 2],
    /// For each of the two, whether it fell behind; then there are no lines.
    pub overloaded: [bool; 2],
    /// Statistics of all requests, then class by class.
    pub lines: Vec<Line>,
    /// Pairs of replications.
    pub pairs: usize,
    /// Measured requests of each system.
    pub requests: u64,
    /// Were the systems in their steady state, the first and the second? Where one was not, all of its figures are of
    /// a system that is still filling.
    pub steady: [bool; 2],
    /// The part of recorded arrivals that was played, if they were recorded: then there is no steady state, and figures are about them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Recorded>,
    /// Is every judged ratio as precise as was asked, and do the figures of both systems hold?
    pub precise: bool,
}

/// Holds two systems against each other.
///
/// # Errors
/// [`TuneError::Interrupted`], and what the simulator can not do.
pub fn compare(contest: &Contest<'_>, control: &Control<'_>) -> Result<Compared, TuneError> {
    let warm_up = match contest.measure.warm_up {
        WarmUp::Auto => {
            let found = |side| Ok(contest.run(side, WarmUp::Auto, 1_000, 2, control)?.warm_up);
            let both: [Result<u64, TuneError>; 2] = [found(0), found(1)];
            let [first, second] = both;
            WarmUp::Requests(first?.max(second?))
        }
        given => given,
    };
    let quick = contest.systems.map(|plan| quick_requests(&plan.system));
    let most = if contest.quick { quick[0].min(quick[1]) } else { u64::MAX };
    let most = most.min(contest.measure.stop.max_requests);
    let most = (most / u64::from(PAIRS)).max(1);
    // As long as relaxation asks for, which is twice the warm-up that it asks for.
    let first = match (contest.measure.warm_up, warm_up) {
        (WarmUp::Auto, WarmUp::Requests(found)) => FIRST_REQUESTS.max(2 * found),
        _ => FIRST_REQUESTS,
    };
    if let Some(count) = contest.workload.arrivals.count() {
        return contest.play((count, warm_up), most * u64::from(PAIRS), control);
    }
    let mut length = contest.measure.requests.unwrap_or(first).min(most);
    let pairs = contest.measure.replications.unwrap_or(PAIRS);
    loop {
        let side = |side| contest.run(side, warm_up, length, pairs, control);
        let both = [side(0)?, side(1)?];
        let compared = contest.compared(&both)?;
        let longer = (length * LONGER).min(most);
        let decided = compared.precise || compared.overloaded.contains(&true);
        if decided || longer <= length || contest.measure.requests.is_some() {
            return Ok(compared);
        }
        length = longer;
    }
}

impl Compared {
    /// Do the figures of the first or the second system hold for what they are about: its steady state, or all that was
    /// recorded of arrivals?
    pub fn holds(&self, side: usize) -> bool {
        self.steady[side] || self.recorded.is_some_and(|it| it.is_whole()) && !self.overloaded[side]
    }
}

impl Contest<'_> {
    /// Recorded arrivals are played whole, by both, as often as it takes and the limit of requests allows.
    fn play(
        &self,
        (count, warm_up): (u64, WarmUp),
        limit: u64,
        control: &Control<'_>,
    ) -> Result<Compared, TuneError> {
        let length = self.measure.requests.unwrap_or(count).min(count);
        let most = (limit / length.max(1)).clamp(2, PLAYS_MAX) as u32;
        let mut pairs = self.measure.replications.unwrap_or(PAIRS.min(most));
        loop {
            let side = |side| self.run(side, warm_up, length, pairs, control);
            let both = [side(0)?, side(1)?];
            let compared = self.compared(&both)?;
            let more = (pairs * LONGER as u32).min(most);
            let decided = compared.precise || compared.overloaded.contains(&true);
            if decided || more <= pairs || self.measure.replications.is_some() {
                return Ok(compared);
            }
            pairs = more;
        }
    }

    fn run(
        &self,
        side: usize,
        warm_up: WarmUp,
        requests: u64,
        replications: u32,
        control: &Control<'_>,
    ) -> Result<Results, TuneError> {
        let system = &self.systems[side].system;
        let mut measure = Measure { warm_up, replications: Some(replications), ..self.measure.clone() };
        // Whole cycles of what arrives, unless another length was asked for.
        let whole = self.experiment(side, &measure).whole_cycles(requests as f64).round() as u64;
        measure.requests = Some(if self.measure.requests.is_some() { requests } else { whole });
        self.experiment(side, &measure).run(control).map_err(|error| match error {
            ExperimentError::Interrupted(_) => TuneError::Interrupted,
            ExperimentError::Variant(message) => {
                TuneError::Simulator { system: system.name.clone(), message }
            }
        })
    }

    fn experiment<'b>(&'b self, side: usize, measure: &'b Measure) -> Experiment<'b> {
        let plan = self.systems[side];
        Experiment {
            system: &plan.system,
            costs: &plan.costs,
            service: &self.workload.service,
            arrivals: &self.workload.arrivals,
            mean_gap_ps: 1e12 / self.rate_per_s,
            measure,
            quick: false,
            stop_on: StopOn::Reported,
        }
    }

    fn compared(&self, both: &[Results; 2]) -> Result<Compared, TuneError> {
        let overloaded = [both[0].overloaded, both[1].overloaded];
        let lines = if overloaded.contains(&true) { Vec::new() } else { self.lines(both)? };
        let wanted = if self.quick {
            self.measure.stop.relative_error.max(0.1)
        } else {
            self.measure.stop.relative_error
        };
        let judged = lines.iter().filter(|line| line.class.is_none() && line.metric == "latency_ns");
        let precise =
            !lines.is_empty() && judged.clone().all(|line| line.ratio.relative_half_width() <= wanted);
        let steady = [both[0].steady, both[1].steady];
        let precise = precise && both.iter().all(Results::holds);
        Ok(Compared {
            systems: self.systems.map(|plan| plan.system.name.clone()),
            overloaded,
            steady,
            recorded: both[0].recorded,
            pairs: both[0].accounts.len(),
            requests: both[0].requests.min(both[1].requests),
            precise,
            lines,
        })
    }

    fn lines(&self, both: &[Results; 2]) -> Result<Vec<Line>, TuneError> {
        let mut lines = self.of_class(None, [&both[0].all, &both[1].all])?;
        let classes = self.workload.service.classes();
        if classes.len() > 1 {
            for (index, class) in classes.iter().enumerate() {
                lines.extend(self.of_class(Some(class), [&both[0].classes[index], &both[1].classes[index]])?);
            }
        }
        Ok(lines)
    }

    fn of_class(&self, class: Option<&String>, both: [&ClassResults; 2]) -> Result<Vec<Line>, TuneError> {
        let mut lines = Vec::new();
        let latency = ("latency_ns", Scale::per(1e3), both.map(|results| &results.latency_ps));
        let slowdown = ("slowdown", Scale::SLOWDOWN, both.map(|results| &results.slowdown));
        let waiting = ("waiting_ns", Scale::per(1e3), both.map(|results| &results.wait_ps));
        let waiting = self.measure.wait.then_some(waiting);
        for (metric, scale, sides) in [latency, slowdown].into_iter().chain(waiting) {
            let percentiles = self.measure.percentiles.iter().map(|&p| Metric::Percentile(p));
            for statistic in std::iter::once(Metric::Mean).chain(percentiles) {
                lines.push(self.line(class, metric, scale, statistic, sides)?);
            }
        }
        let misses = |&late: &Picos| self.misses(class, late, both.map(|results| &results.latency_ps));
        lines.extend(self.measure.miss.iter().map(misses));
        Ok(lines)
    }

    /// The shares of requests that take longer than `late`, on common replications.
    fn misses(&self, class: Option<&String>, late: Picos, sides: [&Replicated; 2]) -> Line {
        let confidence = self.measure.stop.confidence;
        let [own, other] = sides.map(|side| side.share_above(late.0, usize::MAX));
        let known = own.value() > 0.0 && other.value() > 0.0;
        let ratio = match known {
            true => own.ln().plus(-1.0, &other.ln()).exp_interval(confidence),
            false => Estimate::MISSING,
        };
        Line {
            class: class.cloned(),
            metric: "miss",
            statistic: format!("miss {late}"),
            values: sides.map(|side| side.miss_ratio(late.0, confidence)),
            difference: own.plus(-1.0, &other).interval(confidence),
            ratio,
            verdict: match ratio {
                ratio if ratio.high < 1.0 => Verdict::Better,
                ratio if ratio.low > 1.0 => Verdict::Worse,
                _ => Verdict::Undecided,
            },
        }
    }

    fn line(
        &self,
        class: Option<&String>,
        metric: &'static str,
        scale: Scale,
        statistic: Metric,
        sides: [&Replicated; 2],
    ) -> Result<Line, TuneError> {
        let confidence = self.measure.stop.confidence;
        let value = |side: &Replicated| match statistic {
            Metric::Mean => side.mean(confidence),
            Metric::Percentile(p) => side.percentile(p, confidence),
        };
        let system = || self.systems[0].system.name.clone();
        let failed = |error: caudal_stats::paired::PairedError| TuneError::Simulator {
            system: system(),
            message: error.to_string(),
        };
        let Comparison { difference, ratio, verdict, .. } =
            paired(sides[0], sides[1], statistic, confidence).map_err(failed)?;
        Ok(Line {
            class: class.cloned(),
            metric,
            statistic: match statistic {
                Metric::Mean => "mean".to_owned(),
                Metric::Percentile(p) => percentile_label(p),
            },
            values: sides.map(|side| scale.estimate(value(side))),
            difference: scale.difference(difference),
            ratio,
            verdict,
        })
    }
}
