//! Properties of this machine that matter for measuring on it: clock, speed of the synthetic work and whether jobs last what
//! their service time says, and stalls.
//!
//! ```text
//! cargo run --release -p caudal-measure --example machine -- --core 1
//! ```

use caudal_measure::clock::Tsc;
use caudal_measure::pin::{allowed_cpus, pin_to};
use caudal_measure::stalls::stalls;
use caudal_measure::work::Work;
use clap::Parser;

#[derive(Parser)]
#[command(about)]
struct Options {
    /// CPU to look at; the last one if not given
    #[arg(long)]
    core: Option<usize>,
    /// How long to look for stalls, in seconds
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = Options::parse();
    let last = *allowed_cpus()?.0.last().ok_or("no CPU is allowed")?;
    let core = options.core.unwrap_or(last);
    pin_to(core)?;
    let tsc = Tsc::calibrate()?;
    println!("clock       {:.6} GHz, off by at most {:.1} ppm", tsc.hz() * 1e-9, tsc.error_ppm());
    for _ in 0..3 {
        let work = Work::calibrate(tsc);
        let readings_ns = work.overhead_iterations() / work.iterations_per_us() * 1e3;
        println!(
            "work        {work} iterations per us : iterations of a chunk's readings ({readings_ns:.1} ns)"
        );
        for service_ns in [500, 1_000, 10_000, 500_000] {
            println!(
                "job         {:>7} ns wanted, {:>10.1} ns measured",
                service_ns,
                work.measure(tsc, service_ns)
            );
        }
    }
    let stalls = stalls(tsc, core, options.seconds)?;
    println!(
        "stalls      {:.0}/s, {:.2} % of the time, p50 {:.1} us, p99 {:.1} us, longest {:.1} us",
        stalls.per_second,
        stalls.share * 100.0,
        stalls.p50_ns as f64 * 1e-3,
        stalls.p99_ns as f64 * 1e-3,
        stalls.max_ns as f64 * 1e-3
    );
    Ok(())
}
