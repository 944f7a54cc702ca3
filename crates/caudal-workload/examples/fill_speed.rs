//! Prints what a draw costs: `cargo run --release --example fill_speed`.

use std::hint::black_box;
use std::time::Instant;

use rand_core::{Rng, SeedableRng};
use rand_distr::{Distribution, Exp1};

use caudal_policy::time::Picos;
use caudal_workload::{
    ArrivalSpec, Demand, DistributionSpec, GapPhases, GapSpread, LogSpread, ServiceSpec, Spread,
    WorkloadError,
};

const BATCH: usize = 1024;
const BATCHES: u32 = 40;
/// Rounds are short and many, so that some of them run undisturbed on a busy machine.
const ROUNDS: u32 = 500;

fn main() -> Result<(), WorkloadError> {
    let mean = Picos::from_micros(1);
    let log_normal = DistributionSpec::LogNormal { mean, spread: LogSpread::Scv(4.0) };
    let gamma = DistributionSpec::Gamma { mean, spread: Spread::Scv(4.0) };
    let pareto = DistributionSpec::BoundedPareto { alpha: 1.5, min: mean, max: Picos::from_micros(1000) };
    let mut services: Vec<(String, ServiceSpec)> =
        ["exp-1us", "extreme-bimodal", "tpcc", "rocksdb-0.5", "facebook-usr"]
            .map(|name| (name.to_owned(), ServiceSpec::named(name)))
            .into();
    services.push(("log-normal".into(), ServiceSpec::Distribution(log_normal)));
    services.push(("gamma".into(), ServiceSpec::Distribution(gamma)));
    services.push(("bounded-pareto".into(), ServiceSpec::Distribution(pareto)));
    let mut rng = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
    let mut words = [0; BATCH];
    println!(
        "the generator alone       {:6.2} ns",
        cost_ns(|| black_box(&mut words).fill_with(|| rng.next_u64()))
    );
    let mut gaps = [0.0; BATCH];
    let cost = cost_ns(|| black_box(&mut gaps).fill_with(|| Exp1.sample(&mut rng)));
    println!("rand_distr's Exp1 alone   {cost:6.2} ns");
    for (name, spec) in services {
        let mut sampler = spec.compile(".".as_ref())?.sampler(1);
        let mut batch = [Demand::default(); BATCH];
        println!("service  {name:<16} {:6.2} ns", cost_ns(|| sampler.fill(black_box(&mut batch))));
    }
    let on_off = ArrivalSpec::OnOff { on: mean, off: Picos::from_micros(9), off_rate: 0.1 };
    let log_normal = ArrivalSpec::LogNormal { spread: GapSpread::Scv(4.0) };
    let gamma = ArrivalSpec::Gamma { scv: 0.5 };
    let hyper = ArrivalSpec::HyperExponential { phases: GapPhases::Scv(4.0) };
    for spec in [ArrivalSpec::Poisson, ArrivalSpec::Constant, log_normal, gamma, hyper, on_off] {
        let mut sampler = spec.compile(".".as_ref())?.sampler(1, 62_500.0);
        let mut batch = [0; BATCH];
        let cost = cost_ns(|| {
            sampler.fill(black_box(&mut batch));
        });
        let name = format!("{spec:?}");
        println!("arrivals {:<16} {cost:6.2} ns", name.split(' ').next().unwrap_or_default());
    }
    Ok(())
}

/// Cost of one of the draws of a batch, the best of the rounds.
fn cost_ns(mut fill: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        (0..BATCHES).for_each(|_| fill());
        best = best.min(start.elapsed().as_secs_f64() * 1e9 / (f64::from(BATCHES) * BATCH as f64));
    }
    best
}
