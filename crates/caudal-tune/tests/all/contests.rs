//! Two systems on the same requests.

use std::sync::atomic::AtomicBool;

use caudal_config::{File, Measure, SystemPlan, find_preset};
use caudal_policy::Picos;
use caudal_sim::experiment::Control;
use caudal_stats::paired::Verdict;
use caudal_tune::compare::{Compared, Contest, compare};

fn contest(systems: [&str; 2], rate_per_s: f64) -> Compared {
    measured(systems, rate_per_s, &Measure::default())
}

fn measured(systems: [&str; 2], rate_per_s: f64, measure: &Measure) -> Compared {
    let file =
        File::parse("[workload]\nservice = \"exp-1us\"\n[system]\ncores = 1", "test.toml").expect("a file");
    let plans = systems.map(|name| SystemPlan::of_preset(find_preset(name).expect("a preset"), 8));
    let contest = Contest {
        systems: [&plans[0], &plans[1]],
        workload: file.workload.as_ref().expect("there is one"),
        rate_per_s,
        measure,
        quick: true,
    };
    let control = Control { threads: 2, stop: &AtomicBool::new(false), progress: &|_| {} };
    compare(&contest, &control).expect("a comparison")
}

#[test]
fn one_queue_beats_eight() {
    let compared = contest(["ideal", "no-balancing"], 5e6);
    assert!(compared.precise, "{compared:?}");
    for line in compared.lines.iter().filter(|line| line.metric == "latency_ns") {
        assert_eq!(line.verdict, Verdict::Better, "{line:?}");
        assert!(line.ratio.high < 1.0 && line.difference.high < 0.0);
    }
    let mean = &compared.lines[0];
    // M/M/8 at 0.625 against eight M/M/1: 1.05 us against 2.67 us.
    assert!((mean.values[1].estimate - 2667.0).abs() < 150.0, "{mean:?}");
}

#[test]
fn miss_ratios_are_compared_beside_latencies() {
    let measure =
        Measure { miss: vec![Picos::from_micros(4), Picos::from_micros(1_000)], ..Measure::default() };
    let compared = measured(["ideal", "no-balancing"], 5e6, &measure);
    let misses: Vec<_> = compared.lines.iter().filter(|line| line.metric == "miss").collect();
    assert_eq!(
        misses.iter().map(|line| line.statistic.as_str()).collect::<Vec<_>>(),
        ["miss 4us", "miss 1ms"]
    );
    assert_eq!(misses[0].verdict, Verdict::Better);
    // Eight M/M/1 at 0.625: the sojourn time is exponential with a mean of 2.67 us.
    let expected = (-4.0_f64 / (1.0 / 0.375)).exp();
    assert!((misses[0].values[1].estimate / expected - 1.0).abs() < 0.1, "{:?}", misses[0]);
    assert!(misses[0].ratio.high < 1.0 && misses[0].difference.high < 0.0);
    // Nobody takes a millisecond.
    assert!(misses[1].ratio.is_missing() && misses[1].verdict == Verdict::Undecided);
}

#[test]
fn a_system_against_itself_is_undecided() {
    let compared = contest(["ideal", "single-queue"], 5e6);
    assert!(
        compared.lines.iter().all(|line| line.verdict == Verdict::Undecided && line.ratio.estimate == 1.0)
    );
}

#[test]
fn overload_is_said_and_nothing_is_compared() {
    let compared = contest(["ideal", "no-balancing"], 9e6);
    assert_eq!((compared.overloaded, compared.lines.len()), ([true, true], 0));
}

#[test]
fn who_is_still_filling_is_named() {
    let short = Measure { requests: Some(400), ..Measure::default() };
    let compared = measured(["ideal", "no-balancing"], 7.6e6, &short);
    assert_eq!(compared.steady, [false, false]);
    assert!(!compared.precise);
    assert_eq!(contest(["ideal", "no-balancing"], 1e6).steady, [true, true]);
}
