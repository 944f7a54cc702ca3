//! What arrives in an order of its own: recorded arrivals, rows that are replayed, rates that move.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use caudal_config::{File, Point};
use caudal_policy::random::hash;
use caudal_sim::experiment::{Control, Quantity, Results, StopOn};
use caudal_sim::row::row_of;
use caudal_sim::sweep::experiment;

fn point(text: &str, dir: &Path) -> Point {
    File::parse(text, dir.join("in.toml")).expect("a file").points().expect("points").remove(0)
}

fn simulated(point: &Point, quick: bool) -> Results {
    let control = Control { threads: 2, stop: &AtomicBool::new(false), progress: &|_| {} };
    experiment(point, quick, StopOn::Reported).run(&control).expect("results")
}

fn value(results: &Results, percentile: Option<f64>) -> f64 {
    results.estimate(&Quantity { percentile, ..Quantity::default() }, 0.95).estimate
}

/// An exponential time of this mean; the same for the same number.
fn exponential(seed: u64, number: u64, mean: f64) -> f64 {
    -mean * (((hash(seed, number) >> 11) as f64 + 0.5) / (1_u64 << 53) as f64).ln()
}

/// Arrivals in ns: the first `quiet` at 200/s, then `busy` at 900/s.
fn two_rates(quiet: u64, busy: u64) -> Vec<u64> {
    let gap = |number: u64| exponential(1, number, if number < quiet { 5e6 } else { 1e9 / 900.0 });
    let mut now_ns = 0.0;
    (0..quiet + busy)
        .map(|number| {
            now_ns += gap(number);
            now_ns as u64
        })
        .collect()
}

/// Lindley's recursion over these arrivals, with exponential services of 1 ms: mean and p99 of the latency in ns, over
/// `draws` of the services.
fn lindley(arrivals_ns: &[u64], draws: u64) -> (f64, f64) {
    let mut latencies = Vec::with_capacity(arrivals_ns.len() * draws as usize);
    for draw in 0..draws {
        let mut free_ns = 0.0_f64;
        for (number, &arrival_ns) in arrivals_ns.iter().enumerate() {
            free_ns = free_ns.max(arrival_ns as f64) + exponential(100 + draw, number as u64, 1e6);
            latencies.push(free_ns - arrival_ns as f64);
        }
    }
    let mean = latencies.iter().sum::<f64>() / latencies.len() as f64;
    let rank = latencies.len() / 100 * 99;
    (mean, *latencies.select_nth_unstable_by(rank, f64::total_cmp).1)
}

fn write(path: &Path, head: &str, values: impl IntoIterator<Item = u64>) {
    let lines: String = values.into_iter().map(|value| format!("{value}\n")).collect();
    std::fs::write(path, format!("{head}\n{lines}")).expect("a file");
}

const RECORDED: &str = "[workload]\nservice = { distribution = \"exponential\", mean = \"1ms\" }\n\
                        arrivals = { file = \"times.csv\" }\n[system]\npreset = \"ideal\"\ncores = 1\n";

#[test]
fn recorded_arrivals_are_played_whole() {
    let dir = tempfile::tempdir().expect("a directory");
    let arrivals_ns = two_rates(10_000, 30_000);
    write(&dir.path().join("times.csv"), "timestamp_ns", arrivals_ns.iter().copied());
    let measure = "[measure]\nstop = { relative_error = 0.1, max_requests = 8_000_000 }\npercentiles = [99]";
    let point = point(&format!("{RECORDED}{measure}"), dir.path());
    let found = simulated(&point, false);
    // What the first 20,000 arrivals alone would say is 1.25 ms, or little more.
    let (mean, p99) = lindley(&arrivals_ns, 200);
    let (own_mean, own_p99) = (value(&found, None), value(&found, Some(99.0)));
    assert!((own_mean / mean - 1.0).abs() < 0.04, "{own_mean} ns for {mean}");
    assert!((own_p99 / p99 - 1.0).abs() < 0.06, "{own_p99} ns for {p99}");
    assert_eq!(
        found.requests,
        40_000 * found.accounts.len() as u64,
        "every replication measures every arrival"
    );
    assert!(found.precise && !found.overloaded && found.holds());
    assert!(!found.steady, "there is no steady state");
    let row = serde_json::to_value(row_of(&point, &found, 0.0)).expect("a row");
    assert_eq!(row["recorded"], serde_json::json!({ "arrivals": 40_000, "left_out": 0, "measured": 40_000 }));
    assert_eq!(row["unfinished"], 0);
}

#[test]
fn a_limit_of_requests_cuts_plays_and_not_the_file_unless_it_has_to() {
    let dir = tempfile::tempdir().expect("a directory");
    write(&dir.path().join("times.csv"), "timestamp_ns", two_rates(2_000, 6_000));
    let at = |most: &str, quick: bool| {
        let point = point(
            &format!("{RECORDED}[measure]\nstop = {{ max_requests = {most}, relative_error = 0.001 }}"),
            dir.path(),
        );
        let found = simulated(&point, quick);
        let recorded = found.recorded.expect("they were recorded");
        (found.accounts.len(), recorded.measured, found.holds(), found.precise)
    };
    assert_eq!(at("24_000", false), (3, 8_000, true, false), "three times, and not precise");
    assert_eq!(at("5_000", false), (1, 5_000, false, false), "not to the end, and it says so");
    assert_eq!(at("400_000", false).0, 50);
    assert_eq!(at("100_000_000", true).0, 250, "two million requests");
}

#[test]
fn a_file_with_more_work_than_time_is_overload() {
    let dir = tempfile::tempdir().expect("a directory");
    write(&dir.path().join("times.csv"), "timestamp_ns", (0..4_000).map(|number| 900_000 * number));
    let recorded = RECORDED.replace("\n[system]", "\noverload = true\n[system]");
    let found = simulated(&point(&recorded, dir.path()), false);
    assert!(found.overloaded && !found.holds());
}

const BURSTS: &str =
    "[system]\npreset = \"ideal\"\ncores = 1\n[measure]\npercentiles = [99]\nstop = { relative_error = 0.1";

/// 5,000 requests of 1 us, then as many of 100 us: drawn independently, their p99 would be 0.4 and 0.8 ms.
#[test]
fn rows_in_their_order_are_measured_in_whole_passes() {
    let dir = tempfile::tempdir().expect("a directory");
    write(
        &dir.path().join("burst.csv"),
        "service_us",
        (0..10_000).map(|row| if row < 5_000 { 1 } else { 100 }),
    );
    let p99 = |replay: &str, load: f64, most: &str| {
        let workload =
            format!("[workload]\nservice = {{ file = \"burst.csv\", replay = {replay} }}\nload = {load}\n");
        let found =
            simulated(&point(&format!("{workload}{BURSTS}, max_requests = {most} }}"), dir.path()), false);
        assert!(!found.overloaded);
        (value(&found, Some(99.0)) / 1e6, found)
    };
    for replay in ["true", "\"rotate\""] {
        let (busy, found) = p99(replay, 0.73, "100_000_000");
        assert!((146.0..163.0).contains(&busy), "{replay}: {busy} ms");
        assert!(found.steady && found.measured.is_multiple_of(10_000), "{replay}: {}", found.measured);
        let (half, _) = p99(replay, 0.5, "100_000_000");
        assert!((8.0..17.0).contains(&half), "{replay}: {half} ms");
    }
    // Not even one pass a replication: parts of it, which begin at different rows, and the row says that it is too little.
    let (parts, found) = p99("true", 0.73, "90_000");
    assert!(found.measured < 10_000 && !found.steady);
    assert!((100.0..200.0).contains(&parts), "parts from all over it: {parts} ms");
}

#[test]
fn cycles_of_the_rate_are_whole_or_lie_all_over_it() {
    let dir = tempfile::tempdir().expect("a directory");
    // A tenth of the time brings 0.9 of what the core can do, the rest 0.1: requests of the busy part are half of all.
    let steps =
        "{ process = \"steps\", steps = [{ for = \"90ms\", rate = 1 }, { for = \"10ms\", rate = 9 }] }";
    let at = |most: &str| {
        let workload = format!("[workload]\nservice = \"exp-1us\"\narrivals = {steps}\nload = 0.18\n");
        simulated(&point(&format!("{workload}{BURSTS}, max_requests = {most} }}"), dir.path()), false)
    };
    let whole = at("100_000_000");
    let cycle = 18_000;
    assert!(
        whole.steady && whole.measured.is_multiple_of(cycle) && whole.warm_up >= cycle,
        "{}",
        whole.measured
    );
    // Half of M/M/1 at 0.9, half at 0.1; the turn from one to the other is a hundredth of the busy part.
    let mean = value(&whole, None);
    assert!((5_200.0..5_700.0).contains(&mean), "{mean} ns");
    let parts = at("60_000");
    assert!(parts.measured < cycle && !parts.steady);
    let mean = value(&parts, None);
    assert!((3_500.0..8_000.0).contains(&mean), "{mean} ns: neither the busy part alone nor the quiet one");
}

#[test]
fn what_comes_and_goes_by_the_clock_needs_no_time_to_spare() {
    let dir = tempfile::tempdir().expect("a directory");
    let at = |cores: u32, system: &str| {
        let measure = "[measure]\nstop = { max_requests = 1_000_000 }";
        let text = format!(
            "[workload]\nservice = {{ distribution = \"constant\", value = \"1us\" }}\narrivals = \"constant\"\nload = 1\n\
             [system]\ncores = {cores}\n{system}\n[costs]\nsteal_check = \"0ns\"\n{measure}\n"
        );
        simulated(&point(&text, dir.path()), false)
    };
    for (cores, system) in [(1, "pools = 1"), (4, "pools = 1"), (4, "dispatch = \"round-robin\"")] {
        let found = at(cores, system);
        assert!(found.steady && !found.overloaded, "{cores} cores, {system}");
        assert_eq!([value(&found, None), value(&found, Some(99.0))], [1_000.0; 2], "{cores} cores, {system}");
    }
    let chance = at(4, "dispatch = \"random\"");
    assert!(chance.overloaded || !chance.steady, "by chance, queues grow");
}
