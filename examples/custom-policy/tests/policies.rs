//! The policies do what their documentation says, and fit the engine.

use caudal_config::{File, Point};
use caudal_policy::Picos;
use caudal_policy::dispatch::{Random, RoundRobin};
use caudal_sim::engine::{ClassStats, Length, Outcome};
use custom_policy::neighbours::Neighbours;
use custom_policy::two_levels::TwoLevels;
use custom_policy::{built_in, custom, run_of};

const LENGTH: Length = Length { warm_up: 1_000, measured: 20_000 };

fn point(pools: &str, dispatch: &str) -> Point {
    let text = format!(
        "[workload]\nservice = \"extreme-bimodal\"\nload = 0.6\n\
         [system]\ncores = 8\npools = {pools}\ndispatch = \"{dispatch}\"\n"
    );
    File::parse(&text, "test.toml").unwrap().points().unwrap().remove(0)
}

fn levels(cutoff: Picos) -> TwoLevels {
    TwoLevels { cutoff, turn: Picos::from_micros(5) }
}

fn p99(class: &ClassStats) -> u64 {
    class.slowdown.percentile(99.0)
}

/// Everything that may differ between two runs of the same requests.
fn books(outcome: &Outcome) -> (u64, u64, Vec<(u64, u64, u128)>) {
    let classes = outcome.classes.iter();
    let numbers = classes.map(|c| (c.latency_ps.count(), c.latency_ps.max(), c.queued_ps)).collect();
    (outcome.end_ps, outcome.account.preemptions, numbers)
}

#[test]
fn without_a_cutoff_two_levels_are_first_come_first_served_to_the_bit() {
    for (pools, seed) in [("1", 1), ("2", 2), ("\"per-core\"", 3)] {
        let point = point(pools, "random");
        let run = run_of(&point, LENGTH, seed);
        let ours = custom(&run, || levels(Picos::MAX), Random);
        assert_eq!(books(&ours), books(&built_in(&run)), "pools = {pools}");
    }
}

#[test]
fn short_requests_pass_long_ones_at_their_cost() {
    let point = point("1", "random");
    let run = run_of(&point, LENGTH, 1);
    let (fcfs, ours) = (built_in(&run), custom(&run, || levels(Picos::from_micros(2)), Random));
    assert!(p99(&ours.classes[0]) < p99(&fcfs.classes[0]));
    assert!(ours.account.preemptions > 0);
    assert_eq!(fcfs.account.preemptions, 0);
}

#[test]
fn a_look_at_the_neighbour_is_better_than_none() {
    let point = point("\"per-core\"", "round-robin");
    let run = run_of(&point, LENGTH, 1);
    let fcfs = || levels(Picos::MAX);
    let (blind, ours) =
        (custom(&run, fcfs, RoundRobin::default()), custom(&run, fcfs, Neighbours::default()));
    assert!(ours.classes[0].latency_ps.mean() < blind.classes[0].latency_ps.mean());
}
