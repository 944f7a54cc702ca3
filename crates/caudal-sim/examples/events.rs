//! What it takes to simulate a request: events and time, for systems of the catalogue, services and loads. The budgets of plans are
//! counted by it (`caudal-tune/src/cost.rs`).
//!
//! ```console
//! $ cargo run --release -p caudal-sim --example events -- 16
//! ```

use caudal_config::{SystemPlan, presets};
use caudal_policy::Picos;
use caudal_sim::engine::{Length, Run, ShortCuts, Unwatched, simulate};
use caudal_workload::{Arrivals, DistributionSpec, ServiceSpec};

const MEANS_NS: [u64; 7] = [100, 1_000, 10_000, 100_000, 1_000_000, 20_000_000, 1_000_000_000];
const LOADS: [f64; 2] = [0.3, 0.8];
/// Requests of a run; fewer where one has many turns.
const REQUESTS: u64 = 40_000;

/// Time that this thread has had on a processor: others may be busy, too.
fn cpu_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    text.split_whitespace().next().and_then(|ns| ns.parse().ok()).expect("a number")
}

fn main() {
    let cores = std::env::args().nth(1).and_then(|cores| cores.parse().ok()).unwrap_or(16);
    let only = std::env::args().nth(2);
    println!(
        "{:28}{:>12}{:>6}{:>14}{:>12}{:>10}",
        "system", "mean ns", "load", "events/req", "ns/req", "ns/event"
    );
    for preset in presets().filter(|preset| only.as_ref().is_none_or(|only| only == preset.name)) {
        let system = preset.system(cores);
        if system.contexts.is_some() || system.parallelism.forks() {
            continue;
        }
        let plan = SystemPlan::of_preset(preset, cores);
        for mean_ns in MEANS_NS {
            let spec = DistributionSpec::Exponential { mean: Picos::from_nanos(mean_ns) };
            let service = ServiceSpec::Distribution(spec).compile(".".as_ref()).expect("a distribution");
            for load in LOADS {
                let slow = (mean_ns / 20_000_000).clamp(1, 40);
                let measured = REQUESTS / 10 * 9 / slow;
                let run = Run {
                    system: &plan.system,
                    costs: &plan.costs,
                    service: &service,
                    arrivals: &Arrivals::poisson(),
                    mean_gap_ps: service.mean_ps() / (load * f64::from(cores)),
                    seed: 1,
                    length: Length { warm_up: measured / 9, measured },
                    pilot: false,
                    waits: false,
                    short_cuts: ShortCuts::ALL,
                    stop: None,
                };
                let started_ns = cpu_ns();
                let outcome = simulate(&run, Unwatched);
                let ns = (cpu_ns() - started_ns) as f64;
                let (requests, events) = ((measured / 9 + measured) as f64, outcome.events.0 as f64);
                println!(
                    "{:28}{mean_ns:>12}{load:>6}{:>14.2}{:>12.0}{:>10.1}{}",
                    preset.name,
                    events / requests,
                    ns / requests,
                    ns / events,
                    if outcome.fell_behind() { "  overloaded" } else { "" }
                );
            }
        }
    }
}
