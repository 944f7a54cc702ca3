//! All layouts of a few servers, simulated one by one: an oracle for the climb. Compiled for tests only, which compare the climb's answer
//! with the best of all layouts.

use std::sync::atomic::AtomicBool;

use caudal_config::{Costs, File, Measure};
use caudal_policy::Picos;

use super::climb::Climb;
use super::grid::grid;
use super::layout::{Family, Layout};
use super::objective::{Objective, Order};
use super::race::race;
use super::trials::{Contender, ROUNDS, Trials};
use crate::{Control, NoJournal};

/// Ways to give `servers` to `lanes`, each at least one.
fn shares(servers: u32, lanes: u32) -> Vec<Vec<u32>> {
    if lanes == 1 {
        return vec![vec![servers]];
    }
    let first = 1..=servers - (lanes - 1);
    let with = |first: u32| {
        shares(servers - first, lanes - 1).into_iter().map(move |rest| [vec![first], rest].concat())
    };
    first.flat_map(with).collect()
}

/// Increasing choices of `count` out of `grid`.
fn choices(grid: &[Picos], count: usize) -> Vec<Vec<Picos>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let with = |(at, &first): (usize, &Picos)| {
        choices(&grid[at + 1..], count - 1).into_iter().map(move |rest| [vec![first], rest].concat())
    };
    grid.iter().enumerate().flat_map(with).collect()
}

fn all(servers: u32, grid: &[Picos]) -> Vec<Layout> {
    let mut found = Vec::new();
    for lanes in 2..=servers {
        for cutoffs in choices(grid, lanes as usize - 1) {
            for reservations in shares(servers, lanes) {
                found.push(Layout { cutoffs: cutoffs.clone(), reservations });
            }
        }
    }
    found
}

/// The climb's answer, and what all layouts of its grid say to it.
fn held_against_all(service: &str, family: Family, servers: u32, percentile: f64) {
    let text = format!("[workload]\nservice = {service}\n[system]\ncores = 1");
    let workload = File::parse(&text, "test.toml").expect("a file").workload.expect("a workload");
    let (service, stop) = (workload.service.clone(), AtomicBool::new(false));
    let target = caudal_sim::experiment::Quantity {
        class: None,
        metric: caudal_config::Metric::Latency,
        percentile: Some(percentile),
        ..Default::default()
    };
    let objective = Objective { target, limits: Vec::new(), confidence: 0.95 };
    let control = Control { threads: 2, stop: &stop, progress: &|_| {} };
    let mean_gap_ps = service.mean_ps() / (0.7 * f64::from(servers));
    let grid = grid(&service, 1.0);
    let trials = Trials::new(
        (family.into(), Costs::FREE),
        ([service.clone(), service], &workload.arrivals, mean_gap_ps),
        objective,
        (&Measure::default(), servers, false),
        control,
    );
    let mut climb = Climb {
        trials: &trials,
        grid: &grid,
        journal: &NoJournal,
        chapter: 0,
        budget: u64::MAX,
        lanes_max: servers as usize,
        steps: Vec::new(),
        cut_short: false,
    };
    let mut best = climb.run(servers).expect("nobody stops it");
    let last = ROUNDS.len() - 1;
    trials.advance(&mut best, last, 2).expect("nobody stops it");
    let raced = race(&trials, &mut best, all(servers, &grid), u64::MAX).expect("nobody stops it");
    let mut leader: Contender = raced.leader.expect("some layout keeps up");
    trials.advance(&mut leader, last, 2).expect("nobody stops it");
    let (own, other) = (best.last().expect("simulated"), leader.last().expect("simulated"));
    let ratio = trials.objective.ratio(&trials.objective.target, other, own);
    let order = trials.objective.order(other, own);
    // Among hundreds, some look better by chance; by less than 3 % they are not.
    let close = ratio.estimate > 0.97;
    assert!(
        order != Order::Better || close,
        "{}: {} is {ratio:?} of {}",
        family.name(),
        leader.layout,
        best.layout
    );
}

const BIMODAL: &str = r#"{ distribution = "bimodal", short = "1us", long = "60us", p_long = 0.02 }"#;

#[test]
fn the_climb_finds_what_all_layouts_of_three_servers_hold() {
    held_against_all(BIMODAL, Family::SqdSita, 3, 99.0);
}

#[test]
fn and_of_four_servers_that_may_be_interrupted() {
    held_against_all(BIMODAL, Family::IsqdSita, 4, 97.0);
}

#[test]
fn all_layouts_are_counted() {
    let grid = [1, 2, 3].map(Picos);
    // Two lanes: 3 shares of 4 servers at 3 ends; three: 3 at 3 pairs; four: 1 at 1 triple.
    assert_eq!(all(4, &grid).len(), 9 + 9 + 1);
}
