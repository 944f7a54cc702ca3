//! What rows say of a run.

use std::sync::atomic::AtomicBool;

use caudal_config::{File, Point};
use caudal_sim::experiment::{Control, Results, StopOn};
use caudal_sim::row::{Overheads, row_counting, row_of};
use caudal_sim::sweep::experiment;

#[test]
fn the_longest_requests_of_many_cores_are_waited_for() {
    // The measured ones arrive within 250 us; one in 200 takes twice as long.
    let (_, results) = simulated(
        "[workload]\nservice = \"extreme-bimodal\"\nload = 0.5\n[system]\ncores = 512\npools = 1\n\
         [measure]\nwarm-up = 60000\nrequests = 20000\nreplications = 12",
    );
    assert_eq!(results.unfinished, 0);
    let mean = results.all.estimate(caudal_config::Metric::Latency, None, 0.99);
    assert!(mean.low < 2997.5 && 2997.5 < mean.high && mean.high < 3500.0, "{mean:?}");
}

fn simulated(text: &str) -> (Point, Results) {
    let point = File::parse(text, "test.toml").expect("a file").points().expect("points").remove(0);
    let control = Control { threads: 2, stop: &AtomicBool::new(false), progress: &|_| {} };
    let results = experiment(&point, false, StopOn::Reported).run(&control).expect("results");
    (point, results)
}

#[test]
fn a_mean_slowdown_that_is_infinite_has_no_upper_end() {
    let mean = |service: &str, discipline: &str| {
        let text = format!(
            "[workload]\nservice = {service}\nload = 0.5\n[system]\ncores = 1\ndiscipline = {discipline}\n\
             [measure]\nwarm-up = 1000\nrequests = 20000\nreplications = 12"
        );
        let (point, results) = simulated(&text);
        row_of(&point, &results, 0.0).slowdown.mean
    };
    let fluid = "{ policy = \"processor-sharing\", quantum = \"0\" }";
    let gamma = "{ distribution = \"gamma\", mean = \"1us\", scv = 0.5 }";
    assert!(mean("\"exp-1us\"", "\"fcfs\"").high.is_infinite());
    assert!(mean(gamma, "\"fcfs\"").high.is_finite());
    // Who is short does not wait: 1 / (1 - load), whatever the distribution.
    let shared = mean("\"exp-1us\"", fluid);
    assert!(shared.low < 2.0 && 2.0 < shared.high && shared.high < 2.2, "{shared:?}");
}

#[test]
fn probes_are_an_overhead_and_no_useful_work() {
    let (point, results) = simulated(
        "[workload]\nservice = \"exp-1us\"\nload = 0.5\n[system]\ncores = 1\n[costs]\nprobe_factor = 1.5\n\
         [measure]\nwarm-up = 1000\nrequests = 20000\nreplications = 12",
    );
    let row = row_of(&point, &results, 0.0);
    assert!((row.efficiency.estimate - 0.5).abs() < 0.01, "{:?}", row.efficiency);
    let Overheads { probes, looking, moving, placing, switching, stalled, allocating, idle, dedicated } =
        row.overheads;
    assert_eq!((dedicated, stalled), (0.0, 0.0));
    assert!((probes - 0.25).abs() < 0.01 && (idle - 0.25).abs() < 0.02, "{:?}", row.overheads);
    let all = probes + looking + moving + placing + switching + allocating + idle;
    assert!((row.efficiency.estimate + all - 1.0).abs() < 1e-9, "the shares make 1: {all}");

    // The same work on a core that serves requests and one that does not.
    let row = row_counting(&point, &results, 0.0, 1);
    assert!((row.efficiency.estimate - 0.25).abs() < 0.005, "{:?}", row.efficiency);
    let Overheads { probes, switching, idle, dedicated, .. } = row.overheads;
    assert!((dedicated - 0.5).abs() < 1e-9 && (probes - 0.125).abs() < 0.005, "{:?}", row.overheads);
    let all = row.efficiency.estimate + probes + switching + idle + dedicated;
    assert!((all - 1.0).abs() < 1e-9, "the shares make 1: {all}");
}
