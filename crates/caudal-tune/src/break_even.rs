//! The off-line profile of load adaptation: how many hardware contexts of a core are best at which rate.
//! `caudal break-even` calls [`profile`].
//!
//! [`profile`] simulates a core with each number of contexts active along rates, all on the same requests, and looks for
//! the *break-even* rates, where the curves of the target cross. They are the table that [`LoadAdaptationConfig`] looks
//! into while the core runs. What has been simulated at a rate goes into a [`Journal`], so that a profile that was broken
//! off goes on there, and ends with the same answer to the last bit.
//!
//! Source: Mirhosseini et al., HPCA 2020, section 4.2 and Figure 7.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use caudal_config::{
    ContextsConfig, Costs, LatencyStatistic, Measure, Pools, Statistic, System, WarmUp, Workload,
};
use caudal_policy::contexts::LoadAdaptationConfig;
use caudal_policy::discipline::DisciplineConfig;
use caudal_policy::{List, Picos};
use caudal_sim::experiment::{Experiment, ExperimentError, Quantity, Results, StopOn};
use caudal_stats::paired::{Metric, typical_ratio};
use caudal_stats::{Estimate, Replicated};
use serde::{Deserialize, Serialize};

use crate::aims::class_of;
use crate::{Control, Journal, Phase, Progress, TuneError, parallel};

/// Rates that all numbers of contexts are simulated at, over what the core carries with all of them.
const SHARES: [f64; 14] = [0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95];
/// Halvings of the interval in which two curves cross: from a tenth of the capacity to a thousandth.
const HALVINGS: u32 = 6;
/// Replications, and measured requests of one: at least, at least with `quick`, at most.
const REPLICATIONS: u32 = 16;
const MEASURED: (f64, f64, f64) = (30_000.0, 8_000.0, 300_000.0);
/// Steps of the journal.
const CURVES: usize = 0;
const CROSSINGS: usize = 1;

/// A question to [`profile`].
#[derive(Clone, Debug)]
pub struct ProfileQuestion<'a> {
    /// The workload; its own load or rate does not matter.
    pub workload: &'a Workload,
    /// Cores with contexts, each with a queue of its own; one of them is profiled. Its own adaptation does not matter.
    pub system: &'a System,
    /// The costs of the machine, those of a switch among them.
    pub costs: &'a Costs,
    /// Numbers of contexts to choose among, increasing; the most is at most what a core has.
    pub counts: Vec<u32>,
    /// How long arrivals are counted before the table is applied.
    pub window: Picos,
    /// The statistic that is to be as short as possible.
    pub target: &'a LatencyStatistic,
    /// Seed and confidence.
    pub measure: &'a Measure,
    /// Whether fewer requests are enough.
    pub quick: bool,
}

impl ProfileQuestion<'_> {
    /// Requests that its profile simulates, about, if replications are as short as they can be and curves cross.
    pub fn requests_about(&self) -> u64 {
        let least = if self.quick { MEASURED.1 } else { MEASURED.0 };
        let one = u64::from(REPLICATIONS) * (1.25 * least) as u64;
        let curves = self.counts.len() as u64;
        one * (curves * SHARES.len() as u64 + curves.saturating_sub(1) * u64::from(2 * HALVINGS))
    }
}

/// The result of a profile.
#[derive(Clone, Debug, Serialize)]
pub struct Profile {
    /// A curve for each number of contexts.
    pub curves: Vec<Curve>,
    /// Where the table changes its mind: one less than it has numbers of contexts.
    pub break_even: Vec<BreakEven>,
    /// The table; none if it was interrupted.
    pub adaptation: Option<LoadAdaptationConfig>,
    /// Requests that were simulated.
    pub simulated: u64,
    /// Was it stopped before all was known? Then the curves have the rates that are done.
    pub interrupted: bool,
}

/// The target along the rate.
#[derive(Clone, Debug, Serialize)]
pub struct Curve {
    /// Active contexts.
    pub contexts: u32,
    /// The points of the curve, by increasing rate.
    pub points: Vec<LoadPoint>,
}

/// The target at a rate.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct LoadPoint {
    /// Requests of a core in a second.
    pub rate_per_s: f64,
    /// In ns, or as a ratio; missing in overload.
    pub target: Estimate,
    /// Do requests come faster than they go?
    pub overloaded: bool,
}

/// From `per_s` on, `to` contexts are better than `from`.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct BreakEven {
    /// The number that is better below.
    pub from: u32,
    /// The number that is better above.
    pub to: u32,
    /// Requests of a core in a second. Below the low end, `from` is certainly better at the rates that were looked at, above
    /// the high end `to`.
    pub per_s: Estimate,
}

/// Profiles one core of a system. A request to stop ends it with what is known ([`Profile::interrupted`]).
///
/// # Errors
/// What can not be asked, and [`TuneError::Interrupted`] if nothing is known yet.
pub fn profile(
    question: &ProfileQuestion<'_>,
    control: &Control<'_, Progress>,
    journal: &dyn Journal,
) -> Result<Profile, TuneError> {
    let context = ProfileRuns::new(question, control, journal)?;
    let most_per_s = question.system.capacity() / f64::from(question.system.cores)
        * (1e12 / question.workload.service.mean_ps());
    let rates: Vec<f64> = SHARES.iter().map(|share| share * most_per_s).collect();
    let seen = context.along(&rates)?;
    let steps = match seen.len() == rates.len() {
        true => best_counts(&question.counts, |from, to| context.crossing(&seen, from, to)),
        false => Err(TuneError::Interrupted),
    };
    let steps = match steps {
        Err(TuneError::Interrupted) => None,
        steps => Some(steps?),
    };
    let curve = |(at, &contexts): (usize, &u32)| {
        let point = |seen: &SeenAtRate| LoadPoint { rate_per_s: seen.rate_per_s, ..seen.points[at] };
        Curve { contexts, points: seen.iter().map(point).collect() }
    };
    Ok(Profile {
        curves: question.counts.iter().enumerate().map(curve).collect(),
        adaptation: steps.as_deref().map(|steps| table(steps, question.window)),
        break_even: steps
            .as_deref()
            .unwrap_or_default()
            .windows(2)
            .filter_map(|pair| Some(BreakEven { from: pair[0].0, to: pair[1].0, per_s: pair[1].1? }))
            .collect(),
        simulated: context.simulated.into_inner(),
        interrupted: steps.is_none(),
    })
}

/// Where one number of contexts becomes better than another one.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Crossing {
    /// The larger number is better at all rates.
    Always,
    /// The larger number is better at no rate.
    Never,
    /// The larger number is better from this rate on.
    At(Estimate),
}

/// A number of contexts, and the rate from which on it is the best; none for the first.
type Stretch = (u32, Option<Estimate>);

/// The best number at each rate. A number that is overtaken by a higher one before it is the best is
/// never the best.
fn best_counts(
    counts: &[u32],
    mut crossing: impl FnMut(u32, u32) -> Result<Crossing, TuneError>,
) -> Result<Vec<Stretch>, TuneError> {
    let mut best: Vec<Stretch> = Vec::new();
    for &next in counts {
        loop {
            let Some(&(top, since)) = best.last() else {
                best.push((next, None));
                break;
            };
            match crossing(top, next)? {
                Crossing::Never => break,
                Crossing::At(rate) if since.is_none_or(|since| since.estimate < rate.estimate) => {
                    best.push((next, Some(rate)));
                    break;
                }
                Crossing::At(_) | Crossing::Always => best.truncate(best.len() - 1),
            }
        }
    }
    Ok(best)
}

fn table(steps: &[Stretch], window: Picos) -> LoadAdaptationConfig {
    let contexts: Vec<u32> = steps.iter().map(|step| step.0).collect();
    let mut rates: Vec<u32> = Vec::new();
    for rate in steps.iter().filter_map(|step| step.1) {
        let least = rates.last().map_or(1, |last| last + 1);
        rates.push((rate.estimate.round() as u32).max(least));
    }
    LoadAdaptationConfig {
        window,
        contexts: List::new(&contexts).expect("as many as were asked for"),
        break_even_per_s: List::new(&rates).expect("fewer than numbers of contexts"),
    }
}

/// The simulations of all numbers of contexts at one rate, on the same requests.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SeenAtRate {
    rate_per_s: f64,
    /// A point for each number of contexts.
    points: Vec<LoadPoint>,
    /// Of each pair of them; none where both are overloaded.
    ratios: Vec<Ratio>,
    /// Requests that were simulated.
    requests: u64,
}

/// The target of `to` contexts over that of `from`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Ratio {
    from: u32,
    to: u32,
    ratio: Estimate,
}

impl SeenAtRate {
    fn ratio(&self, from: u32, to: u32) -> Option<Estimate> {
        self.ratios.iter().find(|ratio| (ratio.from, ratio.to) == (from, to)).map(|found| found.ratio)
    }
}

struct ProfileRuns<'a> {
    question: &'a ProfileQuestion<'a>,
    control: &'a Control<'a, Progress>,
    contexts: ContextsConfig,
    journal: &'a dyn Journal,
    target: Quantity,
    simulated: AtomicU64,
    /// Rates that have been looked at between those of the curves.
    between: AtomicUsize,
}

impl<'a> ProfileRuns<'a> {
    fn new(
        question: &'a ProfileQuestion<'a>,
        control: &'a Control<'a, Progress>,
        journal: &'a dyn Journal,
    ) -> Result<ProfileRuns<'a>, TuneError> {
        let wrong = |fault: &str| TuneError::Contexts(fault.to_owned());
        let ProfileQuestion { system, target, workload, counts, .. } = question;
        let contexts = system.contexts.clone().ok_or_else(|| wrong("the system has no `contexts`"))?;
        if system.pools != Pools::PerCore && system.cores > 1 {
            return Err(wrong(
                "the pools of the system have several cores, and a core is profiled by itself: write pools = \"per-core\"",
            ));
        }
        let rising = counts.windows(2).all(|pair| pair[0] < pair[1]);
        let least = counts.first().copied().unwrap_or(0);
        if !rising || least == 0 || counts.len() < 2 || counts.last() > Some(&contexts.count) {
            return Err(wrong(&format!(
                "the numbers of contexts are {counts:?}: give at least two, from 1 to the {} of a core, each larger than the one \
                 before",
                contexts.count
            )));
        }
        if question.window == Picos::ZERO {
            return Err(wrong("the window is 0: give a time above 0, such as 10us"));
        }
        if workload.arrivals.natural_rate().is_some() {
            return Err(TuneError::RecordedArrivals);
        }
        let LatencyStatistic { class, statistic, metric } = target;
        let without = LatencyStatistic { class: None, ..(*target).clone() };
        let class = class_of(&workload.service, class.as_ref(), target, &without)?;
        let percentile = match statistic {
            Statistic::Mean | Statistic::Miss(_) => None,
            Statistic::Percentile(percentile) => Some(*percentile),
        };
        let target = Quantity { class, metric: *metric, percentile, ..Quantity::default() };
        Ok(ProfileRuns {
            question,
            control,
            contexts,
            journal,
            target,
            simulated: AtomicU64::new(0),
            between: AtomicUsize::new(0),
        })
    }

    /// One core of the system, of which `count` contexts are active all the time.
    fn core(&self, count: u32) -> System {
        let always = LoadAdaptationConfig {
            window: self.question.window,
            contexts: List::new(&[count]).expect("one"),
            break_even_per_s: List::default(),
        };
        let contexts = ContextsConfig { adaptation: Some(always), ..self.contexts.clone() };
        System {
            cores: 1,
            cores_allocated: 1,
            contexts: Some(contexts),
            pools: Pools::PerCore,
            ..self.question.system.clone()
        }
    }

    fn experiment<'b>(&'b self, system: &'b System, rate_per_s: f64, measure: &'b Measure) -> Experiment<'b> {
        Experiment {
            system,
            costs: self.question.costs,
            service: &self.question.workload.service,
            arrivals: &self.question.workload.arrivals,
            mean_gap_ps: 1e12 / rate_per_s,
            measure,
            quick: false,
            stop_on: StopOn::Reported,
        }
    }

    fn run(&self, count: u32, rate_per_s: f64, threads: usize) -> Result<Results, TuneError> {
        let system = self.core(count);
        // How long replications have to be, a core says that has no other contexts.
        let speeds = self.contexts.speeds()[..count as usize].to_vec();
        let alone = System {
            contexts: Some(ContextsConfig { throughput: speeds, ..ContextsConfig::of(count) }),
            discipline: DisciplineConfig::Fcfs,
            ..system.clone()
        };
        let least = if self.question.quick { MEASURED.1 } else { MEASURED.0 };
        let experiment = self.experiment(&alone, rate_per_s, self.question.measure);
        let (warm_up, measured) = experiment.lengths_within((least, MEASURED.2));
        let measure = Measure {
            warm_up: WarmUp::Requests(warm_up),
            requests: Some(measured),
            replications: Some(REPLICATIONS),
            wait: self.question.measure.wait || self.target.metric == caudal_config::Metric::Wait,
            ..self.question.measure.clone()
        };
        let progress = |requests| (self.control.progress)(Progress { phase: Phase::Tuning, requests });
        let control = Control { threads, stop: self.control.stop, progress: &progress };
        let results =
            self.experiment(&system, rate_per_s, &measure).run(&control).map_err(|error| match error {
                ExperimentError::Interrupted(_) => TuneError::Interrupted,
                ExperimentError::Variant(message) => {
                    TuneError::Simulator { system: system.name.clone(), message }
                }
            })?;
        Ok(results)
    }

    /// Simulates `counts` of contexts at `rate_per_s`, or takes that from the journal.
    fn see(
        &self,
        place: (usize, usize),
        counts: &[u32],
        rate_per_s: f64,
        threads: usize,
    ) -> Result<SeenAtRate, TuneError> {
        let known = self.journal.recall(place.0, place.1).map(|entry| entry["seen"].clone());
        if let Some(known) = known.and_then(|known| serde_json::from_value::<SeenAtRate>(known).ok()) {
            self.simulated.fetch_add(known.requests, Ordering::Relaxed);
            return Ok(known);
        }
        let mut work: Vec<(u32, Option<Result<Results, TuneError>>)> =
            counts.iter().map(|&count| (count, None)).collect();
        parallel::each(threads, &mut work, |(count, done), threads| {
            *done = Some(self.run(*count, rate_per_s, threads));
        });
        let results: Vec<Results> = work
            .into_iter()
            .map(|(_, done)| done.expect("each has been worked on"))
            .collect::<Result<_, _>>()?;
        let seen = self.seen(counts, rate_per_s, &results);
        self.simulated.fetch_add(seen.requests, Ordering::Relaxed);
        self.journal.keep(serde_json::json!({
            "step": place.0,
            "entry": place.1,
            "phase": "profiling",
            "system": self.question.system.name,
            "requests": seen.requests,
            "seen": seen,
        }));
        Ok(seen)
    }

    fn seen(&self, counts: &[u32], rate_per_s: f64, results: &[Results]) -> SeenAtRate {
        let point = |results: &Results| LoadPoint {
            rate_per_s,
            target: self.value(results),
            overloaded: results.overloaded,
        };
        let mut ratios = Vec::new();
        for (first, &from) in counts.iter().enumerate() {
            for (second, &to) in counts.iter().enumerate().skip(first + 1) {
                let ratio = self.ratio(&results[first], &results[second]);
                ratios.extend(ratio.map(|ratio| Ratio { from, to, ratio }));
            }
        }
        let requests = results.iter().map(|results| results.simulated).sum();
        SeenAtRate { rate_per_s, points: results.iter().map(point).collect(), ratios, requests }
    }

    /// Simulates all numbers of contexts at `rates`; the first rates only if it is told to stop.
    fn along(&self, rates: &[f64]) -> Result<Vec<SeenAtRate>, TuneError> {
        let mut work: Vec<(usize, Option<Result<SeenAtRate, TuneError>>)> =
            (0..rates.len()).map(|entry| (entry, None)).collect();
        parallel::each(self.control.threads.max(1), &mut work, |(entry, done), threads| {
            *done = Some(self.see((CURVES, *entry), &self.question.counts, rates[*entry], threads));
        });
        let mut seen = Vec::new();
        for (_, done) in work {
            match done.expect("each has been worked on") {
                Err(TuneError::Interrupted) if !seen.is_empty() => break,
                done => seen.push(done?),
            }
        }
        Ok(seen)
    }

    fn value(&self, results: &Results) -> Estimate {
        match results.overloaded {
            true => Estimate::MISSING,
            false => results.estimate(&self.target, self.question.measure.stop.confidence),
        }
    }

    /// The target of `to` over that of `from`, which saw the same requests; none where both are overloaded.
    fn ratio(&self, from: &Results, to: &Results) -> Option<Estimate> {
        match (from.overloaded, to.overloaded) {
            (true, true) => None,
            (true, false) => Some(Estimate::exact(0.0)),
            (false, true) => Some(Estimate::exact(f64::INFINITY)),
            (false, false) => {
                let confidence = self.question.measure.stop.confidence;
                let metric = self.target.percentile.map_or(Metric::Mean, Metric::Percentile);
                typical_ratio(self.recorded(to), self.recorded(from), metric, confidence)
            }
        }
    }

    fn recorded<'b>(&self, results: &'b Results) -> &'b Replicated {
        let class = self.target.class.map_or(&results.all, |class| &results.classes[class]);
        class.recorded(self.target.metric)
    }

    /// Where `to` contexts become better than `from`.
    fn crossing(&self, seen: &[SeenAtRate], from: u32, to: u32) -> Result<Crossing, TuneError> {
        let mut known: Vec<(f64, Estimate)> =
            seen.iter().filter_map(|seen| Some((seen.rate_per_s, seen.ratio(from, to)?))).collect();
        let (mut low, mut high) = match split(&known) {
            0 => return Ok(Crossing::Always),
            all if all == known.len() => return Ok(Crossing::Never),
            above => (known[above - 1].0, known[above].0),
        };
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            let place = (CROSSINGS, self.between.fetch_add(1, Ordering::Relaxed));
            let seen = self.see(place, &[from, to], middle, self.control.threads.max(1))?;
            let Some(ratio) = seen.ratio(from, to) else { break };
            known.push((middle, ratio));
            if ratio.estimate < 1.0 {
                high = middle;
            } else {
                low = middle;
            }
        }
        Ok(Crossing::At(certain(&known, f64::midpoint(low, high))))
    }
}

/// The number of rates, by increasing rate, up to which the first of two is better, and beyond which the second is: where
/// the evidence for that is greatest, so that no single rate at which chance won decides.
fn split(known: &[(f64, Estimate)]) -> usize {
    let (mut best, mut split, mut sum) = (0.0, 0, 0.0);
    for (at, (_, ratio)) in known.iter().enumerate() {
        sum += evidence(ratio);
        if sum >= best {
            (best, split) = (sum, at + 1);
        }
    }
    split
}

/// How certainly a ratio is above 1, in half widths of its interval; below 0 if it is below.
fn evidence(ratio: &Estimate) -> f64 {
    const MOST: f64 = 10.0;
    let half = (ratio.high.ln() - ratio.low.ln()) / 2.0;
    let widths = ratio.estimate.ln() / half.max(1e-9);
    if widths.is_nan() { 0.0 } else { widths.clamp(-MOST, MOST) }
}

/// Around `rate`: the highest rate below at which the ratio is certainly above 1, and the lowest above at which it is
/// certainly below.
fn certain(known: &[(f64, Estimate)], rate: f64) -> Estimate {
    let worse = known.iter().filter(|(at, ratio)| *at < rate && ratio.low > 1.0).map(|(at, _)| *at);
    let better = known.iter().filter(|(at, ratio)| *at > rate && ratio.high < 1.0).map(|(at, _)| *at);
    let (low, high) = (worse.fold(0.0, f64::max), better.fold(f64::INFINITY, f64::min));
    Estimate { estimate: rate, low, high }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(rate: f64) -> Crossing {
        Crossing::At(Estimate::exact(rate))
    }

    fn best(counts: &[u32], crossing: impl Fn(u32, u32) -> Crossing) -> Vec<(u32, Option<f64>)> {
        let found = best_counts(counts, |from, to| Ok(crossing(from, to))).expect("nothing fails");
        found.into_iter().map(|(count, since)| (count, since.map(|rate| rate.estimate))).collect()
    }

    #[test]
    fn each_number_is_best_between_its_crossings() {
        let found = best(&[1, 2, 4], |from, to| at(f64::from(from * to)));
        assert_eq!(found, [(1, None), (2, Some(2.0)), (4, Some(8.0))]);
    }

    #[test]
    fn a_number_that_is_overtaken_too_early_is_in_no_table() {
        // 4 overtakes 2 at 5, before 2 overtakes 1 at 7; 4 overtakes 1 at 6.
        let crossing = |from, to| match (from, to) {
            (1, 2) => at(7.0),
            (2, 4) => at(5.0),
            _ => at(6.0),
        };
        assert_eq!(best(&[1, 2, 4], crossing), [(1, None), (4, Some(6.0))]);
        let first_never = |from, _| if from == 1 { Crossing::Always } else { at(3.0) };
        assert_eq!(best(&[1, 2, 4], first_never), [(2, None), (4, Some(3.0))]);
        assert_eq!(best(&[1, 2, 4], |_, _| Crossing::Never), [(1, None)]);
        assert_eq!(best(&[1, 2, 4], |_, _| Crossing::Always), [(4, None)]);
    }

    #[test]
    fn no_rate_decides_alone_by_chance() {
        let ratio = |(rate, low, high): (f64, f64, f64)| {
            (rate, Estimate { estimate: f64::sqrt(low * high), low, high })
        };
        let of = |ratios: &[(f64, f64, f64)]| split(&ratios.iter().copied().map(ratio).collect::<Vec<_>>());
        assert_eq!(of(&[(1.0, 1.1, 1.2), (2.0, 1.0, 1.1), (3.0, 0.8, 0.9)]), 2);
        // At 4, where both are nearly as good, chance says the contrary.
        assert_eq!(of(&[(1.0, 1.1, 1.2), (2.0, 0.7, 0.8), (3.0, 0.8, 0.9), (4.0, 0.9, 1.12)]), 1);
        assert_eq!(of(&[(1.0, 0.8, 0.9), (2.0, 0.9, 0.95)]), 0, "the second everywhere");
        assert_eq!(of(&[(1.0, 1.2, 1.3), (2.0, 1.0, 1.0)]), 2, "the second nowhere");
    }

    #[test]
    fn what_can_not_be_carried_is_worse() {
        assert_eq!(evidence(&Estimate::exact(f64::INFINITY)), 10.0);
        assert_eq!(evidence(&Estimate::exact(0.0)), -10.0);
        assert_eq!(evidence(&Estimate::MISSING), 0.0);
    }

    #[test]
    fn an_interval_reaches_to_where_all_is_certain() {
        let known = [(1.0, (1.1, 1.3)), (2.0, (0.9, 1.1)), (3.0, (0.9, 1.05)), (4.0, (0.7, 0.8))];
        let known = known
            .map(|(rate, (low, high))| (rate, Estimate { estimate: f64::midpoint(low, high), low, high }));
        assert_eq!(certain(&known, 2.5), Estimate { estimate: 2.5, low: 1.0, high: 4.0 });
    }
}
