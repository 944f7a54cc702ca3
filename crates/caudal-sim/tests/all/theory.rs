//! The engine against queueing theory: means and percentiles within five standard errors of closed forms.
//!
//! Each check runs replications of fixed seeds. Five standard errors are passed by chance less than once in
//! a thousand checks even with the few degrees of freedom here, and a check whose standard error is too
//! large to tell anything fails too. Times are in ns.

use caudal_config::{Costs, Pools};
use caudal_policy::Picos;
use caudal_policy::discipline::{DisciplineConfig, LasConfig, ProcessorSharingConfig};
use caudal_policy::dispatch::{DispatchConfig, JbsqConfig, JsqConfig, PowerOfKConfig};
use caudal_policy::rebalance::{Amount, RebalanceConfig, WorkStealingConfig};
use caudal_sim::engine::{Length, Outcome, Unwatched, simulate};
use caudal_stats::Histogram;
use caudal_stats::theory::gim1::GIM1;
use caudal_stats::theory::md1::MD1;
use caudal_stats::theory::mg1::MG1;
use caudal_stats::theory::mmk::MMk;
use caudal_stats::theory::size_based::ServiceTail;
use caudal_stats::theory::supermarket::Supermarket;

use crate::common::{Case, Gaps, Sizes};

const REPLICATIONS: u64 = 12;
/// Five standard errors must be below this part of the value.
const TELLING: f64 = 0.08;

/// What is held against a closed form: (name, value of one replication, expected).
type Check<'a> = (&'a str, Box<dyn Fn(&Outcome) -> f64>, f64);

fn run(case: &Case) -> Outcome {
    simulate(&case.ready().run(false), Unwatched)
}

fn replicate(case: &Case) -> Vec<Outcome> {
    (1..=REPLICATIONS).map(|seed| run(&Case { seed, ..case.clone() })).collect()
}

fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

/// Holds each check's mean over replications of `case` against what is expected, give or take the part
/// `tolerance` of it (the error of a histogram or of a limit) and five standard errors.
fn hold(case: &Case, tolerance: f64, checks: Vec<Check<'_>>) {
    let outcomes = replicate(case);
    for (name, value, expected) in checks {
        let values: Vec<f64> = outcomes.iter().map(&value).collect();
        let (mean, error) = mean_and_error(&values);
        let shown = format!("{name}: {mean:.4} ± {error:.4}, expected {expected:.4}; {case:?}");
        assert!(5.0 * error <= TELLING * expected, "does not tell: {shown}");
        assert!((mean - expected).abs() <= 5.0 * error + tolerance * expected, "{shown}");
    }
}

fn all(outcome: &Outcome) -> Histogram {
    let mut all = Histogram::new();
    outcome.classes.iter().for_each(|class| all.merge(&class.latency_ps));
    all
}

fn mean<'a>(expected: f64) -> Check<'a> {
    ("mean", Box::new(|outcome| all(outcome).mean() / 1e3), expected)
}

fn percentile<'a>(p: f64, expected: f64) -> Check<'a> {
    ("percentile", Box::new(move |outcome| all(outcome).percentile(p) as f64 / 1e3), expected)
}

/// Mean sojourn time of one class.
fn mean_of<'a>(class: usize, expected: f64) -> Check<'a> {
    let value = move |outcome: &Outcome| outcome.classes[class].latency_ps.mean() / 1e3;
    ("mean of a class", Box::new(value), expected)
}

/// Arrivals per ns.
fn rate(case: &Case) -> f64 {
    1e3 / case.ready().mean_gap_ps
}

fn sharing(quantum: Picos) -> DisciplineConfig {
    DisciplineConfig::ProcessorSharing(ProcessorSharingConfig {
        quantum,
        ..ProcessorSharingConfig::default()
    })
}

fn las(quantum: Picos) -> DisciplineConfig {
    DisciplineConfig::Las(LasConfig { quantum, ..LasConfig::default() })
}

/// Mean and second moment of equally likely sizes.
fn moments(sizes: &[f64]) -> (f64, f64) {
    let n = sizes.len() as f64;
    (sizes.iter().sum::<f64>() / n, sizes.iter().map(|size| size * size).sum::<f64>() / n)
}

/// P(S > x) of equally likely sizes.
fn tail_of(sizes: &'static [f64]) -> impl Fn(f64) -> f64 {
    move |x| sizes.iter().filter(|&&size| size > x).count() as f64 / sizes.len() as f64
}

const TWO_SIZES: [f64; 2] = [500.0, 5_000.0];

fn two_sizes() -> Sizes {
    Sizes::Grid(TWO_SIZES.iter().map(|&size| size as u64).collect())
}

/// One core with two sizes at a load of 0.7.
fn one_core(discipline: DisciplineConfig) -> Case {
    Case { sizes: two_sizes(), discipline, ..Case::plain(1, 0.7, 60_000) }
}

#[test]
fn a_queue_with_k_servers_is_m_m_k() {
    for (servers, load, requests) in
        [(1, 0.5, 60_000), (2, 0.8, 80_000), (16, 0.8, 60_000), (33, 0.9, 80_000)]
    {
        let case = Case::plain(servers, load, requests);
        let theory = MMk::new(servers, rate(&case), 1e-3).unwrap();
        let percentiles = [50.0, 90.0, 99.0].map(|p| percentile(p, theory.sojourn_percentile(p)));
        let checks = percentiles.into_iter().chain([mean(theory.mean_sojourn())]).collect();
        hold(&case, caudal_stats::RELATIVE_ERROR, checks);
    }
}

/// As [`run`], with how long requests waited.
fn run_with_waits(case: &Case) -> Outcome {
    let ready = case.ready();
    simulate(&caudal_sim::engine::Run { waits: true, ..ready.run(false) }, Unwatched)
}

#[test]
fn what_is_recorded_of_waiting_is_that_of_m_m_k() {
    let case = Case::plain(2, 0.8, 200_000);
    let theory = MMk::new(2, rate(&case), 1e-3).unwrap();
    let outcome = run_with_waits(&case);
    let waits = outcome.classes[0].wait_ps.as_ref().expect("it was asked for");
    for (found, expected) in [
        (waits.mean(), theory.mean_wait()),
        (waits.percentile(90.0) as f64, theory.wait_percentile(90.0)),
        (waits.percentile(99.0) as f64, theory.wait_percentile(99.0)),
    ] {
        assert!((found / 1e3 / expected - 1.0).abs() < 0.08, "{} not {expected}", found / 1e3);
    }
    // Two of seven need not wait at all.
    assert_eq!(waits.percentile(25.0), 0);
    assert!(run(&case).classes[0].wait_ps.is_none(), "nobody asked");
}

#[test]
fn waiting_is_all_that_is_not_service_in_every_engine() {
    let costs = Costs { preemption: Picos::from_nanos(50), probe_factor: 1.1, ..Costs::default() };
    let stealing = RebalanceConfig::WorkStealing(WorkStealingConfig::default());
    for case in [
        Case::plain(3, 0.8, 20_000),
        Case { pools: Pools::PerCore, rebalance: stealing, ..Case::plain(4, 0.7, 20_000) },
        Case {
            pools: Pools::PerCore,
            discipline: sharing(Picos::from_nanos(200)),
            costs,
            ..Case::plain(4, 0.6, 20_000)
        },
        Case { discipline: sharing(Picos::from_nanos(200)), costs, ..Case::plain(4, 0.6, 20_000) },
    ] {
        let outcome = run_with_waits(&case);
        let class = &outcome.classes[0];
        let waits = class.wait_ps.as_ref().expect("it was asked for");
        assert_eq!(waits.count(), class.latency_ps.count());
        let causes = class.queued_ps + class.preempted_ps + class.overhead_ps + class.probe_ps;
        assert_eq!(waits.sum(), causes, "{case:?}");
        assert!(outcome.events.0 >= 20_000, "{}", outcome.events.0);
    }
}

#[test]
fn one_server_with_other_gaps_is_gi_m_1() {
    let case = |gaps| Case { gaps, ..Case::plain(1, 0.7, 80_000) };
    // Erlang-2 gaps, an even gamma, and the balanced phases of a squared coefficient of variation of 4.
    let p = 0.5 * (1.0 + (3.0_f64 / 5.0).sqrt());
    for (gaps, phases) in [
        (Gaps::Gamma(0.5), None),
        (Gaps::Gamma(3.0), None),
        (Gaps::HyperExponential(4.0), Some([p, 1.0 - p])),
    ] {
        let case = case(gaps);
        let mean_gap = 1.0 / rate(&case);
        let transform = |s: f64| match (gaps, phases) {
            // Phases p of mean gaps 1/(2 p).
            (_, Some(phases)) => phases.iter().map(|p| p / (1.0 + s * mean_gap / (2.0 * p))).sum(),
            (Gaps::Gamma(scv), _) => (1.0 + s * mean_gap * scv).powf(-1.0 / scv),
            _ => unreachable!("all others have phases"),
        };
        let theory = GIM1::new(mean_gap, transform, 1e-3).unwrap();
        let percentiles = [50.0, 90.0].map(|p| percentile(p, theory.sojourn_percentile(p)));
        let checks = percentiles.into_iter().chain([mean(theory.mean_sojourn())]).collect();
        hold(&case, caudal_stats::RELATIVE_ERROR, checks);
    }
}

#[test]
fn one_server_is_m_g_1() {
    let case = one_core(DisciplineConfig::Fcfs);
    let (first, second) = moments(&TWO_SIZES);
    let theory = MG1::new(rate(&case), first, second).unwrap();
    let wait = theory.fcfs_mean_wait();
    hold(
        &case,
        0.0,
        vec![
            mean(theory.fcfs_mean_sojourn()),
            mean_of(0, wait + TWO_SIZES[0]),
            mean_of(1, wait + TWO_SIZES[1]),
        ],
    );
}

#[test]
fn equal_services_are_m_d_1() {
    let case = Case { sizes: Sizes::Constant(1_000), ..Case::plain(1, 0.8, 80_000) };
    let theory = MD1::new(rate(&case), 1_000.0).unwrap();
    let checks = [50.0, 90.0, 99.0].map(|p| percentile(p, theory.sojourn_percentile(p)));
    let checks = checks.into_iter().chain([mean(theory.mean_wait() + 1_000.0)]).collect();
    hold(&case, caudal_stats::RELATIVE_ERROR, checks);
}

/// P(T > t) in units of the mean service: a request that joins as the k-th stays for k services.
fn supermarket_tail(theory: &Supermarket, t: f64) -> f64 {
    let (mut tail, mut erlang, mut term) = (0.0, 0.0, (-t).exp());
    for k in 0..40 {
        // P(Erlang of k + 1 stages > t).
        erlang += term;
        term *= t / f64::from(k + 1);
        let joins = theory.share_with_at_least(k).powi(2) - theory.share_with_at_least(k + 1).powi(2);
        tail += joins * erlang;
    }
    tail
}

#[test]
fn two_choices_of_1024_are_the_supermarket() {
    for load in [0.5, 0.9] {
        let case = Case {
            pools: Pools::PerCore,
            dispatch: DispatchConfig::PowerOfK(PowerOfKConfig { k: 2 }),
            length: Length { warm_up: 60_000, measured: 100_000 },
            ..Case::plain(1024, load, 0)
        };
        let theory = Supermarket::new(2, load).unwrap();
        let above = |t: f64| {
            move |outcome: &Outcome| {
                let sojourns = all(outcome);
                sojourns.count_above((t * 1e6) as u64) as f64 / sojourns.count() as f64
            }
        };
        let tails = [1.0, 2.0, 4.0].map(|t| {
            let check: Check<'_> = ("share above", Box::new(above(t)), supermarket_tail(&theory, t));
            check
        });
        // The limit is off by the order of 1/1024.
        hold(&case, 0.005, tails.into_iter().chain([mean(1e3 * theory.mean_sojourn())]).collect());
    }
}

#[test]
fn the_shortest_of_1024_queues_is_empty() {
    let jsq = DispatchConfig::Jsq(JsqConfig::default());
    let case = Case { pools: Pools::PerCore, dispatch: jsq, ..Case::plain(1024, 0.5, 100_000) };
    assert_eq!(run(&case).classes[0].queued_ps, 0);
}

#[test]
fn shortest_remaining_time_is_schrage_and_miller() {
    let case = Case { discipline: DisciplineConfig::Srpt, ..Case::plain(1, 0.8, 80_000) };
    let exponential = ServiceTail::new(|x: f64| (-x / 1e3).exp(), &[]).unwrap();
    hold(&case, 1e-4, vec![mean(exponential.srpt_mean_sojourn(rate(&case)).unwrap())]);

    let case = one_core(DisciplineConfig::Srpt);
    let theory = ServiceTail::new(tail_of(&TWO_SIZES), &TWO_SIZES).unwrap();
    let of = |class: usize| mean_of(class, theory.srpt_sojourn_of(rate(&case), TWO_SIZES[class]).unwrap());
    hold(&case, 1e-4, vec![mean(theory.srpt_mean_sojourn(rate(&case)).unwrap()), of(0), of(1)]);
}

#[test]
fn small_quanta_share_the_processor() {
    // A hundredth of the shorter size: turns are short against it.
    for (quantum, tolerance) in [(Picos(5_000), 0.02), (Picos::ZERO, 1e-4)] {
        let sizes = Sizes::Grid(TWO_SIZES.iter().map(|&size| size as u64).collect());
        let case = Case { sizes, discipline: sharing(Picos::ZERO), ..one_core(DisciplineConfig::Fcfs) };
        let (first, second) = moments(&TWO_SIZES);
        let theory = MG1::new(rate(&case), first, second).unwrap();
        let mut ready = case.ready();
        ready.system.discipline = sharing(quantum);
        ready.system.pools = Pools::PerCore;
        let outcomes: Vec<Outcome> = (1..=REPLICATIONS)
            .map(|seed| {
                ready.seed = seed;
                simulate(&ready.run(false), Unwatched)
            })
            .collect();
        for (class, &size) in TWO_SIZES.iter().enumerate() {
            let means: Vec<f64> =
                outcomes.iter().map(|outcome| outcome.classes[class].latency_ps.mean() / 1e3).collect();
            let (mean, error) = mean_and_error(&means);
            let expected = theory.ps_sojourn_of(size);
            let shown = format!("size {size}, {quantum}: {mean:.1} ± {error:.1}, expected {expected:.1}");
            assert!(5.0 * error <= TELLING * expected, "does not tell: {shown}");
            assert!((mean - expected).abs() <= 5.0 * error + tolerance * expected, "{shown}");
        }
    }
}

#[test]
fn fluid_least_attained_service_is_foreground_background() {
    let case = one_core(las(Picos::ZERO));
    let theory = ServiceTail::new(tail_of(&TWO_SIZES), &TWO_SIZES).unwrap();
    let of = |class: usize| mean_of(class, theory.fb_sojourn_of(rate(&case), TWO_SIZES[class]).unwrap());
    hold(&case, 1e-4, vec![mean(theory.fb_mean_sojourn(rate(&case)).unwrap()), of(0), of(1)]);
}

#[test]
fn without_memory_all_blind_disciplines_have_one_mean() {
    for discipline in [sharing(Picos::ZERO), las(Picos::ZERO), sharing(Picos::from_nanos(200))] {
        let case = Case { discipline, ..Case::plain(4, 0.8, 60_000) };
        let theory = MMk::new(4, rate(&case), 1e-3).unwrap();
        hold(&case, 1e-4, vec![mean(theory.mean_sojourn())]);
    }
}

#[test]
fn stealing_at_no_cost_wastes_no_server() {
    let rebalance = RebalanceConfig::WorkStealing(WorkStealingConfig { amount: Amount::Half });
    let case = Case { pools: Pools::PerCore, rebalance, ..Case::plain(8, 0.8, 60_000) };
    let theory = MMk::new(8, rate(&case), 1e-3).unwrap();
    hold(&case, 0.0, vec![mean(theory.mean_sojourn())]);
}

/// Sojourn times of a run, as the engine recorded them.
fn sojourns(case: &Case) -> (u64, u128, u64, u64) {
    let all = all(&run(case));
    (all.count(), all.sum(), all.min(), all.max())
}

#[test]
fn least_work_and_a_bound_of_one_are_a_single_queue() {
    for sizes in [Sizes::Exponential(1_000), two_sizes()] {
        let single = Case { sizes, ..Case::plain(8, 0.9, 60_000) };
        let of = |dispatch| sojourns(&Case { pools: Pools::PerCore, dispatch, ..single.clone() });
        let expected = sojourns(&single);
        assert_eq!(of(DispatchConfig::LeastWork), expected);
        assert_eq!(of(DispatchConfig::Jbsq(JbsqConfig { bound: 1 })), expected);
    }
}

#[test]
fn costs_lengthen_services_by_what_they_say() {
    // Probes: the same queue with services a quarter longer.
    let costs = Costs { probe_factor: 1.25, ..Costs::FREE };
    let case = Case { costs, ..Case::plain(1, 0.6, 60_000) };
    let theory = MMk::new(1, rate(&case), 1e-3 / 1.25).unwrap();
    hold(&case, 0.0, vec![mean(theory.mean_sojourn())]);

    // A dispatcher that takes a constant time is a queue M/D/1 before a server that is never waited for.
    let costs = Costs { dispatcher: Picos::from_nanos(50), ..Costs::FREE };
    let case = Case { costs, ..Case::plain(400, 0.04, 60_000) };
    let dispatcher = MD1::new(rate(&case), 50.0).unwrap();
    hold(&case, 0.0, vec![mean(dispatcher.mean_wait() + 50.0 + 1e3)]);
}

#[test]
fn the_longest_services_on_the_largest_machine_fit() {
    let single = Case { sizes: Sizes::Constant(3_600_000_000_000), ..Case::plain(4096, 0.3, 3_000) };
    let random = Case { pools: Pools::PerCore, ..single.clone() };
    for case in [single, random] {
        let outcome = run(&case);
        assert_eq!(outcome.classes[0].latency_ps.min(), 3_600_000_000_000_000);
        if case.pools != Pools::PerCore {
            assert_eq!(outcome.classes[0].latency_ps.max(), 3_600_000_000_000_000);
        }
    }
}
