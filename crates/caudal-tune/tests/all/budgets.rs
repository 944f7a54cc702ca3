//! Budgets hold, whatever the service and the system: judged in the engine's counted events, which are what takes time, not in seconds.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use caudal_config::{File, Offered, Rate, Workload, presets};
use caudal_tune::{Budget, Control, Goal, Machine, NoJournal, Plan, Question, plan_on_enough_cores};

use crate::asked::planned;

/// By so much a budget may be passed.
const HOLDS_WITHIN: f64 = 1.5;
/// Where slices are what happens, an event takes 20 ns of a request's 330, others 80: see `caudal-tune/src/cost.rs`. A leaf of a request
/// that forks takes 80 to 150 ns, and is three events.
const SLICE: f64 = 0.06;
const EVENT: f64 = 0.25;
const EVENT_OF_FORKS: f64 = 0.1;

fn workload(mean: &str, more: &str) -> Arc<Workload> {
    let service = format!("{{ distribution = \"exponential\", mean = \"{mean}\" }}");
    let text = format!("[workload]\nservice = {service}\n{more}[system]\ncores = 1");
    File::parse(&text, "test.toml").expect("a workload").workload.expect("there is one")
}

fn question(workload: Arc<Workload>, target: &str, systems: &[&str]) -> Question {
    Question {
        workload_name: "exponential".to_owned(),
        workload,
        machine: Machine::Cores(16),
        budget: Budget { requests: 1_000_000 },
        ..crate::asked::question("exp-1us", target, systems)
    }
}

/// What the events of `plan` take, in requests as its budget has them: the first four of each are never ends of slices.
fn taken(plan: &Plan, system: &str, forks: bool) -> f64 {
    let (requests, events) = (plan.simulated as f64, plan.events as f64);
    let first = events.min(4.0 * requests);
    match system {
        "shinjuku" => EVENT * first + SLICE * (events - first),
        _ if forks => EVENT_OF_FORKS * events,
        _ => EVENT * events,
    }
}

/// Plans with `system` alone, or beside the least that can be deployed, for a service of this mean; what it took over its budget.
fn ratio(system: &str, forks: bool, mean: &str) -> f64 {
    let deployable =
        presets().find(|preset| preset.name == system).expect("a preset").reference_only.is_none();
    let systems = if deployable { vec![system] } else { vec![system, "single-queue", "no-balancing"] };
    let systems: Vec<&str> = systems
        .into_iter()
        .enumerate()
        .filter(|(at, name)| *at == 0 || *name != system)
        .map(|it| it.1)
        .collect();
    // Beyond what the longest ten-thousandth takes alone: a place to look for exists, and not at the end of the machine.
    let target = format!("p99 < {}", times(mean, 8));
    let asked = question(workload(mean, if forks { "dag = {}\n" } else { "" }), &target, &systems);
    // Requests that fork are hundreds of leaves each.
    let requests = if forks { 24_000_000 } else { asked.budget.requests };
    let plan = planned(&Question { budget: Budget { requests }, ..asked }, 2);
    let ratio = taken(&plan, system, forks).max(plan.spent as f64) / plan.budget as f64;
    println!(
        "{system:28}{mean:>8} {ratio:.2} (charged {:.2}, {:.1} events a request)",
        plan.spent as f64 / plan.budget as f64,
        plan.events as f64 / plan.simulated.max(1) as f64
    );
    ratio
}

/// `800us`, of `100us` and 8.
fn times(mean: &str, times: u64) -> String {
    let digits = mean.find(|c: char| !c.is_ascii_digit()).expect("a unit");
    let number: u64 = mean[..digits].parse().expect("a number");
    format!("{}{}", number * times, &mean[digits..])
}

fn holds(grid: impl Iterator<Item = (&'static str, bool, &'static str)>) {
    let ratios: Vec<(f64, String)> =
        grid.map(|(system, forks, mean)| (ratio(system, forks, mean), format!("{system}, {mean}"))).collect();
    let largest = ratios.iter().max_by(|a, b| a.0.total_cmp(&b.0)).expect("a grid");
    println!("largest: {largest:?}");
    assert!(largest.0 <= HOLDS_WITHIN, "{largest:?}");
}

/// Those whose requests take the most events: slices, checks, thieves, and a plain one.
#[test]
fn budgets_hold_for_services_of_all_lengths() {
    let dear = ["shinjuku", "caladan-utilization-range", "stealing-and-choice", "work-stealing"];
    holds(dear.into_iter().flat_map(|system| ["1us", "20ms", "1s"].map(|mean| (system, false, mean))));
}

#[test]
#[ignore = "long: make test-long"]
fn budgets_hold_for_every_system_of_the_catalogue() {
    let means = ["100ns", "1us", "10us", "100us", "1ms", "20ms", "1s"];
    let considered = presets().filter(|preset| preset.system(1).contexts.is_none());
    // A machine that has to answer soon takes a sample.
    let every = if std::env::var_os("CAUDAL_GRIDS").is_some_and(|wanted| wanted == "sample") { 9 } else { 1 };
    let cells = considered.flat_map(|preset| {
        let forks = preset.system(2).parallelism.forks();
        // Requests that fork are made of leaves of tens of microseconds.
        let means: Vec<&'static str> = means.into_iter().skip(if forks { 4 } else { 0 }).collect();
        means.into_iter().map(move |mean| (preset.name, forks, mean))
    });
    holds(cells.step_by(every));
}

#[test]
fn quanta_are_as_long_as_services_need_where_each_slice_is_simulated() {
    let quantum = |mean: &str| {
        let target = format!("p99 < {}", times(mean, 9));
        let plan = planned(&question(workload(mean, ""), &target, &["shinjuku"]), 2);
        let tuned = plan.rows.first().map(|row| row.varied["discipline.quantum"].clone());
        tuned.unwrap_or_default().as_str().map(str::to_owned)
    };
    // A request of 20 ms has four thousand slices of 5 us.
    let long = quantum("20ms").expect("a longer one");
    let long: f64 = caudal_policy::Picos::parse(&long).expect("a time").as_nanos_f64();
    assert!((50e3..=2e6).contains(&long), "{long}");
}

/// As many cores as it takes.
fn on_enough_cores(question: Question) -> (Question, Plan) {
    let control = Control { threads: 2, stop: &AtomicBool::new(false), progress: &|_| {} };
    plan_on_enough_cores(&question.on_enough_cores(), &control, &NoJournal).expect("a plan")
}

#[test]
fn where_nobody_says_how_many_cores_there_are_as_many_are_looked_for_as_it_takes() {
    let rate = |rate: &str| Goal::FewestCores(Offered::Rate(Rate::parse(rate).expect("a rate")));
    let asked = question(workload("10us", ""), "p99 < 70us", &["work-stealing"]);
    // Thirty cores of work: 16, the machine of a plan for a load, could never do it.
    let many = Question { goal: rate("3M/s"), ..asked.clone() };
    assert!(many.check().is_err(), "not on 16 cores");
    let (answered, plan) = on_enough_cores(many);
    let cores = plan.systems[0].reach.pass.expect("some number of cores");
    assert!((31.0..45.0).contains(&cores), "{cores} of {:?}", answered.machine);
    assert!(plan.spent as f64 <= HOLDS_WITHIN * plan.budget as f64, "{} of {}", plan.spent, plan.budget);

    // Four cores of work, each request to a random one of so many queues that hardly any waits: by M/M/1, a p99 of 52 us
    // takes a load of 1 - 46.05/52 = 0.114, or 35 cores. On 16, which four cores of work begin with, nobody gets there.
    let quiet = question(workload("10us", ""), "p99 < 52us", &["no-balancing"]);
    let quiet = Question { goal: rate("400k/s"), budget: Budget { requests: 6_000_000 }, ..quiet };
    let (answered, plan) = on_enough_cores(quiet);
    let cores = plan.systems[0].reach.pass.expect("some number of cores");
    assert!((33.0..=44.0).contains(&cores), "{cores} of {:?}", answered.machine);
    assert_eq!(answered.machine, Machine::Cores(64));

    // No number of cores makes a request shorter than it is.
    let never = question(workload("10us", ""), "p99 < 45us", &["no-balancing"]);
    let never = Question { goal: rate("400k/s"), ..never }.on_enough_cores();
    assert_eq!(never.machine, Machine::Cores(caudal_config::CORES_MAX));
    assert!(never.check().is_err(), "by arithmetic");
}
