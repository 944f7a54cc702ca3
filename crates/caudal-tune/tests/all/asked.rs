//! Questions and plans that several files of tests share.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock};

use caudal_config::{File, Measure, Workload};
use caudal_tune::{Budget, Control, Goal, Machine, Plan, Question, plan};

pub(crate) const CONSTANT: [&str; 4] = ["caudal-stealing", "caudal-ps", "work-stealing", "ps-fluid"];

pub(crate) const DISPERSED: [&str; 5] =
    ["caudal-stealing", "caudal-ps", "caudal-fcfs", "work-stealing", "ps-fluid"];

/// One plan that several tests look at.
pub(crate) static ON_DISPERSED: LazyLock<Plan> =
    LazyLock::new(|| planned(&question("extreme-bimodal", "short p99.9 < 20us", &DISPERSED), 2));

/// As [`ON_DISPERSED`], where the budget holds more than the search for the winner.
pub(crate) static ON_DISPERSED_FOR_LONGER: LazyLock<Plan> = LazyLock::new(|| {
    let asked = question("extreme-bimodal", "short p99.9 < 20us", &DISPERSED);
    planned(&Question { budget: Budget { requests: 24_000_000 }, ..asked }, 2)
});

/// Another one, whose relaxation is short.
pub(crate) static ON_CONSTANT: LazyLock<Plan> =
    LazyLock::new(|| planned(&question("facebook-usr", "p99.9 < 10us", &CONSTANT), 2));

pub(crate) fn workload(service: &str) -> Arc<Workload> {
    let text = format!("[workload]\nservice = \"{service}\"\n[system]\ncores = 1");
    File::parse(&text, "test.toml").expect("a named workload").workload.expect("there is one")
}

pub(crate) fn question(service: &str, target: &str, systems: &[&str]) -> Question {
    Question {
        workload: workload(service),
        workload_name: service.to_owned(),
        targets: vec![target.parse().expect("a target")],
        machine: Machine::Cores(8),
        goal: Goal::HighestLoad,
        systems: systems.iter().map(|&name| name.to_owned()).collect(),
        costs: Vec::new(),
        measure: Measure::default(),
        budget: Budget { requests: 8_000_000 },
        quick: true,
    }
}

pub(crate) fn planned(question: &Question, threads: usize) -> Plan {
    let control = Control { threads, stop: &AtomicBool::new(false), progress: &|_| {} };
    plan(question, &control).expect("a plan")
}
