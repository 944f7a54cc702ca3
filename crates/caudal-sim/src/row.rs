//! A simulated point as results are written: one JSON object.

use caudal_config::{Metric, Point, System};
use caudal_policy::Picos;
use caudal_policy::parallelism::ParallelismConfig;
use caudal_stats::{Estimate, Scale, Summary};
use serde::de::{Deserializer, Error as _};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};

use crate::engine::{Account, ClassStats};
pub use crate::experiment::Gap;
use crate::experiment::{ClassResults, Results};
use crate::lanes::LaneLoad;
use crate::recorded::Recorded;

/// One line of results. Times are in ns; estimates are `{"estimate", "low", "high"}`, or `null`.
///
/// What is written can be read back, to the last bit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// Name of the system.
    pub system: String,
    /// Name of the point within its file.
    pub point: String,
    /// Offered work over the capacity of the machine's cores.
    pub load: f64,
    /// Requests offered per second.
    pub rate_per_s: f64,
    /// Cores of the machine.
    pub cores: u32,
    /// Cores held at the start, or all the time.
    pub cores_allocated: u32,
    /// Cores that serve no requests, on top.
    pub cores_dedicated: u32,
    /// What was swept, with its value here.
    pub varied: serde_json::Map<String, serde_json::Value>,
    /// Could somebody run this system?
    pub deployable: bool,
    /// Measured requests.
    pub requests: u64,
    /// Of those, how many never completed.
    pub unfinished: u64,
    /// Requests left out at the start of each replication.
    pub warm_up: u64,
    /// Independent replications.
    pub replications: usize,
    /// Did the system fall behind its load? Then its latency is `null`.
    pub overloaded: bool,
    /// Lanes in which cores may idle while tasks wait elsewhere, and how busy they are; overloaded from 1 on. Missing where
    /// there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lanes: Vec<LaneLoad>,
    /// Are the reported percentiles as precise as was asked? But for those of `at_gap`.
    pub precise: bool,
    /// Percentiles of the latency of all requests that lie at a gap: on which side a run finds them is a matter of luck,
    /// so they are not judged.
    #[serde(default)]
    pub at_gap: Vec<Gap>,
    /// The miss ratios that were asked for. Missing where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub misses: Vec<Miss>,
    /// Were replications long enough for the system's relaxation time, did its backlog no longer grow, and was as much work
    /// done as is offered? Never of recorded arrivals, which have no steady state.
    pub steady: bool,
    /// What was played of recorded arrivals, which the figures are about; missing where arrivals are a process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Recorded>,
    /// Sojourn time.
    #[serde(deserialize_with = "summary")]
    pub latency_ns: Summary,
    /// Sojourn over service time. Its mean has no upper end where it is infinite but for the resolution of time: all
    /// requests wait, and service times are exponential or of another density that is not 0 at 0.
    #[serde(deserialize_with = "summary")]
    pub slowdown: Summary,
    /// Sojourn less service time; its mean is the sum of `wait_ns`. Missing unless `wait` in `[measure]` asks for it.
    #[serde(default, deserialize_with = "some_summary", skip_serializing_if = "Option::is_none")]
    pub waiting_ns: Option<Summary>,
    /// Mean time per request that was not service, by cause.
    pub wait_ns: Waits,
    /// The same by class of requests.
    pub classes: Classes,
    /// Service times without probes over core time held; in rows of a plan, dedicated cores are held too, all the time.
    pub efficiency: Estimate,
    /// Cores held, on average; dedicated ones come on top.
    pub cores_mean: Estimate,
    /// Shares of the core time held, as in `efficiency`, that went to something else than work.
    pub overheads: Overheads,
    /// Preemptions per request.
    pub preemptions_per_request: Estimate,
    /// Steals per request.
    pub steals_per_request: Estimate,
    /// Share of arrivals that found no spare core (per-task allocation).
    pub grants_refused_share: Estimate,
    /// Requests that fork and were given up: nobody helped them any more. Missing where none can be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_up: Option<GivenUp>,
    /// Seed of the experiment.
    pub seed: u64,
    /// Time that it took.
    pub wall_s: f64,
}

/// Requests that tail-control gave up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GivenUp {
    /// Share of all requests.
    pub share: Estimate,
    /// Their mean latency; `null` if there were none.
    pub mean_ns: Estimate,
}

/// How many requests miss a target latency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Miss {
    /// The target latency.
    pub late_ns: f64,
    /// The share of requests that take longer; `null` in overload.
    pub ratio: Estimate,
}

/// Mean time per request that was not service, in ns, by cause.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Waits {
    /// From arrival to first service.
    pub queued: f64,
    /// Of that, while workers of the pool ran requests longer than the mean; `null` under preemption. Of whoever waits
    /// in the time in which the measured requests arrive: where few wait very long, the part is a rough one.
    pub behind_long: Option<f64>,
    /// Between first service and completion, waiting for the next turn.
    pub preempted: f64,
    /// On a core that did something for the scheduler.
    pub overhead: f64,
    /// Of requests that fork, between admission and completion: longer than they would have taken alone on all cores, which
    /// is their work over the cores, or their span. Left out where requests are done by one core each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fewer_cores: Option<f64>,
    /// Extra work of probes; of requests that fork, what they take longer for it alone on all cores.
    pub probes: f64,
}

/// Statistics by class, in the order of the service's classes.
#[derive(Clone, Debug)]
pub struct Classes(pub Vec<(String, ClassRow)>);

/// Statistics of one class.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ClassRow {
    /// Measured requests that completed.
    pub requests: u64,
    /// Sojourn time.
    #[serde(deserialize_with = "summary")]
    pub latency_ns: Summary,
    /// Sojourn over service time.
    #[serde(deserialize_with = "summary")]
    pub slowdown: Summary,
    /// Sojourn less service time. Missing unless `wait` in `[measure]` asks for it.
    #[serde(default, deserialize_with = "some_summary", skip_serializing_if = "Option::is_none")]
    pub waiting_ns: Option<Summary>,
    /// The miss ratios that were asked for. Missing where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub misses: Vec<Miss>,
    /// Mean time per request that was not service, by cause.
    pub wait_ns: Waits,
}

impl Serialize for Classes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, class) in &self.0 {
            map.serialize_entry(name, class)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Classes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Classes, D::Error> {
        let classes = serde_json::Map::deserialize(deserializer)?.into_iter();
        let class = |(name, class)| Ok((name, serde_json::from_value(class).map_err(D::Error::custom)?));
        classes.map(class).collect::<Result<_, _>>().map(Classes)
    }
}

/// A summary as it was written: the percentiles' names say which they are.
fn summary<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Summary, D::Error> {
    let fields = serde_json::Map::deserialize(deserializer)?;
    let mut summary = Summary::missing(&[]);
    for (name, value) in fields {
        let estimate = |value| serde_json::from_value(value).map_err(D::Error::custom);
        match (name.as_str(), name.strip_prefix('p').and_then(|p| p.parse::<f64>().ok())) {
            ("mean", _) => summary.mean = estimate(value)?,
            ("max", _) => summary.max = serde_json::from_value(value).map_err(D::Error::custom)?,
            (_, Some(percentile)) => summary.percentiles.push((percentile, estimate(value)?)),
            _ => return Err(D::Error::custom(format!("`{name}` is no statistic"))),
        }
    }
    Ok(summary)
}

fn some_summary<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Summary>, D::Error> {
    summary(deserializer).map(Some)
}

/// Shares of the core time held, 0 to 1; with the efficiency they make 1.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Overheads {
    /// Extra work of probes.
    pub probes: f64,
    /// Looking for tasks to steal.
    pub looking: f64,
    /// Moving stolen and shed tasks.
    pub moving: f64,
    /// Placing requests at other cores.
    pub placing: f64,
    /// Turning from one task to the next, beginning and finishing requests included.
    pub switching: f64,
    /// Taken away by the machine; only where `costs.stalls` says that it takes cores away.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stalled: f64,
    /// Waiting for granted cores to come.
    pub allocating: f64,
    /// Nothing to do.
    pub idle: f64,
    /// On dedicated cores; 0 but in rows of a plan.
    #[serde(default)]
    pub dedicated: f64,
}

impl Row {
    /// Do the figures hold for what they are about: the steady state, or all that was recorded of arrivals? Else they are
    /// lower bounds.
    pub fn holds(&self) -> bool {
        self.steady || self.recorded.is_some_and(|recorded| recorded.is_whole() && !self.overloaded)
    }

    /// The row of `point` with `results`, which took `wall_s` seconds. Its core time is that of the cores that serve
    /// requests, as in the figures of papers.
    pub fn new(point: &Point, results: &Results, wall_s: f64) -> Row {
        Row::counting(point, results, wall_s, 0)
    }

    /// The same where so many cores are held all the time that serve no requests: part of what the system takes, when
    /// systems are held against each other.
    pub fn counting(point: &Point, results: &Results, wall_s: f64, dedicated: u32) -> Row {
        let dedicated = f64::from(dedicated);
        let (service, confidence) = (&point.workload.service, point.measure.stop.confidence);
        let percentiles = &point.measure.percentiles;
        let ratio = |part: fn(&Account, u64) -> (f64, f64)| results.ratio(confidence, part);
        let misses = |class: &ClassResults| -> Vec<Miss> {
            let of = |&late: &Picos| Miss::new(late, class, (confidence, results.overloaded));
            point.measure.miss.iter().map(of).collect()
        };
        let summary = |class: &ClassResults| summaries(class, percentiles, confidence, results.overloaded);
        let waiting = |class: &ClassResults| {
            let of =
                |class: &ClassResults| Summary::of(&class.wait_ps, percentiles, confidence, Scale::PS_TO_NS);
            let shown = if results.overloaded { Summary::missing(percentiles) } else { of(class) };
            point.measure.wait.then_some(shown)
        };
        let (latency_ns, slowdown) = summary(&results.all);
        let classes = service.classes().iter().zip(&results.classes).map(|(name, class)| {
            let (latency_ns, slowdown) = summary(class);
            let requests = class.sums.latency_ps.count();
            let misses = misses(class);
            let wait_ns = Waits::new(&class.sums);
            let waiting_ns = waiting(class);
            (name.clone(), ClassRow { requests, latency_ns, slowdown, waiting_ns, misses, wait_ns })
        });
        Row {
            system: point.system.name.clone(),
            point: point.key.clone(),
            load: point.load,
            rate_per_s: point.load * point.system.capacity() / (service.mean_ps() / 1e12),
            cores: point.system.cores,
            cores_allocated: point.system.cores_allocated,
            cores_dedicated: point.plan.dedicated_cores(),
            varied: point.varied.iter().cloned().collect(),
            deployable: point.plan.reference_only().is_none(),
            requests: results.requests,
            unfinished: results.unfinished,
            warm_up: results.warm_up,
            replications: results.accounts.len(),
            overloaded: results.overloaded,
            lanes: results.lane_loads.clone(),
            precise: results.precise,
            at_gap: if results.overloaded { Vec::new() } else { results.all.gaps(percentiles) },
            misses: misses(&results.all),
            steady: results.steady,
            recorded: results.recorded,
            latency_ns,
            slowdown,
            waiting_ns: waiting(&results.all),
            wait_ns: Waits::new(&results.all.sums),
            classes: Classes(classes.collect()),
            // Probes stretch all work alike.
            efficiency: results
                .ratio(confidence, |account, span_ps| {
                    (account.busy_ps as f64, account.held_ps as f64 + dedicated * span_ps as f64)
                })
                .divided_by(point.costs.probe_factor)
                .at_most(1.0),
            // Of contexts, core time is what their cores can do.
            cores_mean: ratio(|account, span_ps| (account.held_ps as f64, span_ps as f64))
                .divided_by(point.system.capacity() / f64::from(point.system.cores))
                .at_most(f64::from(point.system.cores)),
            overheads: Overheads::new(results, point.costs.probe_factor, dedicated),
            preemptions_per_request: ratio(|account, _| {
                (account.preemptions as f64, account.completed as f64)
            }),
            steals_per_request: ratio(|account, _| (account.steals as f64, account.completed as f64)),
            grants_refused_share: ratio(|account, _| {
                (account.grants_refused as f64, (account.grants + account.grants_refused) as f64)
            })
            .at_most(1.0),
            given_up: gives_up(&point.system).then(|| GivenUp {
                share: ratio(|account, _| (account.given_up as f64, account.completed as f64)),
                mean_ns: ratio(|account, _| (account.given_up_ps as f64 / 1e3, account.given_up as f64)),
            }),
            seed: point.measure.seed,
            wall_s,
        }
    }
}

/// Does the system find requests large?
fn gives_up(system: &System) -> bool {
    matches!(system.parallelism, ParallelismConfig::TailControl(_) | ParallelismConfig::Clairvoyant(_))
}

impl Miss {
    fn new(late: Picos, class: &ClassResults, (confidence, overloaded): (f64, bool)) -> Miss {
        let ratio = match overloaded {
            true => Estimate::MISSING,
            false => class.miss_ratio(late.0, confidence),
        };
        Miss { late_ns: late.as_nanos_f64(), ratio }
    }
}

fn summaries(
    class: &ClassResults,
    percentiles: &[f64],
    confidence: f64,
    overloaded: bool,
) -> (Summary, Summary) {
    if overloaded {
        return (Summary::missing(percentiles), Summary::missing(percentiles));
    }
    let slowdown = Summary::of(&class.slowdown, percentiles, confidence, Scale::SLOWDOWN);
    (
        Summary::of(&class.latency_ps, percentiles, confidence, Scale::PS_TO_NS),
        Summary { mean: class.estimate(Metric::Slowdown, None, confidence), ..slowdown },
    )
}

impl Waits {
    fn new(sums: &ClassStats) -> Waits {
        let requests = sums.latency_ps.count().max(1) as f64;
        let mean_ns = |sum_ps: u128| sum_ps as f64 / requests / 1e3;
        let queued = mean_ns(sums.queued_ps);
        Waits {
            queued,
            // It counts a span of time and not these very requests, and may come out above the whole.
            behind_long: sums.behind_long_ps.map(|sum_ps| (sum_ps / requests / 1e3).min(queued)),
            preempted: mean_ns(sums.preempted_ps),
            overhead: mean_ns(sums.overhead_ps),
            fewer_cores: sums.fewer_cores_ps.map(mean_ns),
            probes: mean_ns(sums.probe_ps),
        }
    }
}

impl Overheads {
    fn new(results: &Results, probe_factor: f64, dedicated: f64) -> Overheads {
        let total = |part: fn(&Account) -> u128| -> f64 {
            results.accounts.iter().map(|(account, _)| part(account) as f64).sum()
        };
        let dedicated_ps =
            dedicated * results.accounts.iter().map(|(_, span_ps)| *span_ps as f64).sum::<f64>();
        let held = (total(|account| account.held_ps) + dedicated_ps).max(1.0);
        let share = |part| total(part) / held;
        let (looking, moving) = (share(|account| account.looking_ps), share(|account| account.moving_ps));
        let (placing, switching) =
            (share(|account| account.placing_ps), share(|account| account.switching_ps));
        let allocating = share(|account| account.allocating_ps);
        let busy = share(|account| account.busy_ps);
        let dedicated = dedicated_ps / held;
        let stalled = share(|account| account.stalled_ps);
        let turning = placing + switching + stalled;
        let idle = (1.0 - busy - looking - moving - turning - allocating - dedicated).max(0.0);
        let probes = busy * (1.0 - 1.0 / probe_factor);
        Overheads { probes, looking, moving, placing, switching, stalled, allocating, idle, dedicated }
    }
}

fn is_zero(share: &f64) -> bool {
    *share == 0.0
}
