//! Runs as long as the system asks for, held against runs ten times as long: every dispatch with every rebalancing, on
//! few queues and on many.

use std::sync::atomic::AtomicBool;

use caudal_config::{File, Measure, Point, WarmUp};
use caudal_sim::experiment::{Control, Experiment, Quantity, Results, StopOn};
use caudal_sim::sweep::experiment;
use caudal_stats::Estimate;
use caudal_stats::theory::supermarket::Supermarket;

const LOAD: f64 = 0.8;
const DISPATCHES: [&str; 7] = [
    "\"random\"",
    "\"round-robin\"",
    "{ policy = \"power-of-k\", k = 2 }",
    "{ policy = \"power-of-k\", k = 3 }",
    "\"jsq\"",
    "{ policy = \"jbsq\", bound = 2 }",
    "\"least-work\"",
];
const REBALANCES: [&str; 4] = ["\"none\"", "\"work-stealing\"", "\"work-shedding\"", "\"steal-and-shed\""];

/// One cell of the grid, with services of 10 us, next to which what moves requests costs little. `None` where the two do not
/// go together.
fn cell(dispatch: &str, rebalance: &str, queues: u32, load: f64) -> Option<Point> {
    point("10us", (dispatch, rebalance), queues, load)
}

/// The same with services of 1 ms: next to them, nothing costs anything.
fn long_services(dispatch: &str, queues: u32, load: f64) -> Point {
    point("1ms", (dispatch, REBALANCES[0]), queues, load).expect("a cell")
}

fn point(mean: &str, (dispatch, rebalance): (&str, &str), queues: u32, load: f64) -> Option<Point> {
    let text = format!(
        "[workload]\nservice = {{ distribution = \"exponential\", mean = \"{mean}\" }}\nload = {load}\n[system]\ncores = {queues}\npools = \"per-core\"\n\
         dispatch = {dispatch}\nrebalance = {rebalance}\ndiscipline = \"fcfs\"\n[measure]\npercentiles = [50, 99]"
    );
    Some(File::parse(&text, "grid.toml").ok()?.points().expect("points").remove(0))
}

fn run(point: &Point, measure: &Measure) -> Results {
    let control = Control { threads: 2, stop: &AtomicBool::new(false), progress: &|_| {} };
    Experiment { measure, ..experiment(point, false, StopOn::Reported) }.run(&control).expect("results")
}

/// The mean and the p99 of a run, and those of one that leaves out three times as much and measures ten times as much.
struct Held {
    short: Results,
    long: Results,
}

impl Held {
    fn of(point: &Point) -> Held {
        let short = run(point, &point.measure);
        let measure = Measure {
            seed: 77,
            warm_up: WarmUp::Requests(3 * short.warm_up),
            requests: Some(10 * short.measured),
            replications: Some(short.accounts.len() as u32),
            ..Measure::clone(&point.measure)
        };
        let long = run(point, &measure);
        Held { short, long }
    }

    fn pairs(&self) -> [(Estimate, Estimate); 2] {
        [None, Some(99.0)].map(|percentile| {
            let quantity = Quantity { percentile, ..Quantity::default() };
            (self.short.estimate(&quantity, 0.95), self.long.estimate(&quantity, 0.95))
        })
    }

    /// How far the mean and the p99 are off; nothing where both found overload.
    fn errors(&self) -> [f64; 2] {
        match (self.short.overloaded, self.long.overloaded) {
            (true, true) => [0.0; 2],
            _ => self.pairs().map(|(short, long)| short.estimate / long.estimate - 1.0),
        }
    }

    /// What is wrong, if anything: overload that is none, a run that calls itself too short, or figures that are further off
    /// than two intervals of the precision that was asked for.
    fn complaint(&self) -> Option<String> {
        let (short, long) = (&self.short, &self.long);
        if short.overloaded != long.overloaded {
            return Some(format!("overloaded: {}, a longer run: {}", short.overloaded, long.overloaded));
        }
        if short.overloaded {
            return None;
        }
        if !short.steady || !short.precise {
            return Some(format!("steady {}, precise {}", short.steady, short.precise));
        }
        let errors = self.errors();
        let off = errors[0].abs() > 0.05 || errors[1].abs() > 0.07;
        off.then(|| format!("mean {:+.1} %, p99 {:+.1} %", 100.0 * errors[0], 100.0 * errors[1]))
    }
}

fn held(dispatch: &str, rebalance: &str, queues: u32) {
    let point = cell(dispatch, rebalance, queues, LOAD).expect("a cell");
    let held = Held::of(&point);
    assert_eq!(held.complaint(), None, "{dispatch}, {rebalance}, {queues} queues");
}

#[test]
fn a_choice_of_two_is_long_enough() {
    held(DISPATCHES[2], REBALANCES[0], 256);
}

#[test]
fn queues_by_chance_are_long_enough() {
    held(DISPATCHES[0], REBALANCES[0], 32);
}

#[test]
fn shedding_is_long_enough() {
    held(DISPATCHES[0], REBALANCES[2], 256);
}

#[test]
fn thieves_are_long_enough() {
    held(DISPATCHES[1], REBALANCES[1], 256);
}

/// The limit of many queues has a closed form, so nothing has to be simulated for longer.
#[test]
fn a_choice_of_two_of_many_is_the_supermarket() {
    for (queues, load) in [(500, 0.9), (4096, 0.7)] {
        let point = long_services(DISPATCHES[2], queues, load);
        let found = run(&point, &point.measure);
        assert!(found.steady && found.precise && !found.overloaded, "{queues} queues at {load}");
        let mean = found.estimate(&Quantity::default(), 0.95);
        let expected = 1e6 * Supermarket::new(2, load).expect("a load").mean_sojourn();
        // With 500 queues it is a little more than with infinitely many.
        let off = mean.estimate / expected - 1.0;
        assert!((-0.01..0.03).contains(&off), "{queues} queues at {load}: {mean:?} for {expected}");
    }
}

/// Whatever theory says of it: a backlog that grows from one half of what is measured to the other is no steady state.
#[test]
fn a_run_that_still_fills_up_says_so() {
    let point = long_services(DISPATCHES[2], 1024, 0.95);
    let given = |warm_up: u64, requests: u64| Measure {
        warm_up: WarmUp::Requests(warm_up),
        requests: Some(requests),
        replications: Some(12),
        ..Measure::clone(&point.measure)
    };
    let short = run(&point, &given(5_000, 20_000));
    assert!(!short.steady && !short.overloaded, "20 services of the hundred that it takes to fill");
}

/// One cell of so many, where only a sample of the grid is wanted (`CAUDAL_GRIDS=sample`): a machine that has to answer soon.
fn every() -> usize {
    if std::env::var_os("CAUDAL_GRIDS").is_some_and(|wanted| wanted == "sample") { 9 } else { 1 }
}

/// All of the grid.
#[test]
#[ignore = "long: make test-long"]
fn every_dispatch_and_rebalancing_is_long_enough() {
    let (mut complaints, mut seen, mut cells, mut worst) = (Vec::new(), 0, 0, [0.0_f64; 2]);
    for queues in [32, 256, 1024, 4096] {
        for dispatch in DISPATCHES {
            // Nobody could build it: it looks at the work of every queue for every request.
            if dispatch.contains("least-work") && queues > 256 {
                continue;
            }
            for rebalance in REBALANCES {
                let Some(point) = cell(dispatch, rebalance, queues, LOAD) else { continue };
                seen += 1;
                if seen % every() != 0 {
                    continue;
                }
                let started = std::time::Instant::now();
                let held = Held::of(&point);
                let errors = held.errors();
                cells += 1;
                worst =
                    [0, 1].map(|at| if errors[at].abs() > worst[at].abs() { errors[at] } else { worst[at] });
                let name = format!("{queues} queues, {dispatch}, {rebalance}");
                println!(
                    "{name}: mean {:+.2} %, p99 {:+.2} %, warm-up {}, measured {} x {}{} ({:.0} s)",
                    100.0 * errors[0],
                    100.0 * errors[1],
                    held.short.warm_up,
                    held.short.accounts.len(),
                    held.short.measured,
                    if held.short.overloaded { ", overloaded" } else { "" },
                    started.elapsed().as_secs_f64()
                );
                complaints.extend(held.complaint().map(|complaint| format!("{name}: {complaint}")));
            }
        }
    }
    println!(
        "{cells} cells, at most {:+.2} % of the mean, {:+.2} % of the p99",
        100.0 * worst[0],
        100.0 * worst[1]
    );
    assert!(complaints.is_empty(), "{complaints:#?}");
}
