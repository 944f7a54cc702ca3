//! The `authors-simulator` variant against figures measured from the published simulator of the policies
//! paper (8 or 7 runs each of 5 ms at 8 cores and of 2.5 ms at 16; half-widths of 95 % intervals), with the
//! same estimator on more runs.

use std::sync::atomic::{AtomicU64, Ordering};

use caudal_config::{Costs, Pools, System, Variant};
use caudal_policy::Picos;
use caudal_policy::allocation::{
    AllocationConfig, CaladanConfig, DelayRangeConfig, PerTaskConfig, ShenangoConfig, UtilizationRangeConfig,
};
use caudal_policy::discipline::DisciplineConfig;
use caudal_policy::dispatch::{DispatchConfig, JbsqConfig, PowerOfKConfig};
use caudal_policy::rebalance::{
    Amount, RebalanceConfig, StealAndShedConfig, WorkSheddingConfig, WorkStealingConfig,
};
use caudal_sim::authors::{Estimate, Rules, Unsupported, sample, simulate};
use caudal_sim::engine::{Length, Run, ShortCuts};
use caudal_workload::{Arrivals, DistributionSpec, Service, ServiceSpec, find_named};

const LOAD: f64 = 0.5;
const THREADS: usize = 2;

fn exponential() -> Service {
    find_named("exp-1us").expect("a named workload").compile().expect("it compiles")
}

fn base(cores: u32, allocated: u32) -> System {
    System {
        pools: Pools::PerCore,
        cores_allocated: allocated,
        variant: Variant::AuthorsSimulator,
        ..System::single_queue(cores)
    }
}

fn stealing(cores: u32, allocated: u32) -> System {
    let rebalance = RebalanceConfig::WorkStealing(WorkStealingConfig::default());
    System { rebalance, ..base(cores, allocated) }
}

fn shedding(cores: u32, allocated: u32) -> System {
    let rebalance = RebalanceConfig::WorkShedding(WorkSheddingConfig::default());
    System { rebalance, ..base(cores, allocated) }
}

fn dispatching(dispatch: DispatchConfig) -> System {
    System { dispatch, ..base(8, 6) }
}

fn single_queue(allocated: u32) -> System {
    System { pools: Pools::Equal(1), ..base(8, allocated) }
}

fn growing(allocation: AllocationConfig) -> System {
    System { allocation, ..stealing(16, 16) }
}

/// One run at half load.
fn run<T>(system: &System, costs: &Costs, service: &Service, seed: u64, go: impl FnOnce(&Run<'_>) -> T) -> T {
    let run = Run {
        system,
        costs,
        service,
        arrivals: &Arrivals::poisson(),
        mean_gap_ps: service.mean_ps() / (LOAD * f64::from(system.cores)),
        seed,
        length: Length { warm_up: 2_000, measured: 18_000 },
        pilot: false,
        waits: false,
        short_cuts: ShortCuts::ALL,
        stop: None,
    };
    go(&run)
}

/// p50, p99, p99.9 in ns, efficiency in %, mean cores: means over `runs` runs.
fn estimate(system: &System, rules: &Rules, runs: u64) -> [f64; 5] {
    let (next, service) = (AtomicU64::new(0), exponential());
    let worker = || {
        let mut estimates = Vec::new();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= runs {
                return estimates;
            }
            let (outcome, latencies_ns) =
                run(system, &Costs::default(), &service, seed, |run| sample(run, rules))
                    .expect("it is supported");
            let found = Estimate::new(&outcome, latencies_ns);
            let Estimate { p50_ns, p99_ns, p999_ns, efficiency, cores_mean } = found;
            estimates.push((seed, [p50_ns, p99_ns, p999_ns, efficiency * 100.0, cores_mean]));
        }
    };
    let mut all: Vec<(u64, [f64; 5])> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(worker)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    all.sort_unstable_by_key(|&(seed, _)| seed);
    let mut mean = [0.0; 5];
    for (_, values) in &all {
        mean.iter_mut().zip(values).for_each(|(mean, value)| *mean += value / runs as f64);
    }
    mean
}

/// A row: what it is, and for each statistic the value and its half-width.
type Row = (&'static str, System, [Option<(f64, f64)>; 5]);

/// Prints the rows and counts the cells that are outside of interval + 2 %, and of twice that.
fn judge(rows: &[Row], rules: &Rules, runs: u64) -> (u32, u32) {
    let (mut outside, mut far_outside) = (0, 0);
    for (name, system, cells) in rows {
        let found = estimate(system, rules, runs);
        for ((cell, found), statistic) in cells.iter().zip(found).zip(["p50", "p99", "p99.9", "eff", "cores"])
        {
            let Some((value, half_width)) = cell else { continue };
            let off = (found - value).abs() / (half_width + 0.02 * value);
            println!("{name:30} {statistic:6} {found:10.2} for {value:10.2} ± {half_width:8.2}: {off:5.2}");
            outside += u32::from(off > 1.0);
            far_outside += u32::from(off > 2.0 || off.is_nan());
        }
    }
    (outside, far_outside)
}

fn static_row(
    name: &'static str,
    system: System,
    p50: (f64, f64),
    p99: (f64, f64),
    p999: (f64, f64),
    efficiency: (f64, f64),
) -> Row {
    (name, system, [Some(p50), Some(p99), Some(p999), Some(efficiency), None])
}

fn growing_row(
    name: &'static str,
    allocation: AllocationConfig,
    p50: (f64, f64),
    p99: (f64, f64),
    efficiency: (f64, f64),
    cores: f64,
) -> Row {
    (name, growing(allocation), [Some(p50), Some(p99), None, Some(efficiency), Some((cores, 0.0))])
}

fn tables() -> Vec<Row> {
    let choice = DispatchConfig::PowerOfK(PowerOfKConfig { k: 2 });
    let jbsq = DispatchConfig::Jbsq(JbsqConfig { bound: 3 });
    let six = (67.0, 0.4);
    #[rustfmt::skip]
    let rows = vec![
        static_row("no balancing, 6", base(8, 6), (2108., 47.), (13695., 829.), (19621., 1083.), six),
        static_row("enqueue choice 2, 6", dispatching(choice),
            (1650., 19.), (8361., 262.), (11754., 492.), six),
        static_row("shedding 2 us, 6", shedding(8, 6), (1983., 36.), (8500., 206.), (11519., 678.), six),
        static_row("work stealing, 6", stealing(8, 6), (1209., 12.), (5634., 81.), (8043., 327.), six),
        static_row("JBSQ(3), 6", dispatching(jbsq), (857., 10.), (5661., 112.), (8221., 282.), six),
        static_row("single queue, 6", single_queue(6), (853., 11.), (4814., 56.), (7170., 198.), six),
        static_row("work stealing, 8", stealing(8, 8),
            (1004., 10.), (4908., 68.), (7390., 200.), (50.2, 0.4)),
        static_row("single queue, 8", single_queue(8), (714., 7.), (4584., 58.), (6998., 211.), (50.2, 0.3)),
        growing_row("Shenango", AllocationConfig::Shenango(ShenangoConfig::default()),
            (2024., 55.), (11619., 1646.), (80.8, 0.5), 9.95),
        growing_row("Caladan", AllocationConfig::Caladan(CaladanConfig::default()),
            (2645., 106.), (20402., 5121.), (87.4, 1.1), 9.20),
        growing_row("delay range", AllocationConfig::DelayRange(DelayRangeConfig::default()),
            (2029., 18.), (9371., 512.), (80.3, 0.4), 10.02),
        growing_row("utilization range",
            AllocationConfig::UtilizationRange(UtilizationRangeConfig::default()),
            (2064., 39.), (9751., 520.), (82.0, 0.4), 9.81),
        growing_row("per-task", AllocationConfig::PerTask(PerTaskConfig {}),
            (2453., 31.), (8704., 130.), (52.9, 0.3), 15.21),
    ];
    rows
}

#[test]
#[ignore = "long: make test-long"]
fn the_measured_tables_come_out() {
    let (outside, far_outside) = judge(&tables(), &Rules::default(), 200);
    assert!(outside <= 2 && far_outside == 0, "{outside} cells outside, {far_outside} of them far");
}

/// Values of a second model of the same rules, which follows the original request by request: what the
/// tables above do not show, such as the own queue's turn in a long walk (never seen with 8 cores).
#[test]
fn many_cores_come_out() {
    let cells =
        |p50, p99, efficiency| [Some((p50, 0.0)), Some((p99, 0.0)), None, Some((efficiency, 0.0)), None];
    let rows = [
        ("work stealing, 32", stealing(32, 32), cells(1030.4, 4966.0, 50.54)),
        ("shedding, 20 of 32", shedding(32, 20), cells(2837.0, 9732.0, 80.79)),
    ];
    assert_eq!(judge(&rows, &Rules::default(), 60), (0, 0));
}

/// From the same model, with the values of the configuration files that were published.
#[test]
fn published_rules_come_out() {
    let cells =
        |p50, efficiency, cores| [Some((p50, 0.0)), None, None, Some((efficiency, 0.0)), Some((cores, 0.0))];
    let shenango = AllocationConfig::Shenango(ShenangoConfig::default());
    let caladan = AllocationConfig::Caladan(CaladanConfig::default());
    let rows = [
        ("Shenango, 3100", growing(shenango), cells(1303.7, 66.78, 12.03)),
        ("Caladan, 3100", growing(caladan), cells(1437.1, 70.48, 11.41)),
    ];
    let rules = Rules { search_min_ns: Some(3_100), ..Rules::default() };
    assert_eq!(judge(&rows, &rules, 40), (0, 0));

    let delay = AllocationConfig::DelayRange(DelayRangeConfig::default());
    let utilization = AllocationConfig::UtilizationRange(UtilizationRangeConfig::default());
    let rows = [
        ("delay range, self-parking", growing(delay), cells(2178.0, 81.76, 9.82)),
        ("utilization, self-parking", growing(utilization), cells(2252.9, 83.51, 9.61)),
    ];
    let rules = Rules { ranges_self_park: true, ..Rules::default() };
    assert_eq!(judge(&rows, &rules, 40), (0, 0));
}

/// Every combination of balancing and allocation that has rules.
fn supported() -> Vec<System> {
    let choice = DispatchConfig::PowerOfK(PowerOfKConfig { k: 2 });
    let jbsq = DispatchConfig::Jbsq(JbsqConfig { bound: 3 });
    let mut all = vec![dispatching(jbsq), single_queue(6), stealing(8, 6)];
    let allocations = [
        AllocationConfig::Static,
        AllocationConfig::Shenango(ShenangoConfig::default()),
        AllocationConfig::Caladan(CaladanConfig::default()),
        AllocationConfig::DelayRange(DelayRangeConfig::default()),
        AllocationConfig::UtilizationRange(UtilizationRangeConfig::default()),
    ];
    let choosing = System { dispatch: choice, ..base(8, 8) };
    for system in [base(8, 8), stealing(8, 8), shedding(8, 8), choosing] {
        all.extend(allocations.map(|allocation| System { allocation, ..system.clone() }));
    }
    all.push(growing(AllocationConfig::PerTask(PerTaskConfig {})));
    all
}

#[test]
fn latency_is_queueing_and_service_and_what_the_core_paid() {
    let constant = ServiceSpec::Distribution(DistributionSpec::Constant { value: Picos::from_nanos(1_000) });
    let service = constant.compile(".".as_ref()).expect("a constant");
    // Without stealing, cores that park after a short spin leave the others with more than they can do.
    let rules = Rules { search_min_ns: Some(3_100), ..Rules::default() };
    for system in supported() {
        let outcome = run(&system, &Costs::default(), &service, 3, |run| simulate(run, &rules));
        let outcome = outcome.unwrap_or_else(|error| panic!("{system:?}: {error}"));
        let stats = &outcome.classes[0];
        let count = u128::from(stats.latency_ps.count());
        let (arrived, unfinished) = (u128::from(outcome.arrived), u128::from(outcome.unfinished));
        assert!(
            count + unfinished == arrived && count > 17_000,
            "{system:?}: {count} + {unfinished} of {arrived}"
        );
        let sum_ps = (stats.latency_ps.mean() * count as f64).round() as u128;
        let parts_ps = stats.queued_ps + stats.overhead_ps + count * 1_000_000;
        assert!(sum_ps.abs_diff(parts_ps) < 1_000_000, "{system:?}: {sum_ps} {parts_ps}");
        assert!(!outcome.overload.is_overloaded(), "{system:?}");
        let account = outcome.account;
        // Unfinished requests have had a part of their time.
        let running_ps = account.busy_ps - u128::from(account.completed) * 1_000_000;
        assert!(running_ps <= u128::from(system.cores) * 1_000_000, "{system:?}");
        let spans_ps = u128::from(outcome.span_ps) * u128::from(system.cores_allocated);
        // Idling that ends counts one ns twice.
        assert!(account.held_ps <= spans_ps + u128::from(account.completed) * 1_000, "{system:?}");
    }
}

#[test]
fn a_seed_gives_the_same_bits_and_another_one_others() {
    let (costs, service) = (Costs::default(), exponential());
    for system in supported() {
        let once =
            |seed| run(&system, &costs, &service, seed, |run| sample(run, &Rules::default())).expect("ok");
        let (first, again, other) = (once(1), once(1), once(2));
        assert!(first.1 == again.1 && first.0.account.held_ps == again.0.account.held_ps, "{system:?}");
        assert!(first.1 != other.1, "{system:?}");
    }
}

#[test]
fn too_much_load_is_seen() {
    let (costs, service) = (Costs::default(), exponential());
    let system = base(8, 3);
    let outcome = run(&system, &costs, &service, 1, |run| simulate(run, &Rules::default())).expect("ok");
    assert!(outcome.overload.is_overloaded() && outcome.unfinished > 2_000, "{:?}", outcome.overload);
}

#[test]
fn what_the_original_lacks_is_refused() {
    let shenango = AllocationConfig::Shenango(ShenangoConfig::default());
    let steal_one = RebalanceConfig::WorkStealing(WorkStealingConfig { amount: Amount::One });
    let both = RebalanceConfig::StealAndShed(StealAndShedConfig::default());
    let jbsq = DispatchConfig::Jbsq(JbsqConfig { bound: 3 });
    let per_task = AllocationConfig::PerTask(PerTaskConfig {});
    let systems = [
        (System { discipline: DisciplineConfig::Srpt, ..base(8, 8) }, "system.discipline"),
        (System { dispatch: DispatchConfig::LeastWork, ..base(8, 8) }, "system.dispatch"),
        (dispatching(DispatchConfig::PowerOfK(PowerOfKConfig { k: 17 })), "17 choices; write 1 to 16"),
        (System { pools: Pools::Equal(2), ..base(8, 8) }, "system.pools"),
        (System { rebalance: steal_one, ..base(8, 8) }, "amount"),
        (System { rebalance: both, ..base(8, 8) }, "not both"),
        (System { allocation: shenango, ..stealing(8, 6) }, "system.allocation.cores"),
        (System { allocation: shenango, dispatch: jbsq, ..base(8, 8) }, "JBSQ dispatch with an allocation"),
        (System { allocation: shenango, ..single_queue(8) }, "one queue with an allocation"),
        (System { allocation: per_task, ..base(8, 8) }, "needs rebalance"),
        (stealing(1, 1), "at least 2"),
    ];
    let (costs, service) = (Costs::default(), exponential());
    for (system, says) in systems {
        let error = run(&system, &costs, &service, 1, |run| simulate(run, &Rules::default())).unwrap_err();
        assert!(error.to_string().contains(says), "{error}");
    }
    let half_ns = Costs { steal_check: Picos(500), ..costs };
    let error = run(&stealing(8, 8), &half_ns, &service, 1, |run| simulate(run, &Rules::default()));
    assert_eq!(error.unwrap_err(), Unsupported::NotWholeNanos { key: "costs.steal_check", ps: 500 });
    let probes = Costs { probe_factor: 1.1, ..costs };
    let error = run(&stealing(8, 8), &probes, &service, 1, |run| simulate(run, &Rules::default()));
    assert_eq!(error.unwrap_err(), Unsupported::Overhead { key: "costs.probe_factor" });
    let rules = Rules { duration_ns: Some(0), ..Rules::default() };
    let error = run(&stealing(8, 8), &costs, &service, 1, |run| simulate(run, &rules));
    assert_eq!(error.unwrap_err(), Unsupported::Duration { ns: 0.0 });
}
