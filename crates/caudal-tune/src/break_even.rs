//! The off-line profile of load adaptation: how many hardware contexts of a core are best at which rate.
//!
//! [`profile`] simulates a core with each number of contexts active along rates, all on the same requests, and looks for
//! the *break-even* rates, where the curves of the target cross. They are the table that [`LoadAdaptationConfig`] looks
//! into while the core runs.
//!
//! Source: Mirhosseini et al., HPCA 2020, section 4.2 and Figure 7.

use std::sync::atomic::{AtomicU64, Ordering};

use caudal_config::{
    ContextsConfig, Costs, LatencyStatistic, Measure, Pools, Statistic, System, WarmUp, Workload,
};
use caudal_policy::contexts::LoadAdaptationConfig;
use caudal_policy::discipline::DisciplineConfig;
use caudal_policy::{List, Picos};
use caudal_sim::experiment::{Crew, Experiment, ExperimentError, Judged, Quantity, Results};
use caudal_sim::steady::Overheads;
use caudal_stats::paired::{Metric, typical_ratio};
use caudal_stats::{Estimate, Replicated};
use serde::Serialize;

use crate::judge::class_of;
use crate::{Host, Phase, Progress, TuneError, crew};

/// Rates that all numbers of contexts are simulated at, over what the core carries with all of them.
const SHARES: [f64; 14] = [0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95];
/// Halvings of the interval in which two curves cross: from a tenth of the capacity to a thousandth.
const HALVINGS: u32 = 6;
/// Replications, and measured requests of one: at least, at least with `quick`, at most.
const REPLICATIONS: u32 = 16;
const MEASURED: (f64, f64, f64) = (30_000.0, 8_000.0, 300_000.0);

/// A question to [`profile`].
#[derive(Clone, Debug)]
pub struct ProfileQuestion<'a> {
    /// What arrives; its own load or rate does not matter.
    pub workload: &'a Workload,
    /// Cores with contexts, each with a queue of its own; one of them is profiled. Its own adaptation does not matter.
    pub system: &'a System,
    /// What a switch costs.
    pub costs: &'a Costs,
    /// Numbers of contexts to choose among, increasing; the most is at most what a core has.
    pub counts: Vec<u32>,
    /// How long arrivals are counted before the table is looked at.
    pub window: Picos,
    /// What is to be as short as possible.
    pub target: &'a LatencyStatistic,
    /// Seed and confidence.
    pub measure: &'a Measure,
    /// Settle for fewer requests.
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

/// What came out.
#[derive(Clone, Debug, Serialize)]
pub struct Profile {
    /// A curve for each number of contexts.
    pub curves: Vec<Curve>,
    /// Where the table changes its mind: one less than it has numbers of contexts.
    pub break_even: Vec<BreakEven>,
    /// The table.
    pub adaptation: LoadAdaptationConfig,
    /// Requests that were simulated.
    pub simulated: u64,
}

/// The target along the rate.
#[derive(Clone, Debug, Serialize)]
pub struct Curve {
    /// Active contexts.
    pub contexts: u32,
    /// By increasing rate.
    pub points: Vec<LoadPoint>,
}

/// The target at a rate.
#[derive(Clone, Copy, Debug, Serialize)]
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

/// Profiles one core of a system.
///
/// # Errors
/// What can not be asked, and [`TuneError::Interrupted`].
pub fn profile(question: &ProfileQuestion<'_>, host: &Host<'_>) -> Result<Profile, TuneError> {
    let bench = Bench::new(question, host)?;
    let most_per_s = question.system.capacity() / f64::from(question.system.cores)
        * (1e12 / question.workload.service.mean_ps());
    let rates: Vec<f64> = SHARES.iter().map(|share| share * most_per_s).collect();
    let curves = bench.curves(&rates)?;
    let steps = best_counts(&question.counts, |from, to| bench.crossing(&curves, from, to))?;
    let point = |&(rate_per_s, ref results): &(f64, Results)| LoadPoint {
        rate_per_s,
        target: bench.value(results),
        overloaded: results.overloaded,
    };
    let shown =
        |curve: &Runs| Curve { contexts: curve.count, points: curve.runs.iter().map(point).collect() };
    Ok(Profile {
        curves: curves.iter().map(shown).collect(),
        adaptation: table(&steps, question.window),
        break_even: steps
            .windows(2)
            .filter_map(|pair| Some(BreakEven { from: pair[0].0, to: pair[1].0, per_s: pair[1].1? }))
            .collect(),
        simulated: bench.simulated.into_inner(),
    })
}

/// Where one number of contexts becomes better than another one.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Crossing {
    /// It is at all rates.
    Always,
    /// It is at none.
    Never,
    /// From this rate on.
    At(Estimate),
}

/// A number of contexts, and the rate from which on it is the best; none for the first.
type Stretch = (u32, Option<Estimate>);

/// The best number at each rate. Who is overtaken by a higher number before it is best itself, never is.
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

/// A number of contexts at a rate, and what came of it.
struct Asked {
    count: u32,
    rate_per_s: f64,
    done: Option<Result<Results, TuneError>>,
}

/// One number of contexts along rates.
struct Runs {
    count: u32,
    runs: Vec<(f64, Results)>,
}

struct Bench<'a> {
    question: &'a ProfileQuestion<'a>,
    host: &'a Host<'a>,
    contexts: ContextsConfig,
    target: Quantity,
    simulated: AtomicU64,
}

impl<'a> Bench<'a> {
    fn new(question: &'a ProfileQuestion<'a>, host: &'a Host<'a>) -> Result<Bench<'a>, TuneError> {
        let wrong = |fault: &str| TuneError::Contexts(fault.to_owned());
        let ProfileQuestion { system, target, workload, counts, .. } = question;
        let contexts = system.contexts.clone().ok_or_else(|| wrong("the system has no `contexts`"))?;
        if system.pools != Pools::PerCore && system.cores > 1 {
            return Err(wrong("a core is profiled by itself: write pools = \"per-core\""));
        }
        let rising = counts.windows(2).all(|pair| pair[0] < pair[1]);
        let least = counts.first().copied().unwrap_or(0);
        if !rising || least == 0 || counts.len() < 2 || counts.last() > Some(&contexts.count) {
            return Err(wrong(
                "numbers of contexts rise, from 1 on, up to those of a core; at least two of them",
            ));
        }
        if question.window == Picos::ZERO {
            return Err(wrong("a window is longer than 0"));
        }
        if workload.arrivals.natural_rate().is_some() {
            return Err(TuneError::RecordedArrivals);
        }
        let LatencyStatistic { class, statistic, slowdown } = target;
        let without = LatencyStatistic { class: None, ..(*target).clone() };
        let class = class_of(&workload.service, class.as_ref(), target, &without)?;
        let percentile = match statistic {
            Statistic::Mean => None,
            Statistic::Percentile(percentile) => Some(*percentile),
        };
        let target = Quantity { class, slowdown: *slowdown, percentile };
        Ok(Bench { question, host, contexts, target, simulated: AtomicU64::new(0) })
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
            judged: Judged::Reported,
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
        let lengths =
            self.experiment(&alone, rate_per_s, self.question.measure).lengths(Overheads::default());
        let least = if self.question.quick { MEASURED.1 } else { MEASURED.0 };
        let measured = lengths.measured.clamp(least, MEASURED.2) as u64;
        let measure = Measure {
            warm_up: WarmUp::Requests((lengths.warm_up as u64).clamp(measured / 4, measured)),
            requests: Some(measured),
            replications: Some(REPLICATIONS),
            ..self.question.measure.clone()
        };
        let progress = |requests| (self.host.progress)(Progress { phase: Phase::Tuning, requests });
        let crew = Crew { threads, stop: self.host.stop, progress: &progress };
        let results =
            self.experiment(&system, rate_per_s, &measure).run(&crew).map_err(|error| match error {
                ExperimentError::Interrupted(_) => TuneError::Interrupted,
                ExperimentError::Variant(message) => {
                    TuneError::Simulator { system: system.name.clone(), message }
                }
            })?;
        self.simulated.fetch_add(results.simulated, Ordering::Relaxed);
        Ok(results)
    }

    /// All of `asked`, numbers of contexts at rates.
    fn run_all(&self, asked: &[(u32, f64)]) -> Result<Vec<Results>, TuneError> {
        let mut work: Vec<Asked> =
            asked.iter().map(|&(count, rate_per_s)| Asked { count, rate_per_s, done: None }).collect();
        crew::each(self.host.threads.max(1), &mut work, |asked, threads| {
            asked.done = Some(self.run(asked.count, asked.rate_per_s, threads));
        });
        work.into_iter().map(|asked| asked.done.expect("each has been worked on")).collect()
    }

    fn curves(&self, rates: &[f64]) -> Result<Vec<Runs>, TuneError> {
        let counts = &self.question.counts;
        let asked: Vec<(u32, f64)> =
            counts.iter().flat_map(|&count| rates.iter().map(move |&rate| (count, rate))).collect();
        let mut results = self.run_all(&asked)?.into_iter();
        let curve =
            |&count: &u32| Runs { count, runs: rates.iter().copied().zip(results.by_ref()).collect() };
        Ok(counts.iter().map(curve).collect())
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
        if self.target.slowdown { &class.slowdown } else { &class.latency_ps }
    }

    /// Where `to` contexts become better than `from`: after the last rate of the curves at which they are not.
    fn crossing(&self, curves: &[Runs], from: u32, to: u32) -> Result<Crossing, TuneError> {
        let of = |count: u32| curves.iter().find(|curve| curve.count == count).map(|curve| &curve.runs);
        let (Some(first), Some(second)) = (of(from), of(to)) else { return Ok(Crossing::Never) };
        let both = first.iter().zip(second);
        let mut known: Vec<(f64, Estimate)> =
            both.filter_map(|((rate, a), (_, b))| Some((*rate, self.ratio(a, b)?))).collect();
        let Some(last) = known.iter().rposition(|(_, ratio)| ratio.estimate >= 1.0) else {
            return Ok(Crossing::Always);
        };
        let Some(&(above, _)) = known.get(last + 1) else { return Ok(Crossing::Never) };
        let (mut low, mut high) = (known[last].0, above);
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            let both = self.run_all(&[(from, middle), (to, middle)])?;
            let Some(ratio) = self.ratio(&both[0], &both[1]) else { break };
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
    fn an_interval_reaches_to_where_all_is_certain() {
        let known = [(1.0, (1.1, 1.3)), (2.0, (0.9, 1.1)), (3.0, (0.9, 1.05)), (4.0, (0.7, 0.8))];
        let known = known
            .map(|(rate, (low, high))| (rate, Estimate { estimate: f64::midpoint(low, high), low, high }));
        assert_eq!(certain(&known, 2.5), Estimate { estimate: 2.5, low: 1.0, high: 4.0 });
    }
}
