//! Filling a row of results from what the replications of a point found. Sweeps, plans and searches for lanes call it; the row itself
//! is `caudal-row`'s.

use caudal_config::{Metric, Point, System};
use caudal_policy::Picos;
use caudal_policy::parallelism::ParallelismConfig;
pub use caudal_row::{
    ClassRow, Classes, Gap, GivenUp, LaneRow, Miss, Overheads, Recorded, Row, RowError, RowMetric, Stat,
    WaitByCause,
};
use caudal_stats::{Estimate, Scale, Summary};

use crate::engine::{Account, ClassStats};
use crate::experiment::{ClassResults, Results};
use crate::lanes::LaneLoad;

/// The row of `point` with `results`, which took `wall_s` seconds. Its core time is that of the cores that serve
/// requests, as in the figures of papers.
#[must_use]
pub fn row_of(point: &Point, results: &Results, wall_s: f64) -> Row {
    row_counting(point, results, wall_s, 0)
}

/// The same where so many cores are held all the time that serve no requests: part of what the system takes, when
/// systems are held against each other.
#[must_use]
pub fn row_counting(point: &Point, results: &Results, wall_s: f64, dedicated: u32) -> Row {
    let dedicated = f64::from(dedicated);
    let (service, confidence) = (&point.workload.service, point.measure.stop.confidence);
    let percentiles = &point.measure.percentiles;
    let ratio = |part: fn(&Account, u64) -> (f64, f64)| results.ratio(confidence, part);
    let misses = |class: &ClassResults| -> Vec<Miss> {
        let of = |&late: &Picos| miss(late, class, (confidence, results.overloaded));
        point.measure.miss.iter().map(of).collect()
    };
    let summary = |class: &ClassResults| summaries(class, percentiles, confidence, results.overloaded);
    let waiting = |class: &ClassResults| {
        let of = |class: &ClassResults| Summary::of(&class.wait_ps, percentiles, confidence, Scale::PS_TO_NS);
        let shown = if results.overloaded { Summary::missing(percentiles) } else { of(class) };
        point.measure.wait.then_some(shown)
    };
    let (latency_ns, slowdown) = summary(&results.all);
    let classes = service.classes().iter().zip(&results.classes).map(|(name, class)| {
        let (latency_ns, slowdown) = summary(class);
        let requests = class.sums.latency_ps.count();
        let misses = misses(class);
        let wait_ns = Some(waits(&class.sums));
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
        lanes: results.lane_loads.iter().map(lane).collect(),
        precise: results.precise,
        at_gap: if results.overloaded { Vec::new() } else { results.all.gaps(percentiles) },
        misses: misses(&results.all),
        steady: results.steady,
        recorded: results.recorded,
        latency_ns,
        slowdown,
        waiting_ns: waiting(&results.all),
        wait_ns: Some(waits(&results.all.sums)),
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
        overheads: overheads(results, point.costs.probe_factor, dedicated),
        preemptions_per_request: ratio(|account, _| (account.preemptions as f64, account.completed as f64)),
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

/// Does the system find requests large?
fn gives_up(system: &System) -> bool {
    matches!(system.parallelism, ParallelismConfig::TailControl(_) | ParallelismConfig::Clairvoyant(_))
}

fn lane(load: &LaneLoad) -> LaneRow {
    let LaneLoad { lane, servers, busy, share, .. } = *load;
    LaneRow { lane, servers, busy, share }
}

fn miss(late: Picos, class: &ClassResults, (confidence, overloaded): (f64, bool)) -> Miss {
    let ratio = match overloaded {
        true => Estimate::MISSING,
        false => class.miss_ratio(late.0, confidence),
    };
    Miss { late_ns: late.as_nanos_f64(), ratio }
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

fn waits(sums: &ClassStats) -> WaitByCause {
    let requests = sums.latency_ps.count().max(1) as f64;
    let mean_ns = |sum_ps: u128| sum_ps as f64 / requests / 1e3;
    let queued = mean_ns(sums.queued_ps);
    WaitByCause {
        queued,
        // It counts a span of time and not these very requests, and may come out above the whole.
        behind_long: sums.behind_long_ps.map(|sum_ps| (sum_ps / requests / 1e3).min(queued)),
        preempted: mean_ns(sums.preempted_ps),
        overhead: mean_ns(sums.overhead_ps),
        fewer_cores: sums.fewer_cores_ps.map(mean_ns),
        probes: mean_ns(sums.probe_ps),
    }
}

fn overheads(results: &Results, probe_factor: f64, dedicated: f64) -> Overheads {
    let total = |part: fn(&Account) -> u128| -> f64 {
        results.accounts.iter().map(|(account, _)| part(account) as f64).sum()
    };
    let dedicated_ps = dedicated * results.accounts.iter().map(|(_, span_ps)| *span_ps as f64).sum::<f64>();
    let held = (total(|account| account.held_ps) + dedicated_ps).max(1.0);
    let share = |part| total(part) / held;
    let (looking, moving) = (share(|account| account.looking_ps), share(|account| account.moving_ps));
    let (placing, switching) = (share(|account| account.placing_ps), share(|account| account.switching_ps));
    let allocating = share(|account| account.allocating_ps);
    let busy = share(|account| account.busy_ps);
    let dedicated = dedicated_ps / held;
    let stalled = share(|account| account.stalled_ps);
    let overhead = placing + switching + stalled;
    let idle = (1.0 - busy - looking - moving - overhead - allocating - dedicated).max(0.0);
    let probes = busy * (1.0 - 1.0 / probe_factor);
    Overheads { probes, looking, moving, placing, switching, stalled, allocating, idle, dedicated }
}
