//! How long runs are, and whether that was long enough.

use std::sync::atomic::AtomicBool;

use caudal_config::{File, Point};
use caudal_sim::experiment::{Control, Results, StopOn};
use caudal_sim::sweep::experiment;

fn point(text: &str) -> Point {
    File::parse(text, "test.toml").expect("a file").points().expect("points").remove(0)
}

/// Simulates `point` on two threads.
fn simulated(point: &Point) -> Results {
    let control = Control { threads: 2, stop: &AtomicBool::new(false), progress: &|_| {} };
    experiment(point, false, StopOn::Reported).run(&control).expect("results")
}

/// Of 0.5 % of requests that bring 83 % of the work.
fn results(load: f64, measure: &str) -> Results {
    let text = format!(
        "[workload]\nservice = \"extreme-bimodal\"\nload = {load}\n[system]\ncores = 8\ndispatch = \"jsq\"\n\
         discipline = {{ policy = \"processor-sharing\", quantum = \"5us\" }}\n[measure]\n{measure}"
    );
    let point = point(&text);
    simulated(&point)
}

#[test]
fn a_run_that_is_shorter_than_the_memory_of_the_long_class_is_not_steady() {
    let short = results(0.95, "warm-up = 2000\nrequests = 8000\nreplications = 12");
    assert!(!short.steady && !short.overloaded, "still filling up, which is no overload");
    let found = results(0.7, "replications = 12");
    // 2.5 relaxation times of 2 * 140 * (7/3)^2 requests and more.
    assert!(found.steady && found.warm_up > 3_500, "{}", found.warm_up);
}

#[test]
fn work_that_is_missing_is_noticed() {
    let mut found = results(0.7, "replications = 12");
    for (account, _) in &mut found.accounts {
        account.busy_ps = account.busy_ps / 10 * 9;
    }
    let point = point("[workload]\nservice = \"extreme-bimodal\"\nload = 0.7\n[system]\ncores = 8");
    let experiment = experiment(&point, false, StopOn::Reported);
    assert!(!experiment.work_agrees(&found), "a tenth of it has not been done");
}

/// A lock that is busy more than all the time is overload, though cores idle.
#[test]
fn a_shared_queues_lock_can_be_the_limit() {
    let text = "[workload]\nservice = \"exp-1us\"\nload = 0.5\n[system]\ncores = 16\ncontexts = { count = 2 }\n\
                [costs]\ndispatcher = \"100ns\"\n[measure]\nrequests = 20_000\nreplications = 4\nwarm-up = 2_000";
    let point = point(text);
    let found = simulated(&point);
    assert!(found.overloaded, "12.8 M/s through a lock that lets 10 M/s pass");
}
